//! The leader leaves on TERM at once, a member of its group ignores it and holds a port: KILL reaches the member.

use super::deaths::{Death, SOON_GONE, assert_killed_after_grace, for_each};
use super::support::Scene;
use super::support::process::address_is_free;

#[test]
fn member_that_ignores_term_is_killed() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let started = doomed.owner.spawn("with stubborn server");
        let (leader, server) = (scene.seat(&started, "with"), scene.seat(&started, "server"));
        assert_eq!(server.pgid, leader.process.pid);

        let moment = doomed.die();

        leader.process.assert_gone_by(moment + SOON_GONE, "the leader");
        assert_killed_after_grace(&server.process, moment, "the member");
        assert!(address_is_free(server.address.expect("it listens")));
    });
}

/// With the default grace, three seconds, a member that complies is not waited for, and one that does not has all of it.
#[test]
fn the_default_grace_is_three_seconds() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let (deaf, polite) = (owner.spawn("stubborn sleeper"), owner.spawn("polite"));
    let (deaf, listener) = (scene.seat(&deaf, "sleeper"), scene.seat(&polite, "polite"));
    assert_eq!(owner.must("status")["grace_ms"], 3000);

    let moment = owner.kill();

    scene.seat(&polite, "term");
    listener.process.assert_gone_by(moment + SOON_GONE, "the one that complies");
    assert!(moment.elapsed() < SOON_GONE, "TERM comes at once: {:?}", moment.elapsed());
    deaf.process.assert_gone_by(moment + 2 * SOON_GONE, "the one that does not");
    assert!(moment.elapsed() >= SOON_GONE, "killed after {:?}", moment.elapsed());
    control.assert_unharmed();
}
