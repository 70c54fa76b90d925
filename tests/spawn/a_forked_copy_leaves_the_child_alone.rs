//! State belongs to a process. A forked copy can do nothing to its parent's children, and starts afresh itself.

use super::support::process::{Stat, supervisor_of};
use super::support::{Owner, Process, Scene, Seat, eventually, sys};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

/// Has a copy carry out one command: what it says came of it.
fn in_a_copy(scene: &Scene, owner: &mut Owner, command: &str) -> serde_json::Value {
    let tag = scene.fresh_tag();
    let pid = owner.must(&format!("fork-do {tag} {command}"))["pid"].clone();
    let seat: Seat = scene.seat(&tag, "fork-do");
    assert_eq!(seat.process.pid, pid.as_i64().expect("a pid") as i32);
    owner.must(&format!("reap {pid}"));
    seat.detail
}

#[test]
fn handles_are_errors_there_and_work_here() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("canary");
    let canary = scene.seat(&started, "canary");
    let pid = started.pid;
    for command in ["wait", "wait 10", "try-wait", "signal 9", "stop 0", "exit-fd"] {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let said = in_a_copy(&scene, &mut owner, &format!("{verb} {pid} {rest}"));
        let message = said["err"].as_str().unwrap_or_else(|| panic!("{command}: {said}"));
        assert!(message.contains(&pid.to_string()) && message.contains("fork"), "{command}: {message}");
    }
    // Dropped there: neither stopped nor reaped.
    assert!(in_a_copy(&scene, &mut owner, &format!("drop {pid}"))["err"].is_null());
    // Not known there: no error, no effect.
    assert!(in_a_copy(&scene, &mut owner, &format!("release {pid}"))["err"].is_null());
    assert!(in_a_copy(&scene, &mut owner, &format!("once-empty {pid}"))["err"].is_null());
    canary.process.assert_untouched("the parent's child");
    assert_eq!(owner.slots_in_use(), 1);
    owner.must(&format!("stop {pid} 0"));
    assert_eq!(owner.wait(pid)["signalled"], libc::SIGKILL);
    control.assert_unharmed();
}

#[test]
fn a_copy_that_ends_in_any_way_takes_nothing_with_it() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("canary");
    let canary = scene.seat(&started, "canary");
    // The copy runs its atexit handlers and destructors here, and none there.
    for command in ["exit 0", "_exit 0", "abort", "raise 9"] {
        let tag = scene.fresh_tag();
        let copy = owner.must(&format!("fork-do {tag} {command}"))["pid"].clone();
        owner.must(&format!("reap {copy}"));
    }
    canary.process.assert_untouched("the parent's child");
    assert_eq!(owner.slots_in_use(), 1);
    owner.supervisor().assert_alive("the parent's supervisor");
    control.assert_unharmed();
}

#[test]
fn a_copy_has_children_of_its_own_under_a_supervisor_of_its_own() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    let started = owner.spawn("canary");
    let canary = scene.seat(&started, "canary");
    let status = in_a_copy(&scene, &mut owner, "status");
    assert_eq!((&status["ok"]["slots_in_use"], &status["ok"]["supervisor_pid"]), (&0.into(), &0.into()), "{status}");
    // The copy ends as soon as it has spoken: its child must go, and nothing of the parent's.
    let tag = scene.fresh_tag();
    let spawned = in_a_copy(&scene, &mut owner, &format!("spawn tag={tag} -- sleeper"));
    let pid = spawned["ok"]["pid"].as_i64().unwrap_or_else(|| panic!("{spawned}")) as i32;
    eventually(SOON, "the copy's child is gone", || Stat::of(pid).is_none_or(|stat| !stat.runs()));
    canary.process.assert_untouched("the parent's child");
    control.assert_unharmed();
}

#[test]
fn the_parents_death_is_seen_though_a_copy_holds_everything_it_inherited() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    let started = owner.spawn("stubborn sleeper");
    let child = scene.seat(&started, "sleeper");
    let tag = scene.fresh_tag();
    owner.must(&format!("fork-worker {tag}"));
    let worker = scene.seat(&tag, "worker");
    let owner_pid = owner.pid();
    owner.kill();
    child.process.assert_gone_by(sys::after(Duration::from_secs(5)), "the child");
    eventually(SOON, "the supervisor is gone", || supervisor_of(owner_pid).is_none());
    worker.process.assert_alive("a forked copy is not a child of the library's");
    assert!(Process::open(worker.process.pid).is_some());
    control.assert_unharmed();
}
