//! What every path must do: one course of events, the same for all.

use super::support::process::{address_is_free, supervisor_of};
use super::support::seccomp::Filter;
use super::support::{Control, Launch, Owner, Process, Scene, Seat, eventually, sys};
use std::time::Duration;

pub const SOON: Duration = Duration::from_secs(10);
pub const GRACE: Duration = Duration::from_millis(500);

/// An owner on which the kernel looks like this, configured for the test.
pub fn owner_under(scene: &Scene, filter: &Filter, settings: &str) -> Owner {
    let mut command = scene.actor();
    filter.put_on(&mut command);
    let mut owner = scene.owner_from(command, Launch::default());
    owner.must(&format!("configure grace={} {settings}", GRACE.as_millis()));
    owner
}

/// What was started, by what must become of it.
pub struct Cast {
    pub to_die: Vec<Seat>,
    pub to_live: Vec<Seat>,
}

/// Chains, members that ignore TERM, a leader that left, escapees, groups taken over; a stop, a release, a wait.
pub fn play(scene: &Scene, owner: &mut Owner) -> Cast {
    let mut to_die = Vec::new();
    for (shape, role) in [
        ("chain stubborn server", "server"),
        ("with stubborn sleeper", "sleeper"),
        ("stopped", "stopped"),
        ("setsid stubborn sleeper", "sleeper"),
        ("daemon sleeper", "sleeper"),
    ] {
        let started = owner.spawn(shape);
        to_die.push(scene.seat(&started, role));
    }
    let left = owner.spawn("leave stubborn sleeper");
    to_die.push(scene.seat(&left, "sleeper"));
    assert_eq!(owner.wait(left.pid)["exited"], 0);
    let taken = owner.foreign("stubborn sleeper");
    to_die.push(scene.seat(&taken, "sleeper"));
    let released = owner.foreign("canary");
    let to_live = vec![scene.seat(&released, "canary")];
    owner.must(&format!("own {} {}", taken.pid, released.pid));
    owner.must(&format!("release {}", released.pid));
    let stopped = owner.spawn("with stubborn sleeper");
    let member = scene.seat(&stopped, "sleeper");
    owner.must(&format!("signal {} {}", stopped.pid, libc::SIGCONT));
    owner.must(&format!("stop {} 100", stopped.pid));
    assert!(member.process.is_gone(), "stop returned before the group was empty");
    assert_eq!(owner.wait(stopped.pid)["signalled"], libc::SIGTERM);
    let exited = owner.program("stdin=null", "/bin/sh", &["-c", "exit 5"]);
    assert_eq!(owner.wait_within(exited, SOON)["exited"], 5);
    eventually(SOON, "the slots of what ended are free", || owner.slots_in_use() == 7);
    Cast { to_die, to_live }
}

/// kill -9, and then: nothing owned is left, what was let go lives, the control is unharmed, the supervisor has gone.
pub fn kill_and_look(owner: &mut Owner, control: &mut Control, cast: &Cast) {
    let pid = owner.pid();
    let killed = owner.kill();
    for seat in &cast.to_die {
        // A grace, and what a loaded machine needs; a loop over the promise's own time is the benchmark's.
        seat.process.assert_gone_by(killed + GRACE + SOON, &format!("{} of {}", seat.role, seat.tag));
        assert!(seat.address.is_none_or(address_is_free), "{:?}", seat.address);
    }
    for seat in &cast.to_live {
        seat.process.assert_untouched("what was let go");
    }
    eventually(SOON, "the supervisor is gone", || supervisor_of(pid).is_none());
    control.assert_unharmed();
}

/// All of it.
pub fn holds(scene: &Scene, owner: &mut Owner) {
    let mut control = scene.control();
    let cast = play(scene, owner);
    kill_and_look(owner, &mut control, &cast);
}

/// Kills the supervisor and waits, without a call of the host, for the next.
pub fn replace_supervisor(owner: &Owner) -> Process {
    let first = owner.supervisor();
    first.signal(libc::SIGKILL).expect("kill the supervisor");
    first.assert_gone_by(sys::after(SOON), "the killed supervisor");
    owner.supervisor()
}

/// Descriptors that the library has put into the host's own table, by a look at one before its first use.
pub fn added_descriptors(owner: &Owner, before: &[(i32, String)]) -> Vec<String> {
    let now = owner.process().descriptors();
    now.into_iter().filter(|entry| !before.contains(entry)).map(|(_, link)| link).collect()
}

#[test]
fn without_any_filter_nothing_is_weaker() {
    let scene = Scene::new();
    let mut owner = owner_under(&scene, &Filter::new(), "");
    let before = owner.process().descriptors();
    let mut control = scene.control();
    // A leader that is reaped before the supervisor could look at it is rightly a weaker proof: none of those here yet.
    let started = owner.spawn("sleeper");
    scene.seat(&started, "sleeper");
    for (name, value) in [
        ("lifeline", "private-tables"),
        ("group_signal", "pidfd"),
        ("registration", "kernel"),
        ("supervisor", "memfd"),
        ("escapees", "mark+walk"),
        ("reuse_proof", "yes"),
    ] {
        assert_eq!(owner.guarantee(name), (value.into(), String::new()), "{name}");
    }
    owner.must(&format!("stop {} 1000", started.pid));
    owner.wait(started.pid);
    let cast = play(&scene, &mut owner);
    assert_eq!(added_descriptors(&owner, &before), [""; 0]);
    replace_supervisor(&owner);
    kill_and_look(&mut owner, &mut control, &cast);
}
