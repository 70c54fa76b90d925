//! A thousand children one after the other: exit codes exact, and nothing has grown.

use super::support::process::{descriptors, status_field};
use super::support::{Process, Scene, eventually};
use std::time::Duration;

const ROUNDS: u32 = 1000;

#[derive(Debug)]
struct Size {
    fds: usize,
    threads: usize,
    thread_fds: usize,
    owner_kib: i64,
    supervisor_fds: usize,
    supervisor_kib: i64,
}

fn resident_kib(process: &Process) -> i64 {
    let text = status_field(process.pid, "VmRSS:").expect("it lives");
    text.trim_end_matches(" kB").trim().parse().expect("a number")
}

fn size(owner: &Process, supervisor: &Process) -> Size {
    let of_thread = |tid: &i32| descriptors(&format!("/proc/{}/task/{tid}/fd", owner.pid)).len();
    Size {
        fds: owner.descriptors().len(),
        threads: owner.tasks().len(),
        thread_fds: owner.tasks().iter().map(of_thread).sum(),
        owner_kib: resident_kib(owner),
        supervisor_fds: supervisor.descriptors().len(),
        supervisor_kib: resident_kib(supervisor),
    }
}

#[test]
fn thousand_rounds_leave_nothing() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("rounds 0 50");
    let supervisor = owner.supervisor();
    let before = size(owner.process(), &supervisor);

    owner.must(&format!("rounds 50 {ROUNDS}"));

    assert_eq!(owner.must("status")["slots_in_use"], 0);
    let mut after = size(owner.process(), &supervisor);
    // What the supervisor held for the last child it lets go when it looks again, which takes it a moment.
    eventually(Duration::from_secs(5), "the supervisor lets go of its pidfds", || {
        after = size(owner.process(), &supervisor);
        after.supervisor_fds <= before.supervisor_fds + 1
    });
    assert!(after.fds == before.fds && after.threads == before.threads, "{before:?} {after:?}");
    assert!(after.thread_fds == before.thread_fds, "{before:?} {after:?}");
    assert!(after.owner_kib < before.owner_kib + 512, "{before:?} {after:?}");
    assert!(after.supervisor_kib <= before.supervisor_kib + 16, "{before:?} {after:?}");
    supervisor.assert_alive("the same supervisor");
    let children = |pid: i32| super::support::process::Stat::of(pid).is_some_and(|stat| stat.ppid == owner.pid());
    let left: Vec<i32> =
        super::support::process::numbers_in("/proc").into_iter().filter(|&pid| children(pid)).collect();
    assert!(left.is_empty(), "children are left: {left:?}");
    control.assert_unharmed();
}
