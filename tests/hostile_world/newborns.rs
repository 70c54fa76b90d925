//! Children whose owner dies before the supervisor was told of them.
//!
//! The keeper tells it, milliseconds after a spawn. Held by a tracer, it never comes to it.

use super::support::deadline::eventually_some;
use super::support::fuse::Hang;
use super::support::hold::Held;
use super::support::process::{numbers_in, status_field};
use super::support::{Owner, Scene, eventually};
use super::timing::{GRACE, SLACK, assert_gone_in_time, configure};
use std::fs;

const KEEPER: &str = "spawn-keeper";

#[test]
fn a_child_of_the_last_moment_dies() {
    dies("", "stubborn sleeper");
}

/// What it left behind is nobody's, it is not.
#[test]
fn a_child_of_the_last_moment_dies_though_its_escapees_are_left_alone() {
    dies("group_only", "stubborn sleeper");
}

#[test]
fn a_child_of_the_last_moment_dies_though_it_hides_its_environment() {
    dies("program=/usr/bin/env", "-i /bin/sleep 1000");
}

/// Its number says nothing, and its group lives on.
#[test]
fn what_a_child_of_the_last_moment_left_behind_dies() {
    dies("", "leave stubborn sleeper");
}

fn dies(options: &str, shape: &str) {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let earlier = owner.spawn("sleeper");
    let earlier = scene.seat(&earlier, "sleeper");
    let supervisor = owner.supervisor();
    let keeper = hold_keeper(&owner);
    let late = owner.spawn_with(options, shape);
    let members = || super::support::process::group_members(late.pid);
    eventually(SLACK, "the program runs", || {
        let names = members().into_iter().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        names.into_iter().any(|name| !name.starts_with("env"))
    });

    let killed_at = owner.end_by(|process| {
        process.signal(libc::SIGKILL).expect("kill the owner");
        drop(keeper);
    });

    assert_gone_in_time(killed_at, &[&earlier], &supervisor);
    assert!(members().is_empty(), "{shape}: {:?} live {:?} after the kill", members(), killed_at.elapsed());
    control.assert_unharmed();
}

/// A program on a file system that does not answer: its parent still waits for the exec when it is killed, and the
/// program must not begin when the file system comes back.
#[test]
fn a_child_that_hangs_before_its_exec_never_becomes_a_program() {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let Some(mut fuse) = scene.hung(Hang::Data) else { return };
    let obedient = owner.spawn("sleeper");
    let obedient = scene.seat(&obedient, "sleeper");
    let supervisor = owner.supervisor();
    owner.tell(&format!("spawn program={} --", fuse.file().display()));
    let parent = owner.pid().to_string();
    // A child that waits for what will be answered would end at once.
    eventually(SLACK, "it hangs in the file system", || fuse.unanswered() == 1);
    let child = eventually_some(SLACK, "the child that hangs", || {
        let is_child = |pid: i32| status_field(pid, "PPid:").is_some_and(|ppid| ppid.trim() == parent);
        numbers_in("/proc").into_iter().find(|&pid| is_child(pid) && pid != obedient.process.pid)
    });

    let killed_at = owner.end_by(|process| process.signal(libc::SIGKILL).expect("kill the owner"));

    assert_gone_in_time(killed_at, &[&obedient], &supervisor);
    let is_doomed = || {
        // A fatal signal to the process becomes KILL to each of its threads.
        let pending = status_field(child, "SigPnd:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        pending.is_none_or(|mask| mask >> (libc::SIGKILL - 1) & 1 == 1)
    };
    assert!(is_doomed(), "the child that hangs was not killed {:?} after its owner", killed_at.elapsed());
    fuse.end();
    eventually(GRACE + SLACK, "it is gone", || status_field(child, "State:").is_none_or(|state| state.contains('Z')));
    control.assert_unharmed();
}

fn hold_keeper(owner: &Owner) -> Held {
    let tid = owner.process().tasks().into_iter().find(|tid| {
        let name = fs::read_to_string(format!("/proc/{}/task/{tid}/comm", owner.pid()));
        name.is_ok_and(|name| name.trim() == KEEPER)
    });
    Held::thread(tid.expect("the owner has a keeper")).expect("hold the keeper")
}
