//! The supervisor is killed: how long until its owner's groups are covered again, without a call by the host.
//!
//! The owner's main thread kills it and watches `status()`, which starts nothing and wakes nobody; a supervisor is
//! shown there once it has said ready, and from then on it ends whatever stands in the roster. That this is the truth is
//! shown once an owner: killed right after the last recovery, it takes all its groups along.
//!
//! Nothing else does this, so there is no peer. Beside it stands what a machine's pauses make of a start of `/bin/true`
//! and its end, in the same turns: about as much work.
//!
//! A supervisor that is killed within 5 s of its start is replaced after a pause, by design. So there are ten owners,
//! each rests between its turns, and each turn is one sample.

use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::Effort;
use crate::figures::Samples;
use crate::report::Report;
use crate::role::supervisor_pid;
use crate::stage::{Role, Stage, pidfds, settle};
use crate::sys;

const OWNERS: usize = 10;
const GROUPS: &str = "100";
/// More than the library's own settling time.
const TURN: Duration = Duration::from_millis(5200);

/// How often the owner looks. It is part of what is measured.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

pub fn measure(stage: &Stage, effort: Effort, report: &mut Report) {
    let mut owners: Vec<(Role, Vec<i32>)> = (0..OWNERS)
        .map(|_| {
            let mut owner = stage.role(&["hold", "owned", GROUPS, "0"]);
            let children = owner.numbers();
            (owner, children)
        })
        .collect();
    let (mut times, mut starts) = (Samples::default(), Samples::default());
    for _ in 0..effort.rounds(20, 2) {
        thread::sleep(TURN);
        for (owner, _) in &mut owners {
            let answer = owner.ask("recover");
            let (new, ns) = answer.split_once(' ').expect("PID NS");
            let line = fs::read(format!("/proc/{new}/cmdline")).unwrap_or_default();
            assert_eq!(line, format!("spawn-supervisor\0{}\0", owner.pid()).as_bytes(), "the new supervisor");
            times.push(Duration::from_nanos(ns.parse().expect("nanoseconds")));
            settle(&[new.parse().expect("a pid"), owner.pid()], Duration::from_millis(4));
            starts.push(start_and_end());
        }
    }
    let what = format!("supervisor killed -> {GROUPS} groups covered again, of {}", times.len());
    report.time("", format!("{what}: p50 / start and end of a process"), times.median(), Some(starts.median()));
    report.time("recovery/p99", format!("{what}: p99"), times.percentile(99.0), Some(starts.percentile(99.0)));
    report.time("", format!("{what}: worst"), times.worst(), Some(starts.worst()));
    thread::sleep(TURN);
    for (mut owner, children) in owners {
        let children = pidfds(&children);
        owner.ask("recover");
        drop(owner);
        assert!(children.iter().all(|child| sys::await_end(child, 5000)), "a group was not covered after all");
    }
}

fn start_and_end() -> Duration {
    let begun = Instant::now();
    sys::wait(sys::posix_spawn_setsid(c"/bin/true").expect("posix_spawn"));
    begun.elapsed()
}

/// The role's part: `NEW_PID NANOSECONDS`.
pub fn recover() -> String {
    sys::exact_timers();
    let old = supervisor_pid();
    let pidfd = sys::pidfd(old).expect("a supervisor");
    let begun = Instant::now();
    sys::kill(&pidfd).expect("kill the supervisor");
    loop {
        match supervisor_pid() {
            new if new != old && new != 0 => return format!("{new} {}", begun.elapsed().as_nanos()),
            _ if begun.elapsed() > Duration::from_secs(20) => return format!("0 {}", begun.elapsed().as_nanos()),
            // The core is left to those who do the work: who looks every 10 us takes nine tenths of it.
            _ => thread::sleep(LOOK_AGAIN),
        }
    }
}
