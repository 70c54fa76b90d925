//! A pidfd of a leader cannot be had: a filter refuses pidfd_open, or there are more groups than descriptors. Then a
//! group is signalled by its number, after a proof each time, and `status` says so.

use super::support::process::supervisor_of;
use super::support::seccomp::{Action, Filter};
use super::support::{Owner, Scene, Seat, eventually};
use super::the_promise::{self, GRACE, SOON, owner_under};
use crate::skip;

fn by_number(owner: &mut Owner, reason: &str) {
    for (name, expected) in [("group_signal", "number"), ("reuse_proof", "weaker")] {
        let (value, why) = owner.guarantee(name);
        assert_eq!(value, expected, "{name}: {why}");
        assert!(why.contains(reason), "{name}: {why}");
    }
}

#[test]
fn pidfd_open_is_refused() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_under(&scene, &Filter::new().on(libc::SYS_pidfd_open, Action::Errno(libc::ENOSYS)), "");
    if owner.ask("status").is_err_and(|refusal| refusal.message.contains("pidfd_open")) {
        skip!("this kernel has no SO_PEERPIDFD (Linux 6.5), without which no owner can do without pidfd_open");
    }
    assert_eq!(owner.guarantee("group_signal").0, "number", "before the first child, too");
    assert_eq!(owner.guarantee("escapees").0, "off");
    let mut seats: Vec<Seat> = [("with stubborn sleeper", "sleeper"), ("leave stubborn sleeper", "sleeper")]
        .map(|(shape, role)| {
            let started = owner.spawn(shape);
            scene.seat(&started, role)
        })
        .into();
    let taken = owner.foreign("stubborn sleeper");
    seats.push(scene.seat(&taken, "sleeper"));
    owner.must(&format!("own {}", taken.pid));
    let stopped = owner.spawn("with stubborn sleeper");
    let member = scene.seat(&stopped, "sleeper");
    owner.must(&format!("signal {} {}", stopped.pid, libc::SIGCONT));
    owner.must(&format!("stop {} 100", stopped.pid));
    assert!(member.process.is_gone(), "stop returned before the group was empty");
    eventually(SOON, "all are known by number", || owner.must("status")["weak_groups"] == 3);
    by_number(&mut owner, "");
    let (value, why) = owner.guarantee("escapees");
    assert_eq!(value, "off");
    assert!(why.contains("pidfd_open"), "{why}");
    die_with(&mut owner, &seats);
    control.assert_unharmed();
}

/// The limit of the owner is its supervisor's. Some descriptors are kept for the work itself: the escapees die, too.
#[test]
fn there_are_more_groups_than_descriptors() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_under(&scene, &Filter::new(), "");
    owner.must("limit-files 48");
    let mut seats: Vec<Seat> = ["setsid stubborn sleeper", "daemon sleeper"]
        .map(|shape| {
            let started = owner.spawn(shape);
            scene.seat(&started, "sleeper")
        })
        .into();
    for n in 0..30 {
        let started = owner.spawn(if n % 3 == 0 { "with stubborn sleeper" } else { "sleeper" });
        seats.push(scene.seat(&started, "sleeper"));
    }
    eventually(SOON, "some are held, and some are not", || {
        owner.must("status")["weak_groups"].as_i64().is_some_and(|weak| (10..30).contains(&weak))
    });
    by_number(&mut owner, "groups have no leader that could be held");
    assert_eq!(owner.guarantee("escapees"), ("mark+walk".into(), String::new()));
    the_promise::replace_supervisor(&owner);
    eventually(SOON, "the next one has them all", || {
        let status = owner.must("status");
        status["supervisor_generation"] == 2 && status["weak_groups"].as_i64() >= Some(10)
    });
    assert_eq!(owner.slots_in_use(), seats.len() as i64);
    die_with(&mut owner, &seats);
    control.assert_unharmed();
}

fn die_with(owner: &mut Owner, seats: &[Seat]) {
    let pid = owner.pid();
    let killed = owner.kill();
    for seat in seats {
        seat.process.assert_gone_by(killed + GRACE + SOON, &format!("{} of {}", seat.role, seat.tag));
    }
    eventually(SOON, "the supervisor is gone", || supervisor_of(pid).is_none());
}
