//! Daemons that owned children leave behind, and chains of processes that are faster than any list.

use super::support::{Scene, soak};
use super::timing::{assert_gone_in_time, configure};

/// As a database is started: starter, postmaster in a session of its own, workers in theirs that have overwritten their
/// environment. The postmaster's mark leads to all of them, long after the starter has been waited for.
#[test]
fn a_postgres_like_daemon_dies_though_its_starter_was_waited_for_long_ago() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let started = owner.spawn("postgres");
    let seats = ["postmaster", "backend", "backend"].map(|role| scene.seat(&started, role));
    owner.must(&format!("wait {}", started.pid));
    assert_eq!(owner.must("status")["slots_in_use"], 0, "its group is empty and let go");
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    assert_gone_in_time(killed_at, &seats.each_ref(), &supervisor);
    control.assert_unharmed();
}

/// The stated limit: no readable environment, no group, no session and no parents.
#[test]
fn limit_a_daemon_that_has_overwritten_its_environment_is_not_found() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let hidden = scene.seat(owner.spawn("leave-daemon overwritten canary"), "canary");
    let found = scene.seat(owner.spawn("leave-daemon sleeper"), "sleeper");
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    assert_gone_in_time(killed_at, &[&found], &supervisor);
    hidden.process.assert_untouched("what nothing leads to; if this fails, the README's limit can go");
    control.assert_unharmed();
}

/// A copy every 5 ms, each in a session of its own, TERM ignored.
#[test]
fn a_chain_of_sessions_dies_with_its_owner() {
    let chains = if soak() { 20 } else { 3 };
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    for _ in 0..chains {
        scene.seat(owner.spawn("session-chain"), "session-chain");
    }
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    assert_gone_in_time(killed_at, &[], &supervisor);
    let furniture = [control.owner.pid(), control.canary.process.pid];
    let left: Vec<_> = scene.marked().into_iter().filter(|p| !furniture.contains(&p.pid)).collect();
    assert!(left.is_empty(), "{left:?} after {:?}", killed_at.elapsed());
    control.assert_unharmed();
}
