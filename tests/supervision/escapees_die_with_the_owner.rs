//! What left the group by setsid, setpgid or a double fork carries the mark and dies, TERM first. What was released
//! does not.

use super::deaths::{Death, SOON_GONE, assert_killed_after_grace, for_each};
use super::support::process::supervisor_of;
use super::support::{Seat, eventually};

/// Shapes of which the last word leaves the group.
const WAYS_OUT: [&str; 4] = ["setsid", "setpgid", "daemon", "leave-daemon"];

#[test]
fn escapees_die_with_the_owner() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let mut deaf: Vec<Seat> = Vec::new();
        let mut polite = Vec::new();
        for way in WAYS_OUT {
            let started = doomed.owner.spawn(&format!("{way} stubborn server"));
            let seat = scene.seat(&started, "server");
            assert_ne!(seat.pgid, started.pid, "{way}: it has left the group");
            deaf.push(seat);
            let started = doomed.owner.spawn(&format!("{way} polite"));
            polite.push((scene.seat(&started, "polite"), started));
        }

        let moment = doomed.die();

        for (seat, started) in &polite {
            scene.seat(started, "term");
            seat.process.assert_gone_by(moment + SOON_GONE, "an escapee that complies");
        }
        for seat in &deaf {
            assert_killed_after_grace(&seat.process, moment, "an escapee");
        }
    });
}

#[test]
fn released_groups_keep_their_escapees() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let witness = doomed.owner.spawn("stubborn sleeper");
        let witness = scene.seat(&witness, "sleeper");
        let mut free = Vec::new();
        for way in ["setsid", "setpgid", "daemon"] {
            let started = doomed.owner.spawn(&format!("deaf {way} canary"));
            free.push(scene.seat(&started, "canary"));
            free.push(scene.seat(&started, way));
            doomed.owner.must(&format!("release {}", started.pid));
        }

        let moment = doomed.die();

        // The supervisor has done its work when it has gone, and the grace is over by then.
        witness.process.assert_gone_by(moment + SOON_GONE, "the one that was not released");
        let supervisor = supervisor_of(doomed.owner.pid());
        supervisor.into_iter().for_each(|process| process.assert_gone_by(moment + SOON_GONE, "the supervisor"));
        for seat in free {
            seat.process.assert_untouched(&format!("{} of a released family", seat.role));
        }
    });
}

#[test]
fn group_only_leaves_escapees_alone() {
    for_each(&Death::KINDS, |scene, mut doomed| {
        let started = doomed.owner.spawn_with("group_only", "setsid canary");
        let (leader, escapee) = (scene.seat(&started, "setsid"), scene.seat(&started, "canary"));
        let supervisor = doomed.owner.supervisor();

        let moment = doomed.die();

        leader.process.assert_gone_by(moment + SOON_GONE, "the leader");
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
        escapee.process.assert_untouched("what left a group that was started with group_only");
    });
}

/// The starter was waited for long ago, and the workers have overwritten their environment: a database.
#[test]
fn a_daemonised_database_dies_though_its_starter_has_long_gone() {
    for_each(&Death::KINDS, |scene, mut doomed| {
        let started = doomed.owner.spawn("postgres");
        let postmaster = scene.seat(&started, "postmaster");
        let backends = [scene.seat(&started, "backend"), scene.seat(&started, "backend")];
        doomed.owner.must(&format!("wait {}", started.pid));
        eventually(SOON_GONE, "the starter's slot is free", || doomed.owner.must("status")["slots_in_use"] == 0);

        let moment = doomed.die();

        for seat in backends.iter().chain([&postmaster]) {
            seat.process.assert_gone_by(moment + SOON_GONE, &seat.role);
        }
    });
}
