//! When who must be gone, counted from the owner's death.

use super::support::{Owner, Process, Seat};
use std::time::{Duration, Instant};

pub const GRACE: Duration = Duration::from_millis(600);
/// A debug build on a loaded machine.
pub const SLACK: Duration = Duration::from_millis(2_000);

pub fn configure(owner: &mut Owner) {
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
}

/// The promise's end: nothing of the owner's is left, nor its supervisor.
#[track_caller]
pub fn assert_gone_in_time(killed_at: Instant, seats: &[&Seat], supervisor: &Process) {
    let deadline = killed_at + GRACE + Duration::from_secs(1) + SLACK;
    for seat in seats {
        seat.process.assert_gone_by(deadline, &format!("{} ({:?} after the kill)", seat.role, killed_at.elapsed()));
    }
    supervisor.assert_gone_by(deadline, &format!("the supervisor ({:?} after the kill)", killed_at.elapsed()));
}

/// Ended by TERM: long before the grace is over. Ended by KILL: not before it is over, and soon after.
#[track_caller]
pub fn assert_graces(killed_at: Instant, obedient: &Seat, stubborn: &Seat) {
    obedient.process.assert_gone_by(killed_at + GRACE, "what obeys TERM");
    assert!(killed_at.elapsed() < GRACE, "TERM came late: {:?}", killed_at.elapsed());
    stubborn.process.assert_gone_by(killed_at + GRACE + SLACK, "what ignores TERM");
    assert!(killed_at.elapsed() >= GRACE, "KILL came early: {:?}", killed_at.elapsed());
}
