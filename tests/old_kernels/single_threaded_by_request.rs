//! A host that must stay single-threaded asks for it: no thread, two descriptors in its own table, a weaker tie.

use super::support::process::{Stat, numbers_in, supervisor_of};
use super::support::seccomp::Filter;
use super::support::{Process, Scene, eventually, sys};
use super::the_promise::{self, SOON, added_descriptors, owner_under};

#[test]
fn the_promise_holds_without_a_thread() {
    let scene = Scene::new();
    let mut owner = owner_under(&scene, &Filter::new(), "threads=0");
    let before = owner.process().descriptors();
    let mut control = scene.control();
    let cast = the_promise::play(&scene, &mut owner);
    assert_eq!(owner.process().tasks(), [owner.pid()], "one thread");
    let added = added_descriptors(&owner, &before);
    assert_eq!(added.len(), 2, "the roster and the lifeline: {added:?}");
    let (value, why) = owner.guarantee("lifeline");
    assert_eq!(value, "at-fork+pidfd");
    assert!(why.contains("asked for"), "{why}");
    the_promise::kill_and_look(&mut owner, &mut control, &cast);
}

#[test]
fn a_forked_worker_keeps_nobody_alive() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_under(&scene, &Filter::new(), "threads=0");
    let started = owner.spawn("stubborn sleeper");
    let child = scene.seat(&started, "sleeper");
    let tag = scene.fresh_tag();
    owner.must(&format!("fork-worker {tag}"));
    let worker = scene.seat(&tag, "worker");
    owner.kill();
    child.process.assert_gone_by(sys::after(SOON), "the child");
    worker.process.assert_alive("a forked copy");
    control.assert_unharmed();
}

#[test]
fn a_killed_supervisor_is_replaced_by_the_next_call() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_under(&scene, &Filter::new(), "threads=0");
    let started = owner.spawn("stubborn sleeper");
    let first_child = scene.seat(&started, "sleeper");
    let first = owner.supervisor();
    first.signal(libc::SIGKILL).expect("kill the supervisor");
    first.assert_gone_by(sys::after(SOON), "the supervisor");
    let status = owner.must("status");
    assert_eq!(status["supervisor_pid"], 0, "status does not claim a dead supervisor: {status}");
    assert!(status["last_supervisor_error"].as_str().is_some_and(|e| e.contains("next")), "and says so: {status}");
    let started = owner.spawn("stubborn sleeper");
    let second_child = scene.seat(&started, "sleeper");
    let second = owner.supervisor();
    assert_eq!(owner.must("status")["last_supervisor_error"], serde_json::Value::Null);
    assert_ne!(second.pid, first.pid);
    let pid = owner.pid();
    owner.kill();
    for seat in [&first_child, &second_child] {
        seat.process.assert_gone_by(sys::after(SOON), "a child");
    }
    eventually(SOON, "the supervisor is gone", || supervisor_of(pid).is_none());
    control.assert_unharmed();
}

#[test]
fn what_needs_a_thread_says_so_and_dropped_children_are_reaped_by_later_calls() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_under(&scene, &Filter::new(), "threads=0");
    let pid = owner.program("stdin=null", "/bin/sleep", &["600"]);
    let refusal = owner.ask(&format!("exit-fd {pid}")).expect_err("nobody could write the record");
    assert_eq!(refusal.name, "HERMES_ERR_UNSUPPORTED", "{refusal:?}");
    assert!(owner.wait_within(pid, std::time::Duration::from_millis(50)).is_null());
    let child = Process::open(pid).expect("it runs");
    owner.must(&format!("drop {pid}"));
    child.signal(libc::SIGKILL).expect("kill");
    child.assert_gone_by(sys::after(SOON), "the child");
    let next = owner.program("stdin=null", "/bin/true", &[]);
    assert_eq!(owner.wait(next)["exited"], 0);
    let children: Vec<i32> =
        numbers_in("/proc").into_iter().filter(|&p| Stat::of(p).is_some_and(|s| s.ppid == owner.pid())).collect();
    assert_eq!(children, [0; 0], "the dropped one is reaped");
    control.assert_unharmed();
}

/// The number of the lifeline in the host's table: the one pipe that its first use adds.
fn lifeline(owner: &super::support::Owner, before: &[(i32, String)]) -> i32 {
    let now = owner.process().descriptors();
    let added = now.iter().find(|entry| entry.1.starts_with("pipe:") && !before.contains(entry));
    added.expect("a pipe").0
}

#[test]
fn a_host_that_closes_the_lifeline_gets_another_and_nobody_writes_into_its_files() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_under(&scene, &Filter::new(), "threads=0");
    let before = owner.process().descriptors();
    let first = owner.spawn("stubborn sleeper");
    let first = scene.seat(&first, "sleeper");
    let canary = owner.spawn("canary");
    let canary = scene.seat(&canary, "canary");
    let number = lifeline(&owner, &before);
    owner.must(&format!("close {number}"));
    let file = scene.folder().join("of-the-host");
    std::fs::write(&file, "").expect("write");
    let open = format!("open-to-write {}", file.display());
    eventually(SOON, "the host has the number again", || owner.must(&open) == number);
    let next = owner.spawn("stubborn sleeper");
    let next = scene.seat(&next, "sleeper");
    owner.must(&format!("signal {} {}", next.pgid, libc::SIGCONT));
    assert_eq!(owner.must("status")["supervisor_generation"], 2);
    assert_eq!(std::fs::read(&file).expect("read"), b"", "a byte of ours in the host's file");
    canary.process.assert_untouched("a child of a living owner");
    owner.kill();
    for seat in [&first, &next, &canary] {
        seat.process.assert_gone_by(sys::after(SOON), "a child");
    }
    control.assert_unharmed();
}

#[test]
fn a_forked_copy_starts_afresh_and_closes_what_it_inherited() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_under(&scene, &Filter::new(), "threads=0");
    let before = owner.process().descriptors();
    let canary = owner.spawn("canary");
    let canary = scene.seat(&canary, "canary");
    let held = owner.process().descriptors().into_iter().find(|(fd, _)| *fd == lifeline(&owner, &before));
    let (_, pipe) = held.expect("the lifeline");
    let tag = scene.fresh_tag();
    let copy = owner.must(&format!("fork-do {tag} spawn tag={tag} -- sleeper"))["pid"].clone();
    let said = scene.seat(&tag, "fork-do");
    let child = said.detail["ok"]["pid"].as_i64().unwrap_or_else(|| panic!("{}", said.detail)) as i32;
    owner.must(&format!("reap {copy}"));
    eventually(SOON, "the copy's child is gone", || Stat::of(child).is_none_or(|stat| !stat.runs()));
    let worker = scene.fresh_tag();
    owner.must(&format!("fork-worker {worker}"));
    let worker = scene.seat(&worker, "worker");
    let inherited = worker.process.descriptors();
    assert!(inherited.iter().all(|(_, link)| *link != pipe), "a copy of the lifeline: {inherited:?}");
    canary.process.assert_untouched("the parent's child");
    assert_eq!(owner.slots_in_use(), 1);
    control.assert_unharmed();
}
