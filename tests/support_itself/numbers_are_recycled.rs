//! Recycled pids and private pid namespaces can be made to order here.

use super::support::pidns::{Init, outside};
use super::support::reuse::{Stranger, is_possible, let_a_tick_pass};
use super::support::{Process, is_root};
use crate::{skip, test_name};
use std::process::Command;

#[test]
fn a_stranger_gets_exactly_the_number_that_was_left() {
    if let Err(why) = is_possible() {
        skip!("{why}");
    }
    let mut first = Command::new("/bin/sleep").arg("100").spawn().expect("sleep");
    let left = Process::open(first.id() as i32).expect("it runs");
    first.kill().expect("kill");
    first.wait().expect("reap");
    let_a_tick_pass(left.start_ticks);
    let stranger = Stranger::with_pid(left.pid).expect("the same number");
    assert_eq!(stranger.process.pid, left.pid);
    assert!(left.is_gone(), "the first is not taken for the stranger");
    stranger.assert_untouched();
    assert_eq!(left.signal(libc::SIGTERM).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    stranger.assert_untouched();
    super::support::sys::kill(stranger.process.pid, libc::SIGTERM).expect("by its bare number");
    assert_ne!(stranger.process.pending_signals(), 0, "and then it shows");
}

#[test]
fn inside_a_private_namespace_the_next_pid_can_be_chosen() {
    if !is_root() {
        skip!("a pid namespace of one's own needs root");
    }
    if outside(test_name!(), Init::Reaps) {
        return;
    }
    assert!(std::process::id() < 10, "a fresh namespace");
    let stranger = Stranger::by_last_pid(4321).expect("a chosen number");
    assert_eq!(stranger.process.pid, 4321);
    stranger.assert_untouched();
}
