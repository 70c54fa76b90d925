//! The same experiment for one number after another, in a few lanes at once: most of the time of a run is a wait.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// So many numbers in a row must lie beyond the last stop before a range is over: how many stops a life has differs
/// from run to run, with the turns that its threads take.
const BEYOND: usize = 12;

/// Runs `lane` in so many threads; each is given the source of numbers, 1 and up, until one of them says it is enough.
pub fn run(count: usize, lane: impl Fn(&Numbers) + Sync) {
    let numbers = Numbers { next: AtomicU64::new(1), over: AtomicBool::new(false), range: Mutex::default() };
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
    range: Mutex<Range>,
}

/// What is known of a range whose end only trying tells.
#[derive(Default)]
struct Range {
    last_within: u64,
    beyond: Vec<u64>,
}

impl Numbers {
    pub fn next(&self) -> Option<u64> {
        (!self.over.load(Ordering::SeqCst)).then(|| self.next.fetch_add(1, Ordering::SeqCst))
    }

    /// The life had a stop of this number.
    pub fn within(&self, number: u64) {
        let mut range = self.range.lock().expect("range");
        range.last_within = range.last_within.max(number);
        let last_within = range.last_within;
        range.beyond.retain(|&beyond| beyond > last_within);
    }

    /// The life was over before.
    pub fn beyond(&self, number: u64) {
        let mut range = self.range.lock().expect("range");
        if number > range.last_within {
            range.beyond.push(number);
        }
        if range.beyond.len() >= BEYOND {
            self.finish();
        }
    }

    fn finish(&self) {
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

/// Moments chosen at random, all of them by one number. `HERMES_SPAWN_SEED=N` repeats a choice.
pub struct Seed(pub u64);

impl Seed {
    pub fn new() -> Seed {
        let given = std::env::var("HERMES_SPAWN_SEED").ok().and_then(|seed| seed.parse().ok());
        Seed(given.unwrap_or_else(|| RandomState::new().build_hasher().finish()))
    }

    /// A number that seed and position determine (splitmix64).
    pub fn random(&self, position: u64) -> u64 {
        let mut x = self.0.wrapping_add(position.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}
