//! What the supervisor costs while nothing happens: memory, wake-ups, size.

use std::fs;
use std::time::Duration;

use crate::Effort;
use crate::figures::{count, kib};
use crate::report::Report;
use crate::stage::{Stage, settle, switches};

pub fn measure(stage: &Stage, effort: Effort, report: &mut Report) {
    for (key, groups) in [("helper/rss/1", 1), ("helper/rss/1000", 1000)] {
        let mut owner = stage.role(&["hold", "owned", &groups.to_string(), "0"]);
        let children = owner.numbers();
        let supervisor: i32 = owner.ask("supervisor").parse().expect("a pid");
        settle(&[children, vec![supervisor]].concat(), Duration::from_millis(100));
        let memory = |names: &[&str]| memory_kib(supervisor, names);
        report.add(key, format!("supervisor's RSS, {groups} groups"), memory(&["Rss:"]), None, kib);
        report.add("", "its PSS", memory(&["Pss:"]), None, kib);
        report.add("", "its private memory", memory(&["Private_Clean:", "Private_Dirty:"]), None, kib);
        if groups == 1 {
            let binary = fs::metadata(format!("/proc/{supervisor}/exe")).expect("the supervisor's program").len();
            report.add("helper/binary", "supervisor's program", binary as f64 / 1024.0, None, kib);
            continue;
        }
        let seconds = effort.rounds(60, 10);
        let before = switches(supervisor).expect("a supervisor");
        std::thread::sleep(Duration::from_secs(seconds as u64));
        let woken = switches(supervisor).expect("the same supervisor") - before;
        let what = format!("supervisor's context switches in {seconds} s, {groups} groups, nothing happens");
        report.add("helper/switches", what, woken as f64, None, count);
    }
}

/// The sum of some lines of `smaps_rollup`.
fn memory_kib(pid: i32, names: &[&str]) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("smaps_rollup of our own process");
    let value = |line: &str| {
        let mut words = line.split_whitespace();
        names.contains(&words.next()?).then(|| words.next()?.parse::<f64>().ok())?
    };
    text.lines().filter_map(value).sum()
}
