//! Waiting with a deadline, and saying what was waited for.

use std::time::{Duration, Instant};

/// Long enough for anything that is not itself the claim under test, on a loaded machine with two cores.
pub const SOON: Duration = Duration::from_secs(20);

/// Polls until `ready` holds; fails the test with `what` when the deadline comes first. For what has no descriptor to
/// wait on: states in /proc, ports, files.
#[track_caller]
pub fn eventually(deadline: Duration, what: &str, mut ready: impl FnMut() -> bool) {
    assert!(within(deadline, &mut ready), "not within {deadline:?}: {what}");
}

/// Polls until `ready` holds (true) or the deadline has come (false). `ready` is asked once more at the very end.
pub fn within(deadline: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + deadline;
    let mut pause = Duration::from_micros(200);
    loop {
        let last = Instant::now() >= end;
        if ready() {
            return true;
        }
        if last {
            return false;
        }
        std::thread::sleep(pause.min(end.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// As [`eventually`], for a value.
#[track_caller]
pub fn eventually_some<T>(deadline: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    eventually(deadline, what, || {
        found = look();
        found.is_some()
    });
    found.expect("just seen")
}
