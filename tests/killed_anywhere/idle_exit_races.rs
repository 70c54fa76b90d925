//! A registration in the last moment of the idle time is not lost, no newborn of a living owner is ended by the
//! supervisor that was let go, and an owner that only registers and releases keeps no helper.

use super::lanes;
use super::stage::{LIMIT, Stage, apart, helpers_of};
use super::support::progress::{act, word};
use super::support::{Process, Scene, soak, sys, within};
use crate::test_name;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const LANES: usize = 4;

#[test]
fn no_newborn_is_ended_and_none_is_uncovered_in_idle_races() {
    if apart(test_name!()) {
        return;
    }
    let wanted = if soak() { 20_000 } else { 1_000 };
    let tally = Mutex::new([0u64; 2]);
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| race(wanted / LANES as u64, &tally));
        }
    });
    let [kept, replaced] = tally.into_inner().expect("tally");
    eprintln!("{} races: {kept} kept the supervisor, {replaced} needed the next one", kept + replaced);
    assert!(kept > wanted / 20 && replaced > wanted / 20, "no race: {kept} kept, {replaced} replaced");
}

/// One owner that races against its own idle time.
fn race(wanted: u64, tally: &Mutex<[u64; 2]>) {
    let mut stage = Stage::new();
    let mut command = stage.scene.actor();
    let mut child = command.arg("drama").arg("idle-races").arg(stage.scene.folder()).arg("0").spawn().expect("start");
    let owner = Process::open(child.id() as i32).expect("it runs");
    let rounds = || stage.progress.get(word::ROUNDS);
    let failed = || stage.progress.get(word::ACT) == act::FAILED || owner.is_gone();
    while rounds() < wanted {
        let before = rounds();
        let goes_on = within(Duration::from_secs(30), || rounds() > before || failed());
        assert!(goes_on && !failed(), "round {} failed or is stuck", before + 1);
    }
    let killed_at = Instant::now();
    owner.signal(libc::SIGKILL).expect("kill");
    let _ = child.wait();
    if let Err(left) = stage.end_of(owner.pid, killed_at, &[]) {
        panic!("{left}");
    }
    let mut tally = tally.lock().expect("tally");
    tally[0] += stage.progress.get(word::KEPT);
    tally[1] += stage.progress.get(word::REPLACED);
    stage.control.assert_unharmed();
}

#[test]
fn a_registration_in_the_last_moment_of_the_idle_time_dies_with_its_owner() {
    if apart(test_name!()) {
        return;
    }
    let count = if soak() { 5_000 } else { 500 };
    let tally = Mutex::new([0u64; 2]);
    lanes::run(LANES, |numbers| {
        let mut stage = Stage::new();
        while let Some(number) = numbers.next().filter(|&number| number <= count) {
            stage.progress.clear();
            let mut command = stage.scene.actor();
            command.arg("drama").arg("raced-registration").arg(stage.scene.folder()).arg("0");
            let mut child = command.spawn().expect("start");
            let owner = Process::open(child.id() as i32).expect("it runs");
            let registered = || stage.progress.get(word::ACT) == act::COVERED;
            assert!(within(Duration::from_secs(20), || registered() || owner.is_gone()), "race {number}: stuck");
            assert!(owner.is_alive(), "race {number}: a call failed");
            let newborn = Process::open(stage.progress.get(word::OTHERS) as i32);
            let newborn = newborn.filter(Process::is_alive).unwrap_or_else(|| panic!("race {number}: no newborn"));
            let killed_at = Instant::now();
            owner.signal(libc::SIGKILL).expect("kill");
            let _ = child.wait();
            if let Err(left) = stage.end_of(owner.pid, killed_at, &[]) {
                panic!("race {number}: {left}");
            }
            newborn.assert_gone_by(sys::after(Duration::ZERO), "the newborn");
            tally.lock().expect("tally")[(stage.progress.get(word::REPLACED) != 0) as usize] += 1;
        }
        stage.control.assert_unharmed();
    });
    let [kept, replaced] = tally.into_inner().expect("tally");
    eprintln!("{count} raced registrations: {kept} kept the supervisor, {replaced} needed the next one, no survivor");
}

#[test]
fn a_loop_of_registrations_leaves_no_helper_once_the_idle_time_has_passed() {
    let scene = Scene::new();
    let mut control = scene.control();
    // One owner that lives on.
    let mut owner = scene.owner();
    owner.must("configure idle=20");
    let (mut group, seat) = scene.stranger("canary");
    for _ in 0..20 {
        owner.must(&format!("own {}", seat.process.pid));
        owner.must(&format!("release {}", seat.process.pid));
    }
    assert!(within(Duration::from_secs(10), || helpers_of(owner.pid()).is_empty()), "a helper of an idle owner stays");
    assert_eq!(owner.must("status")["supervisor_pid"], 0);
    // Twenty that come and go.
    for _ in 0..20 {
        let mut short = scene.owner();
        short.must(&format!("own {}", seat.process.pid));
        short.must(&format!("release {}", seat.process.pid));
        short.close_input();
        short.reap();
        assert!(within(LIMIT, || helpers_of(short.pid()).is_empty()), "a helper of an owner that has left");
    }
    seat.process.assert_untouched("the group that was only borrowed");
    seat.process.signal(libc::SIGKILL).expect("end the group");
    let _ = group.wait();
    control.assert_unharmed();
}
