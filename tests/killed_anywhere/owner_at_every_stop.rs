//! The owner is killed at every single stop of its own: before and after each system call of each of its threads, from
//! the first use of the library to its exit.

use super::lanes;
use super::stage::Stage;
use super::stage::apart;
use super::support::progress::{act, word};
use super::support::ptrace::{End, Plan, Target, run};
use super::support::{Process, sys};
use crate::test_name;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LANES: usize = 4;

#[test]
fn owner_killed_at_every_system_call_leaves_nothing() {
    if apart(test_name!()) {
        return;
    }
    let (kills, released) = (Mutex::new(BTreeMap::<String, u64>::new()), AtomicU64::new(0));
    let began = Instant::now();
    lanes::run(LANES, |numbers| {
        let mut stage = Stage::new();
        while let Some(stop) = numbers.next() {
            let command = stage.drama("owner");
            let report = run(command, Plan::kill(Target::ProgramFromMark, stop)).expect("run");
            let ended_at = Instant::now();
            match report.end {
                End::Killed => {
                    *kills.lock().expect("kills").entry(report.killed_in.clone()).or_default() += 1;
                    numbers.within(stop);
                }
                End::Finished(status) => {
                    assert!(status.success(), "the drama itself failed: {report:?}");
                    numbers.beyond(stop);
                }
                other => panic!("stop {stop}: {other:?}"),
            }
            released.fetch_add(judge(&mut stage, report.target, ended_at, &format!("{report:?}")), Ordering::SeqCst);
        }
    });
    let (threads, released) = (kills.into_inner().expect("kills"), released.into_inner());
    let kills: u64 = threads.values().sum();
    eprintln!(
        "owner: {kills} kills at its stops {threads:?}, {released} released families lived on, no survivor; {:?}, {:?} a run",
        began.elapsed(),
        began.elapsed() / kills.max(1) as u32 * LANES as u32
    );
    assert!(kills > 200, "so few stops are no whole life: {kills}");
    for thread in ["actor", "spawn-keeper", "spawn-watcher"] {
        assert!(threads.get(thread).is_some_and(|&kills| kills > 10), "{thread} has hardly been killed: {threads:?}");
    }
}

/// What must be true after the owner's end, by what had been reached. Returns whether a released family lives.
fn judge(stage: &mut Stage, owner: i32, ended_at: Instant, told: &str) -> u64 {
    let act_reached = stage.progress.get(word::ACT);
    let family = [word::FREE_LEADER, word::FREE_ESCAPEE].map(|place| stage.progress.get(place) as i32);
    let free: &[i32] = if act_reached >= act::RELEASING { &family } else { &[] };
    let told = format!("act {act_reached}, {told}");
    if let Err(left) = stage.end_of(owner, ended_at, free) {
        panic!("{told}: {left}");
    }
    let living = free.iter().filter_map(|&pid| Process::open(pid)).filter(Process::is_alive);
    let living: Vec<Process> =
        living.inspect(|p| p.assert_untouched(&format!("{told}: who lives was released"))).collect();
    if act_reached >= act::RELEASED {
        assert_eq!(living.len(), free.len(), "{told}: the released family: {living:?}");
    }
    if act_reached == act::RELEASING {
        assert!([0, free.len()].contains(&living.len()), "{told}: released by halves: {living:?}");
    }
    if act_reached < act::OWNING {
        assert!(stage.foreign_is_untouched(), "{told}: a group that was never owned");
    }
    if act_reached == act::OWNING {
        assert!(stage.foreign_is_untouched() || stage.foreign().is_gone(), "{told}: owned by halves");
    }
    if act_reached >= act::OWNED {
        stage.foreign().assert_gone_by(sys::after(Duration::ZERO), &format!("{told}: the owned group"));
    }
    stage.control.assert_unharmed();
    if !free.is_empty() {
        stage.end_all();
    }
    !living.is_empty() as u64
}
