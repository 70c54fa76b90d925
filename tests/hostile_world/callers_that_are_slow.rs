//! A thread asks for a signal and is not given a processor for a long time afterwards: what it is told in the end is
//! what became of its request, though the group has ended and its slot is freed, or another child's, by then.

use super::support::hold::Held;
use super::support::owner::Refusal;
use super::support::{Owner, Process, Scene, Seat, eventually};
use super::timing::{SLACK, configure};
use std::fs;

/// A request that nobody has looked at yet: its supervisor stands still, and its thread waits for the answer.
struct Asked {
    job: serde_json::Value,
    thread: i32,
    supervisor: Process,
}

impl Asked {
    fn signal(owner: &mut Owner, group: i32, signal: i32) -> Asked {
        let supervisor = owner.supervisor();
        supervisor.signal(libc::SIGSTOP).expect("stop it");
        supervisor.until_state('T');
        let before = owner.process().tasks();
        let job = owner.must(&format!("bg signal {group} {signal}"));
        let thread = owner.process().tasks().into_iter().find(|tid| !before.contains(tid)).expect("its thread");
        let futex = format!("{} ", libc::SYS_futex);
        let calls = format!("/proc/{}/task/{thread}/syscall", owner.pid());
        eventually(SLACK, "the thread waits", || fs::read_to_string(&calls).is_ok_and(|call| call.starts_with(&futex)));
        Asked { job, thread, supervisor }
    }

    /// From here on the supervisor works.
    fn look(&self) {
        self.supervisor.signal(libc::SIGCONT).expect("continue it");
    }

    fn outcome(self, owner: &mut Owner) -> Result<serde_json::Value, Refusal> {
        owner.ask(&format!("join {}", self.job))
    }
}

fn until_free(owner: &mut Owner) {
    eventually(SLACK, "the slot is free", || owner.must("status")["slots_in_use"] == 0);
}

/// An owner with one child, for which KILL has been asked and not been sent yet.
fn asked_to_kill(scene: &Scene) -> (Owner, Seat, Asked) {
    let mut owner = scene.owner();
    configure(&mut owner);
    let child = scene.seat(owner.spawn("sleeper"), "sleeper");
    let asked = Asked::signal(&mut owner, child.process.pid, libc::SIGKILL);
    (owner, child, asked)
}

/// KILL to the child, of which the caller learns no sooner than `meanwhile` has been done.
fn kill_and_tell_late(meanwhile: impl FnOnce(&Scene, &mut Owner, &Seat)) {
    let scene = Scene::new();
    let mut control = scene.control();
    let (mut owner, child, asked) = asked_to_kill(&scene);
    let held = Held::thread(asked.thread).expect("hold the caller");
    asked.look();
    child.process.assert_gone_by(super::support::sys::after(SLACK), "the child");
    meanwhile(&scene, &mut owner, &child);
    drop(held);
    let told = asked.outcome(&mut owner);
    assert!(told.is_ok(), "the signal ended the group, and its caller is told: {told:?}");
    control.assert_unharmed();
}

#[test]
fn the_supervisor_has_freed_the_slot() {
    kill_and_tell_late(|_, owner, _| until_free(owner));
}

#[test]
fn another_thread_has_waited_for_the_child_and_freed_the_slot() {
    kill_and_tell_late(|_, owner, child| {
        let status = owner.must(&format!("wait {}", child.process.pid));
        assert_eq!(status["signalled"], libc::SIGKILL);
        until_free(owner);
    });
}

#[test]
fn the_slot_would_be_the_next_childs() {
    kill_and_tell_late(|scene, owner, _| {
        until_free(owner);
        let next = scene.seat(owner.spawn("canary"), "canary");
        owner.must(&format!("signal {} {}", next.process.pid, libc::SIGCONT));
        let only_cont = 1 << (libc::SIGCONT - 1);
        assert_eq!(next.process.pending_signals(), only_cont, "the next child got what was not for it");
    });
}

/// The child ends by itself before the supervisor looks, and is waited for: its slot stays until the request has been
/// answered, for the supervisor may be carrying it out.
#[test]
fn a_slot_is_not_freed_under_a_request() {
    let scene = Scene::new();
    let mut control = scene.control();
    let (mut owner, child, asked) = asked_to_kill(&scene);
    child.process.signal(libc::SIGTERM).expect("end the child");
    let status = owner.must(&format!("wait {}", child.process.pid));
    assert_eq!(status["signalled"], libc::SIGTERM);
    assert_eq!(owner.must("status")["slots_in_use"], 1, "freed under a request");
    asked.look();
    let refusal = asked.outcome(&mut owner).expect_err("it was too late");
    assert_eq!(refusal.name, "HERMES_ERR_NO_SUCH_GROUP", "{refusal:?}");
    until_free(&mut owner);
    control.assert_unharmed();
}
