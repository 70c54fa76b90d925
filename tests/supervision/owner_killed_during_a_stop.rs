//! The owner ends while a `stop` waits for its long grace to be over: the group is gone within one grace of the
//! owner's own, counted from its end.

use super::deaths::{Death, GRACE, SOON_GONE, for_each};
use super::support::Process;
use std::thread;
use std::time::{Duration, Instant};

/// A supervisor that has done what it can leaves a second after its grace, and ends whatever is left then. Half of
/// that tells a KILL that was due from that one.
const AT_ONCE: Duration = Duration::from_millis(500);

#[test]
fn owner_killed_during_a_stop() {
    for_each(&Death::ALL, |scene, mut doomed| {
        // Beside it a group that nobody stops: when KILL comes for that one, the grace of the owner is over.
        let witness = doomed.owner.spawn("stubborn sleeper");
        let witness = scene.seat(&witness, "sleeper");
        let started = doomed.owner.spawn("with defiant");
        let member = scene.seat(&started, "defiant");
        doomed.owner.must(&format!("bg stop {} 3600000", started.pid));
        // TERM has come, so the stop is under way, and the hour has begun.
        scene.seat(&started, "term");
        member.process.assert_alive("a member in its grace");

        let moment = doomed.die();

        let [witness, member] = ends_of([&witness.process, &member.process], moment);
        assert!(witness >= GRACE && member >= GRACE, "they had their grace: {witness:?}, {member:?}");
        assert!(member < witness + AT_ONCE, "{member:?} and not {witness:?}: its grace was the stop's");
    });
}

/// How long after the moment each of them was gone. Watched at once: a look at the first must not delay the second's.
fn ends_of<const COUNT: usize>(processes: [&Process; COUNT], moment: Instant) -> [Duration; COUNT] {
    thread::scope(|scope| {
        processes
            .map(|process| {
                scope.spawn(move || {
                    process.assert_gone_by(moment + SOON_GONE, "a group of the owner's");
                    moment.elapsed()
                })
            })
            .map(|watch| watch.join().expect("it is gone"))
    })
}
