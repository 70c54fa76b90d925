//! A thousand children, one after the other: every exit code is exact, and nothing grows: no descriptor, process or
//! slot, neither in the host nor in the supervisor, and no memory.

use std::time::Duration;

use hermes_spawn::{Command, ExitStatus, Stdio, status};

use crate::outside::{children, descriptors, memory_kib, threads};
use crate::stage::{Stage, settle};
use crate::{next_order, say, sleeper};

const WARM_UP: u32 = 200;
const ROUNDS: u32 = 1000;

/// What must not grow. Memory apart: an allocator may round.
#[derive(Debug, PartialEq)]
struct Held {
    slots: String,
    descriptors: [Vec<i32>; 2],
    threads: usize,
    children: Vec<i32>,
    supervisor: i32,
}

pub fn claim(stage: &Stage) {
    let mut owner = stage.role(&["rounds"]);
    let pid = owner.pid();
    let supervisor: i32 = owner.ask("begin").parse().expect("a pid");
    let mut look = |rounds: u32| {
        assert_eq!(owner.ask(&format!("rounds {rounds}")), "exact");
        settle(&[pid, supervisor], Duration::from_millis(200));
        let (slots, now) =
            owner.ask("status").split_once(' ').map(|(a, b)| (a.to_string(), b.to_string())).expect("two");
        let held = Held {
            slots,
            descriptors: [pid, supervisor].map(|pid| descriptors(pid).into_keys().collect()),
            threads: threads(pid).len(),
            children: children(pid),
            supervisor: now.parse().expect("a pid"),
        };
        (held, [pid, supervisor].map(|pid| memory_kib(pid, "Rss")))
    };
    let (before, memory_before) = look(WARM_UP);
    assert_eq!(before.slots, "1", "the one that stays");
    assert_eq!(before.supervisor, supervisor);
    let (after, memory_after) = look(ROUNDS);
    assert_eq!(after, before, "after {ROUNDS} more rounds");
    let grown = |i: usize| memory_after[i].saturating_sub(memory_before[i]);
    // A leak of one small block a round would be 32 KiB; a page or two is the allocator's and the kernel's.
    assert!(grown(0) < 32, "the host grew: {memory_before:?} -> {memory_after:?} KiB");
    assert!(grown(1) <= 4, "the supervisor grew: {memory_before:?} -> {memory_after:?} KiB");
}

pub fn play() {
    // One that stays, so that the supervisor has a reason to.
    let _kept = sleeper().spawn_owned().expect("spawn_owned");
    while let Some(order) = next_order() {
        match order.split_once(' ').unwrap_or((&order, "")) {
            ("begin", _) => say(status().expect("status").supervisor_pid),
            ("rounds", count) => say(rounds(count.parse().expect("a number"))),
            _ => {
                let status = status().expect("status");
                say(format_args!("{} {}", status.slots_in_use, status.supervisor_pid));
            }
        }
    }
}

fn rounds(count: u32) -> String {
    for round in 0..count {
        let code = (round % 256) as i32;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "exit $0"]).arg(code.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
        let ended = shell.spawn_owned().expect("spawn_owned").wait().expect("wait");
        if ended != ExitStatus::Exited(code) {
            return format!("round {round}: {ended:?}");
        }
    }
    "exact".to_string()
}
