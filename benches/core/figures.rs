//! Samples, and what is said of them.

use std::time::Duration;

/// Measured times, in nanoseconds.
#[derive(Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn push(&mut self, time: Duration) {
        self.0.push(time.as_nanos() as f64);
    }

    /// What a role printed: whole nanoseconds, separated by spaces.
    pub fn parse(line: &str) -> Samples {
        Samples(line.split_whitespace().map(|word| word.parse().expect("a number of nanoseconds")).collect())
    }

    pub fn line(&self) -> String {
        self.0.iter().map(|ns| format!("{ns:.0}")).collect::<Vec<_>>().join(" ")
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn median(&self) -> f64 {
        self.percentile(50.0)
    }

    pub fn worst(&self) -> f64 {
        self.percentile(100.0)
    }

    /// Nearest rank: a value that was really measured.
    pub fn percentile(&self, percent: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted[rank.clamp(1, sorted.len()) - 1]
    }
}

/// Nanoseconds for people.
pub fn time(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}

/// Memory comes in whole pages, files do not.
pub fn kib(kib: f64) -> String {
    if kib.fract() == 0.0 { format!("{kib:.0} KiB") } else { format!("{kib:.1} KiB") }
}

pub fn count(number: f64) -> String {
    format!("{number:.0}")
}
