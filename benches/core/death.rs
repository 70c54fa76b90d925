//! SIGKILL of the owner, until the last of its groups is dead, beside PR_SET_PDEATHSIG(SIGTERM) of an owner of the same
//! size. Every child is in a session of its own and dies of TERM.
//!
//! The clock runs from just before the signal. The measuring process is no relative of the children: it watches their
//! pidfds, the last child's first, so that it is woken seldom while the others die.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::Effort;
use crate::figures::Samples;
use crate::report::Report;
use crate::stage::{Stage, pidfds, settle};
use crate::sys;

pub fn measure(stage: &Stage, effort: Effort, report: &mut Report) {
    for (key, groups, long, short) in [("death/1", 1, 60, 20), ("death/14", 14, 50, 15), ("death/100", 100, 30, 8)] {
        let (ours, peer) = alternate(stage, groups, 0, effort.rounds(long, short));
        let what = format!("owner killed -> {groups} groups dead / PDEATHSIG, median of {}", ours.len());
        report.time(key, what, ours.median(), Some(peer.median()));
        report.time("", "the same, worst", ours.worst(), Some(peer.worst()));
    }
    let (ours, peer) = alternate(stage, 14, 1024, effort.rounds(30, 4));
    let what = format!("owner of 1 GB killed -> 14 groups dead / PDEATHSIG, worst of {}", ours.len());
    report.time("death/1GB/worst", what, ours.worst(), Some(peer.worst()));
    report.time("", "the same, median", ours.median(), Some(peer.median()));
}

fn alternate(stage: &Stage, groups: usize, mebibytes: usize, rounds: usize) -> (Samples, Samples) {
    let (mut ours, mut peer) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        ours.push(kill_one(stage, "owned", groups, mebibytes));
        peer.push(kill_one(stage, "pdeathsig", groups, mebibytes));
    }
    (ours, peer)
}

fn kill_one(stage: &Stage, kind: &str, groups: usize, mebibytes: usize) -> Duration {
    let mut owner = stage.role(&["hold", kind, &groups.to_string(), &mebibytes.to_string()]);
    let pids = owner.numbers();
    let mut waited_for = pids.clone();
    if kind == "owned" {
        waited_for.push(owner.ask("supervisor").parse().expect("a pid"));
    }
    // The children have become what they are, and the supervisor has taken note of all of them.
    settle(&waited_for, Duration::from_millis(8));
    let (owner_fd, children) = (sys::pidfd(owner.pid()).expect("the owner"), pidfds(&pids));
    let begun = Instant::now();
    sys::kill(&owner_fd).expect("kill the owner");
    let dead = children.iter().rev().all(|child: &OwnedFd| sys::await_end(child, 10_000));
    let time = begun.elapsed();
    assert!(dead, "{kind}: a child of {} outlived its owner by 10 s", owner.pid());
    // The supervisor, too, is gone before the next round begins.
    if let Some(supervisor) = waited_for.get(pids.len()).and_then(|&pid| sys::pidfd(pid).ok()) {
        assert!(sys::await_end(&supervisor, 10_000), "the supervisor stays");
    }
    drop(owner);
    time
}
