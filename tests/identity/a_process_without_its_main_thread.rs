//! A process whose main thread has exited looks like a zombie in /proc and is alive.

use super::support::{Scene, sys};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

#[test]
fn it_runs_for_wait_can_be_owned_and_is_ended_by_stop() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("stubborn threads-only");
    let seat = scene.seat(&started, "threads-only");
    assert_eq!(seat.process.stat().expect("there").state, 'Z');
    assert!(owner.wait_within(started.pid, Duration::from_millis(100)).is_null(), "it has not ended");
    let foreign = owner.foreign("threads-only");
    let taken = scene.seat(&foreign, "threads-only");
    owner.must(&format!("own {}", foreign.pid));
    // Whoever takes the group for empty frees its slot.
    owner.must(&format!("once-empty {}", foreign.pid));
    assert_eq!(owner.slots_in_use(), 2);
    owner.must(&format!("stop {} 100", started.pid));
    assert!(seat.process.is_gone(), "stop returned while a thread of it ran");
    assert_eq!(owner.wait(started.pid)["signalled"], libc::SIGKILL);
    taken.process.assert_alive("a group that is not empty");
    assert_eq!(owner.slots_in_use(), 1);
    control.assert_unharmed();
}

#[test]
fn it_dies_with_its_owner_as_leader_and_as_member() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    let leader = owner.spawn("stubborn threads-only");
    let leader = scene.seat(&leader, "threads-only");
    // The leader of this one is gone: the group consists of what looks like a zombie.
    let left = owner.spawn("leave stubborn threads-only");
    let member = scene.seat(&left, "threads-only");
    owner.wait(left.pid);
    let escaped = owner.spawn("setsid stubborn threads-only");
    let escapee = scene.seat(&escaped, "threads-only");
    let foreign = owner.foreign("leave stubborn threads-only");
    let taken = scene.seat(&foreign, "threads-only");
    owner.must(&format!("reap {}", foreign.pid));
    owner.must(&format!("own {}", foreign.pid));
    let supervisor = owner.supervisor();
    owner.kill();
    for seat in [&leader, &member, &escapee, &taken] {
        seat.process.assert_gone_by(sys::after(SOON), "a process without its main thread");
    }
    supervisor.assert_gone_by(sys::after(SOON), "the supervisor");
    control.assert_unharmed();
}
