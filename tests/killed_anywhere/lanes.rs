//! The same experiment for one number after another, in a few lanes at once: most of the time of a run is a wait.

use super::support::soak;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Runs `lane` in so many threads; each is given the source of numbers, 1 and up, until one of them says it is enough.
pub fn run(count: usize, lane: impl Fn(&Numbers) + Sync) {
    let numbers = Numbers { next: AtomicU64::new(1), over: AtomicBool::new(false) };
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..count)
            .map(|_| {
                scope.spawn(|| {
                    // A lane that fails ends the others.
                    let _bell = OverOnPanic(&numbers);
                    lane(&numbers);
                })
            })
            .collect();
        for lane in lanes {
            if let Err(panic) = lane.join() {
                numbers.finish();
                std::panic::resume_unwind(panic);
            }
        }
    });
}

pub struct Numbers {
    next: AtomicU64,
    over: AtomicBool,
}

impl Numbers {
    pub fn next(&self) -> Option<u64> {
        (!self.over.load(Ordering::SeqCst)).then(|| self.next.fetch_add(1, Ordering::SeqCst))
    }

    pub fn finish(&self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

struct OverOnPanic<'a>(&'a Numbers);

impl Drop for OverOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.finish();
        }
    }
}

/// Which numbers of a long range are tried: all of them in the soak, else a part that a seed chooses.
/// `HERMES_SPAWN_SEED=N` repeats a choice.
pub struct Sample {
    pub seed: u64,
    one_in: u64,
}

impl Sample {
    pub fn one_in(one_in: u64) -> Sample {
        let given = std::env::var("HERMES_SPAWN_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        Sample { seed, one_in: if soak() { 1 } else { one_in } }
    }

    pub fn takes(&self, number: u64) -> bool {
        self.random(number).is_multiple_of(self.one_in)
    }

    /// A number that seed and position determine (splitmix64).
    pub fn random(&self, position: u64) -> u64 {
        let mut x = self.seed.wrapping_add(position.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.one_in {
            1 => write!(f, "every one"),
            n => write!(f, "one in {n}, seed {}", self.seed),
        }
    }
}
