//! What the measurements must not exceed, as data. A ratio is ours divided by the peer's in the same run.

/// One limit.
pub struct Limit {
    /// The row it belongs to.
    pub key: &'static str,
    /// Nanoseconds, KiB, or a plain number.
    pub most: f64,
    /// What is compared with it.
    pub of: Of,
    /// Stable enough to be judged by the short run on a busy machine.
    pub in_short: bool,
}

/// Which column is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Ours divided by the peer's.
    Ratio,
    /// Our own figure.
    Ours,
}

/// A run that exceeds a limit by more than this fails. The limits themselves leave no room for noise.
pub const TOLERANCE: f64 = 1.10;

const US: f64 = 1e3;
const MS: f64 = 1e3 * US;

const fn ratio(key: &'static str, most: f64, in_short: bool) -> Limit {
    Limit { key, most, of: Of::Ratio, in_short }
}

const fn ours(key: &'static str, most: f64, in_short: bool) -> Limit {
    Limit { key, most, of: Of::Ours, in_short }
}

/// Times in nanoseconds, sizes in KiB.
pub const LIMITS: &[Limit] = &[
    ratio("spawn/10MB", 0.8, true),
    ratio("spawn/1GB", 0.8, false),
    ratio("own+release", 3.0, true),
    ours("recovery/p99", 2.0 * MS, false),
    ratio("death/1", 1.15, false),
    ratio("death/14", 1.15, true),
    ratio("death/100", 1.15, true),
    ours("death/1GB/worst", 20.0 * MS, false),
    ours("helper/rss/1", 32.0, true),
    ours("helper/rss/1000", 72.0, true),
    ours("helper/switches", 0.0, true),
    ours("helper/binary", 16.0, true),
];

/// The limit of a row, if it has one.
pub fn limit_of(key: &str) -> Option<&'static Limit> {
    LIMITS.iter().find(|limit| limit.key == key)
}
