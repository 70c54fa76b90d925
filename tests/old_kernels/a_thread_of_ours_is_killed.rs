//! A filter with KILL_THREAD, put on all threads, kills the one of ours that makes a call the host's do not make: one
//! lifeline ends while the owner lives. That is no death: no child is signalled, and `status` says what is lost.

use super::support::process::{Stat, descriptors, supervisor_of};
use super::support::seccomp::Filter;
use super::support::{Control, Owner, Scene, Seat, eventually, sys};
use super::the_promise::{SOON, owner_under};
use std::time::Duration;

struct Stage {
    control: Control,
    owner: Owner,
    /// Keep what is sent to them.
    canaries: Vec<Seat>,
}

fn stage(scene: &Scene) -> Stage {
    let control = scene.control();
    let mut owner = owner_under(scene, &Filter::new(), "");
    let started: Vec<_> = (0..3).map(|_| owner.spawn("with canary")).collect();
    let canaries = started.iter().map(|started| scene.seat(started, "canary")).collect();
    Stage { control, owner, canaries }
}

fn thread_named(owner: &Owner, name: &str) -> bool {
    thread(owner, name).is_some()
}

fn thread(owner: &Owner, name: &str) -> Option<i32> {
    let comm = |tid: &i32| std::fs::read_to_string(format!("/proc/{}/task/{tid}/comm", owner.pid())).ok();
    owner.process().tasks().into_iter().find(|tid| comm(tid).is_some_and(|comm| comm.trim() == name))
}

impl Stage {
    /// The supervisor has noticed, and time for a mistake has passed.
    fn nobody_is_signalled(&mut self) {
        let said = |owner: &mut Owner| owner.guarantee("lifeline").1.contains("lifeline");
        eventually(SOON, "status says that a lifeline was lost", || said(&mut self.owner));
        let supervisor = self.owner.supervisor();
        assert!(!supervisor.gone_by(sys::after(Duration::from_millis(700))), "the supervisor has left a living owner");
        for seat in &self.canaries {
            seat.process.assert_untouched("a child of a living owner");
        }
    }

    fn all_die_with_the_owner(&mut self) {
        let pid = self.owner.pid();
        self.owner.kill();
        for seat in &self.canaries {
            seat.process.assert_gone_by(sys::after(SOON), "a child of the dead owner");
        }
        eventually(SOON, "the supervisor is gone", || supervisor_of(pid).is_none());
        self.control.assert_unharmed();
    }
}

#[test]
fn the_keeper() {
    let scene = Scene::new();
    let mut stage = stage(&scene);
    assert!(thread_named(&stage.owner, "spawn-keeper"));
    // The plain FUTEX_WAIT, on a word shared with another process: the host's own locks wait on private ones.
    stage.owner.must(&format!("kill-thread-at {} 1 {}", libc::SYS_futex, libc::FUTEX_WAIT));
    // Whatever rings the bell makes the keeper sleep anew, and that is the call.
    let started = stage.owner.spawn("canary");
    stage.canaries.push(scene.seat(&started, "canary"));
    eventually(SOON, "the keeper is gone", || !thread_named(&stage.owner, "spawn-keeper"));
    stage.owner.process().assert_alive("the owner");
    stage.nobody_is_signalled();
    // Started when nobody can say "look" any more: the roster says it.
    let started = stage.owner.spawn("canary");
    stage.canaries.push(scene.seat(&started, "canary"));
    stage.all_die_with_the_owner();
}

/// Killed where it writes the byte that wakes the supervisor, so that its owner can go on to wait on futexes.
#[test]
fn the_keeper_and_the_watcher_does_its_chores() {
    let scene = Scene::new();
    let mut stage = stage(&scene);
    let keeper = thread(&stage.owner, "spawn-keeper").expect("a keeper");
    let held = descriptors(&format!("/proc/{}/task/{keeper}/fd", stage.owner.pid()));
    let (lifeline, _) = held.iter().find(|(_, to)| to.starts_with("pipe:")).expect("the lifeline is made first");
    stage.owner.must(&format!("kill-thread-at {} 0 {lifeline}", libc::SYS_write));
    let started = stage.owner.spawn("canary");
    let stopped = scene.seat(&started, "canary");
    eventually(SOON, "the keeper is gone", || !thread_named(&stage.owner, "spawn-keeper"));
    stage.nobody_is_signalled();

    stage.owner.must(&format!("stop {} 0", started.pid));
    assert!(stopped.process.is_gone());
    let ends = stage.owner.program("stdin=null", "/bin/sh", &["-c", "exit 5"]);
    assert_eq!(stage.owner.wait_within(ends, SOON)["exited"], 5);
    let dropped = stage.owner.program("stdin=null", "/bin/true", &[]);
    stage.owner.must(&format!("drop {dropped}"));
    eventually(SOON, "no zombie stays", || Stat::of(dropped).is_none());
    stage.all_die_with_the_owner();
}

#[test]
fn the_watcher() {
    let scene = Scene::new();
    let mut stage = stage(&scene);
    assert!(thread_named(&stage.owner, "spawn-watcher"));
    for call in [libc::SYS_epoll_wait, libc::SYS_epoll_pwait] {
        stage.owner.must(&format!("kill-thread-at {call}"));
    }
    // It sleeps in the call it may not make again, until there is an order for it.
    let ends = stage.owner.program("stdin=null", "/bin/true", &[]);
    stage.owner.must(&format!("drop {ends}"));
    eventually(SOON, "the watcher is gone", || !thread_named(&stage.owner, "spawn-watcher"));
    stage.owner.process().assert_alive("the owner");
    stage.nobody_is_signalled();
    // The keeper lives, and so does the supervisor: what they do goes on.
    let started = stage.owner.spawn("canary");
    let stopped = scene.seat(&started, "canary");
    stage.owner.must(&format!("stop {} 0", started.pid));
    assert!(stopped.process.is_gone());
    stage.all_die_with_the_owner();
}
