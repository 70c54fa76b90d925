//! The supervisor is killed at every single stop of its own while its owner lives: the owner's calls succeed all the
//! same, and its own end, under the next supervisor, leaves nothing.

use super::lanes;
use super::stage::apart;
use super::stage::{Stage, helpers_of};
use super::support::progress::{act, word};
use super::support::ptrace::{End, Plan, Target, Traced};
use super::support::{Process, within};
use crate::test_name;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Most of a run is the pause before a supervisor that was killed so young is replaced, and the grace.
const LANES: usize = 6;
/// A call may meet a supervisor that has to be replaced first; more than that is a wake-up that was lost.
const CALL_LIMIT_MS: u64 = 3_000;

#[test]
fn supervisor_killed_at_every_system_call_is_replaced_and_nothing_is_lost() {
    if apart(test_name!()) {
        return;
    }
    let (kills, slowest) = (AtomicU64::new(0), AtomicU64::new(0));
    let began = Instant::now();
    lanes::run(LANES, |numbers| {
        let mut stage = Stage::new();
        while let Some(stop) = numbers.next() {
            let command = stage.drama("supervised");
            let mut traced = Traced::start(command, Plan::kill(Target::Supervisor, stop)).expect("start");
            let mut child = traced.child.take().expect("started");
            let owner = Process::open(child.id() as i32).expect("it runs");
            let report = traced.report();
            let told = format!("{report:?}");
            match report.end {
                End::Killed => {
                    kills.fetch_add(1, Ordering::SeqCst);
                    numbers.within(stop);
                }
                End::Finished(status) => {
                    assert!(status.success(), "the supervisor ended by itself, and not well: {told}");
                    numbers.beyond(stop);
                }
                other => panic!("stop {stop}: {other:?}"),
            }
            let act_now = || stage.progress.get(word::ACT);
            let ready = within(Duration::from_secs(30), || act_now() >= act::COVERED || owner.is_gone());
            let told = format!("act {}, {told}", act_now());
            assert!(ready && owner.is_alive(), "{told}: the owner is stuck or gone");
            assert_eq!(act_now(), act::COVERED, "{told}: a call of the owner failed");
            assert_eq!(stage.progress.get(word::NOT_LET_GO), 0, "{told}: an idle supervisor stayed");
            let call_ms = stage.progress.get(word::SLOWEST_MS);
            slowest.fetch_max(call_ms, Ordering::SeqCst);
            let step = stage.progress.get(word::SLOWEST);
            assert!(call_ms < CALL_LIMIT_MS, "{told}: the call to act {step} took {call_ms} ms");
            assert!(!helpers_of(owner.pid).is_empty(), "{told}: nobody covers the owner");
            owner.signal(libc::SIGKILL).expect("kill the owner");
            let killed_at = Instant::now();
            let _ = child.wait();
            if let Err(left) = stage.end_of(owner.pid, killed_at, &[]) {
                panic!("{told}: {left}");
            }
            assert!(stage.foreign_is_untouched(), "{told}: the group that was owned and released");
            stage.control.assert_unharmed();
        }
    });
    let kills = kills.into_inner();
    eprintln!(
        "supervisor: {kills} kills at its stops, no survivor, slowest call {} ms; {:?}, {:?} a run",
        slowest.into_inner(),
        began.elapsed(),
        began.elapsed() / kills.max(1) as u32 * LANES as u32
    );
    assert!(kills > 60, "so few stops are no whole life: {kills}");
}
