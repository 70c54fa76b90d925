//! A process as /proc shows it: what anybody can see from outside.

use std::collections::BTreeMap;
use std::fs;

/// The library's two threads.
pub const OUR_THREADS: [&str; 2] = ["spawn-keeper", "spawn-watcher"];

fn numbers_in(dir: &str) -> Vec<i32> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{dir}: {error}")).flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Descriptors and what they are.
pub fn descriptors(pid: i32) -> BTreeMap<i32, String> {
    let dir = format!("/proc/{pid}/fd");
    let target = |fd: i32| fs::read_link(format!("{dir}/{fd}")).map(|path| path.display().to_string());
    numbers_in(&dir).into_iter().map(|fd| (fd, target(fd).unwrap_or_default())).collect()
}

/// A field of a `status` file: the first word after the name.
pub fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()).unwrap_or_else(|| panic!("{path}: no {name}")).to_string()
}

/// A set of signals in a `status` file: bit 0 is signal 1.
pub fn signals(path: &str, name: &str) -> u64 {
    u64::from_str_radix(&field(path, name), 16).expect("a set of signals")
}

/// The names of its threads, by number.
pub fn threads(pid: i32) -> BTreeMap<i32, String> {
    let name = |tid: i32| fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
    numbers_in(&format!("/proc/{pid}/task")).into_iter().map(|tid| (tid, name(tid).trim_end().to_string())).collect()
}

/// Its children, zombies too, whichever thread started them.
pub fn children(pid: i32) -> Vec<i32> {
    let of_thread = |tid: i32| fs::read_to_string(format!("/proc/{pid}/task/{tid}/children")).unwrap_or_default();
    let text: String = threads(pid).into_keys().map(of_thread).collect();
    text.split_whitespace().map(|word| word.parse().expect("a pid")).collect()
}

/// A line of `smaps_rollup`, in KiB.
pub fn memory_kib(pid: i32, name: &str) -> u64 {
    field(&format!("/proc/{pid}/smaps_rollup"), name).parse().expect("a number of KiB")
}
