//! The owner is killed at any moment, not only at a system call's edge, while four threads spawn all the while: a clone
//! may be under way, which finishes after the owner's other threads have died.
//!
//! What was under way is read from the roster, which outlives both sides in a mapping of the test's.

use super::lanes::{self, Seed};
use super::roster::{Slot, State};
use super::roster_view::RosterView;
use super::stage::{Stage, apart, helpers_of};
use super::support::{Process, soak, within};
use crate::test_name;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const LANES: usize = 4;
/// The longest time the storm rages before the kill.
const STORM_US: u64 = 4_000;

#[derive(Default, Debug)]
struct Tally {
    kills: u64,
    /// Kills by what the roster showed when all was over.
    with_a_clone_under_way: u64,
    with_a_slot_taken_and_no_child_yet: u64,
    with_children: u64,
    before_a_supervisor: u64,
    children: u64,
    slowest_ms: u128,
}

#[test]
fn owner_killed_at_any_moment_leaves_nothing() {
    if apart(test_name!()) {
        return;
    }
    let count = if soak() { 10_000 } else { 1_000 };
    let tally = Mutex::new(Tally::default());
    let seed = Seed::new();
    lanes::run(LANES, |numbers| {
        let mut stage = Stage::new();
        while let Some(number) = numbers.next().filter(|&number| number <= count) {
            kill_one(&mut stage, &seed, number, &tally);
        }
        stage.control.assert_unharmed();
    });
    let tally = tally.into_inner().expect("tally");
    eprintln!("owner, at any moment (seed {}): no survivor. {tally:?}", seed.0);
    assert!(tally.with_a_clone_under_way > count / 50, "the delays miss the case that matters: {tally:?}");
}

fn kill_one(stage: &mut Stage, seed: &Seed, number: u64, tally: &Mutex<Tally>) {
    let random = seed.random(number);
    let mut command = stage.scene.actor();
    command.arg("drama").arg("storm").arg(stage.scene.folder()).arg("0");
    let mut child = command.spawn().expect("start an owner");
    let owner = Process::open(child.id() as i32).expect("it runs");
    // One in eight is killed while it starts; the others when the storm rages, which the first child tells.
    let raging = random & 7 != 0;
    if raging {
        assert!(within(Duration::from_secs(20), || !helpers_of(owner.pid).is_empty()), "no supervisor ever came");
    }
    let roster = helpers_of(owner.pid).first().and_then(|&supervisor| RosterView::of(supervisor));
    // The moment is the experiment; it is spun for, as a sleep ends at a tick.
    let moment = Instant::now() + Duration::from_nanos((random >> 8) % (STORM_US * 1000));
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
    let killed_at = Instant::now();
    owner.signal(libc::SIGKILL).expect("kill");
    let _ = child.wait();
    if let Err(left) = stage.end_of(owner.pid, killed_at, &[]) {
        let written = std::fs::read_to_string(stage.scene.hermes_home().join("reaped.jsonl")).unwrap_or_default();
        let written: Vec<&str> = written.lines().filter(|l| l.contains(&format!("{{\"pid\":{},", owner.pid))).collect();
        let slots: Vec<String> = roster.iter().flat_map(|roster| roster.used()).map(told).collect();
        panic!("kill {number} of seed {}: {left}\nslots: {slots:#?}\nwritten: {written:#?}", seed.0);
    }
    let mut tally = tally.lock().expect("tally");
    tally.kills += 1;
    tally.slowest_ms = tally.slowest_ms.max(killed_at.elapsed().as_millis());
    match roster {
        None => tally.before_a_supervisor += 1,
        Some(roster) => {
            let states = || roster.used().iter().map(|slot| (slot.load().state(), slot.pid.load(Ordering::SeqCst)));
            tally.children += states().filter(|(state, _)| *state == Some(State::Owned)).count() as u64;
            tally.with_children += states().any(|(state, _)| state == Some(State::Owned)) as u64;
            tally.with_a_clone_under_way +=
                states().any(|(state, pid)| state == Some(State::Starting) && pid != 0) as u64;
            tally.with_a_slot_taken_and_no_child_yet +=
                states().any(|(state, pid)| state == Some(State::Starting) && pid == 0) as u64;
        }
    }
    if number.is_multiple_of(50) {
        stage.control.assert_unharmed();
    }
}

/// A slot, for whoever has to find out why something was left.
fn told(slot: &Slot) -> String {
    let (word, load) = (slot.load(), Ordering::SeqCst);
    format!(
        "serial {} {:?} flags {} pid {} since {} identity {}",
        word.serial(),
        word.state(),
        word.flags(),
        slot.pid.load(load),
        slot.since.load(load),
        slot.identity.load(load)
    )
}
