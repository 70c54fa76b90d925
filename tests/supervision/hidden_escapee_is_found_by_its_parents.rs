//! A program started with a clean environment in a session of its own, below a leader that lives: found by the walk
//! down from the leader.

use super::deaths::{Death, SOON_GONE, for_each};

#[test]
fn hidden_escapee_is_found_by_its_parents() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let started = doomed.owner.spawn("clean stubborn server");
        let (leader, hidden) = (scene.seat(&started, "clean"), scene.seat(&started, "server"));
        let environment = std::fs::read(format!("/proc/{}/environ", hidden.process.pid)).expect("environ");
        assert!(environment.is_empty(), "no mark in there");
        assert_eq!(hidden.session, hidden.process.pid);

        let moment = doomed.die();

        leader.process.assert_gone_by(moment + SOON_GONE, "the leader");
        hidden.process.assert_gone_by(moment + SOON_GONE, "the hidden one");
    });
}

/// The stated limit: without mark, group, session *and* parents nothing leads to it. This test is here to say so, and
/// to fail on the day on which that changes.
#[test]
fn with_its_parents_gone_too_it_is_not_found() {
    for_each(&Death::KINDS, |scene, mut doomed| {
        let started = doomed.owner.spawn("clean-daemon canary");
        let (leader, hidden) = (scene.seat(&started, "clean-daemon"), scene.seat(&started, "canary"));
        let supervisor = doomed.owner.supervisor();

        let moment = doomed.die();

        leader.process.assert_gone_by(moment + SOON_GONE, "the leader");
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
        hidden.process.assert_untouched("the limit");
    });
}
