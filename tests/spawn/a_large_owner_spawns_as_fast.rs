//! The cost of a spawn does not grow with the owner's memory.

use super::support::{Owner, Scene, within};
use std::time::Duration;

/// In microseconds.
fn median_spawn(owner: &mut Owner) -> f64 {
    let times = owner.must("spawn-times 101");
    let mut times: Vec<u64> = times.as_array().expect("a list").iter().filter_map(|t| t.as_u64()).collect();
    times.sort_unstable();
    times[times.len() / 2] as f64
}

#[test]
fn with_two_gibibytes_the_median_is_within_one_and_a_half_of_a_small_owners() {
    let scene = Scene::new();
    let (mut small, mut large) = (scene.owner(), scene.owner());
    large.must("touch 2048");
    // The first ones start a supervisor and fill caches.
    let _ = [&mut small, &mut large].map(median_spawn);
    let mut seen = Vec::new();
    // Side by side, and again when a busy machine came between: a cost that grows with memory is a hundredfold.
    let fast = within(Duration::from_secs(15), || {
        let (small, large) = (median_spawn(&mut small), median_spawn(&mut large));
        seen.push((small, large));
        large <= 1.5 * small
    });
    assert!(fast, "small and large owner, microseconds: {seen:?}");
}
