//! Somebody stops the supervisor (nothing can block SIGSTOP) and continues it later.

use super::support::Scene;
use super::timing::{GRACE, SLACK, assert_gone_in_time, configure};
use std::time::{Duration, Instant};

#[test]
fn a_supervisor_that_was_stopped_does_its_work_once_it_is_continued() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let mut seats = vec![scene.seat(owner.spawn("stubborn sleeper"), "sleeper")];
    let supervisor = owner.supervisor();
    supervisor.signal(libc::SIGSTOP).expect("stop it");
    supervisor.until_state('T');
    // The kernel registers a child; a supervisor that does not look is not needed for it.
    for shape in ["sleeper", "stubborn sleeper", "leave-daemon sleeper"] {
        seats.push(scene.seat(owner.spawn(shape), "sleeper"));
    }
    let killed_at = owner.kill();
    assert!(!supervisor.gone_by(killed_at + GRACE), "it was not stopped");
    seats.iter().for_each(|seat| seat.process.assert_alive("nobody was there to end it"));
    supervisor.signal(libc::SIGCONT).expect("continue it");
    assert_gone_in_time(Instant::now(), &seats.iter().collect::<Vec<_>>(), &supervisor);
    control.assert_unharmed();
}

#[test]
fn a_call_that_needs_a_stopped_supervisor_ends_with_an_error() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let started = owner.spawn("sleeper");
    let seat = scene.seat(&started, "sleeper");
    let supervisor = owner.supervisor();
    supervisor.signal(libc::SIGSTOP).expect("stop it");
    supervisor.until_state('T');
    let began = Instant::now();
    let refusal = owner.ask(&format!("stop {} 100", started.pid)).expect_err("nobody is there to do it");
    assert_eq!(refusal.name, "HERMES_ERR_SUPERVISOR", "{refusal:?}");
    assert!(began.elapsed() < Duration::from_secs(7) + SLACK, "{:?}", began.elapsed());
    seat.process.assert_alive("nobody has signalled it");
    supervisor.signal(libc::SIGCONT).expect("continue it");
    owner.must(&format!("stop {} 100", started.pid));
    assert!(seat.process.is_gone(), "and now it is stopped");
    control.assert_unharmed();
}
