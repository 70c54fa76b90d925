//! A process counts as gone when no thread of it runs, and not before.

use super::support::process::supervisor_of;
use super::support::{Scene, eventually, sys};
use std::time::Duration;

#[test]
fn a_zombie_is_gone_and_a_process_without_its_main_thread_is_not() {
    let scene = Scene::new();
    let (mut child, threads_only) = scene.stranger("threads-only");
    assert_eq!(threads_only.process.stat().expect("it is there").state, 'Z');
    threads_only.process.assert_alive("a process whose main thread has exited");
    assert!(!threads_only.process.gone_by(sys::after(Duration::from_millis(50))));
    threads_only.process.signal(libc::SIGKILL).expect("kill");
    threads_only.process.assert_gone_by(sys::after(Duration::from_secs(5)), "killed");
    assert_eq!(threads_only.process.stat().expect("not reaped yet").state, 'Z');
    let _ = child.wait();
}

#[test]
fn a_port_is_free_again_when_its_process_is_gone() {
    let scene = Scene::new();
    let (mut child, server) = scene.stranger("stubborn server");
    let address = server.address.expect("it listens");
    assert!(!super::support::process::address_is_free(address));
    server.process.signal(libc::SIGTERM).expect("ignored");
    server.process.assert_alive("a server that ignores TERM");
    server.process.signal(libc::SIGKILL).expect("kill");
    super::support::process::assert_all_gone(&[&server], Duration::from_secs(5), "killed");
    let _ = child.wait();
}

#[test]
fn a_canary_shows_what_was_sent_to_it() {
    let scene = Scene::new();
    let (mut child, canary) = scene.stranger("canary");
    assert_eq!(canary.process.pending_signals(), 0);
    for signal in [libc::SIGTERM, libc::SIGCONT] {
        canary.process.signal(signal).expect("blocked");
        let bit = 1 << (signal - 1);
        eventually(Duration::from_secs(5), "the signal is pending", || canary.process.pending_signals() & bit != 0);
    }
    canary.process.signal(libc::SIGKILL).expect("kill");
    let _ = child.wait();
}

#[test]
fn a_process_without_a_supervisor_has_none() {
    assert!(supervisor_of(std::process::id() as i32).is_none());
}
