//! What the figures were measured on: they mean nothing without it.

use std::fs::read_to_string;
use std::process::Command;

/// One line for the top of the table.
pub fn describe(short: bool) -> String {
    let cpu = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("").trim_matches([':', ' ', '\t']);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?");
    let date = Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]).output().map(|output| output.stdout);
    let date = String::from_utf8_lossy(&date.unwrap_or_default()).trim().to_string();
    let form = if short { ", short form: limits in parentheses are not judged" } else { "" };
    format!("{model}, {cores} cores, Linux {}, load {load}, {date}{form}", kernel.trim())
}
