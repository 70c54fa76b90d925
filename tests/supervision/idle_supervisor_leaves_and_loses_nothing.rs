//! When nothing has been covered for the idle time the supervisor leaves; what is registered in that very moment is
//! covered all the same.

use super::deaths::SOON_GONE;
use super::support::process::supervisor_of;
use super::support::{Process, Scene, eventually};
use std::time::{Duration, Instant};

const ROUNDS: i64 = 500;

/// A foreground command that registers and releases, twenty times.
#[test]
fn no_helper_is_left_behind_by_twenty_short_runs() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owners: Vec<_> = (0..20)
        .map(|_| {
            let mut owner = scene.owner();
            owner.must("configure idle=100");
            let group = owner.foreign("sleeper");
            let sleeper = scene.seat(&group, "sleeper");
            owner.must(&format!("own {}", group.pid));
            let supervisor = owner.supervisor();
            owner.must(&format!("release {}", group.pid));
            (owner, supervisor, sleeper)
        })
        .collect();
    for (owner, supervisor, sleeper) in &mut owners {
        let gone: &Process = supervisor;
        eventually(Duration::from_secs(15), "the idle supervisor leaves", || gone.is_gone());
        assert!(supervisor_of(owner.pid()).is_none());
        eventually(SOON_GONE, "and is known to have", || owner.must("status")["supervisor_pid"] == 0);
        sleeper.process.assert_alive("a released group");
        owner.process().assert_alive("the owner");
    }
    control.assert_unharmed();
}

/// And comes back for the next child.
#[test]
fn the_next_child_has_a_supervisor_again() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure idle=50 grace=400");
    owner.must("rounds 0 1");
    eventually(Duration::from_secs(15), "the idle supervisor leaves", || owner.must("status")["supervisor_pid"] == 0);
    assert!(supervisor_of(owner.pid()).is_none());
    let started = owner.spawn("stubborn sleeper");
    let sleeper = scene.seat(&started, "sleeper");
    assert_eq!(owner.must("status")["supervisor_generation"], 2);

    let moment = owner.kill();

    sleeper.process.assert_gone_by(moment + SOON_GONE, "the child");
    control.assert_unharmed();
}

#[test]
fn a_registration_at_the_end_of_the_idle_time_is_not_lost() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure idle=3 grace=400");
    // A machine on which everything takes long does fewer rounds.
    let (begin, mut rounds, mut generations) = (Instant::now(), 0, 0);
    while rounds < ROUNDS && (rounds < ROUNDS / 5 || begin.elapsed() < Duration::from_secs(60)) {
        generations = owner.must("idle-race 20").as_i64().expect("a number");
        rounds += 20;
    }
    eprintln!("{rounds} rounds, {generations} supervisors");
    // It had left by then in some rounds, and in others it had not: the moment was met.
    assert!((rounds / 10..rounds * 9 / 10).contains(&generations), "{generations} supervisors in {rounds} rounds");
    let last = owner.spawn("stubborn sleeper");
    let last = scene.seat(&last, "sleeper");

    let moment = owner.kill();

    last.process.assert_gone_by(moment + SOON_GONE, "the last child");
    control.assert_unharmed();
}
