//! Running test suites of other languages.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::announce;

/// A suite that has not ended by then hangs.
const LIMIT_SECONDS: &str = "600";

/// What package managers say when there is no registry.
const UNREACHABLE: [&str; 5] = [
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "No matching distribution found",
    "Failed to establish a new connection",
];

/// One suite at a time: they measure, and each of them has a machine's worth of processes.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ffi-tests").join(name)
}

/// The shared library that Cargo has built together with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let built = test.parent().expect("a folder").join("libhermes_spawn.so");
    assert!(built.is_file(), "{} is not there", built.display());
    built
}

/// A command in a folder of `ffi-tests` that uses the library, writes nothing beside the sources, and does not hang.
pub fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "5", LIMIT_SECONDS]).args(words).current_dir(folder).stdin(Stdio::null());
    command.env("HERMES_SPAWN_LIBRARY", library()).env("PYTHONDONTWRITEBYTECODE", "1").env_remove("HERMES_SPAWN");
    // For the suites to set: none of them may write into the home of whoever runs this.
    command.env("HERMES_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("home"));
    command
}

/// Runs it. Shows all that it said if it fails; passes its skips on if it does not.
#[track_caller]
pub fn must_run(mut command: Command) -> String {
    let (output, said) = run(&mut command);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    for skipped in said.lines().filter(|line| line.starts_with("SKIPPED")) {
        announce(skipped);
    }
    said
}

/// Runs an installation. False if that cannot be done for want of a package registry.
#[track_caller]
pub fn installed(mut command: Command) -> bool {
    let (output, said) = run(&mut command);
    if output.status.success() {
        return true;
    }
    assert!(UNREACHABLE.iter().any(|sign| said.contains(sign)), "{command:?}: {}\n{said}", output.status);
    false
}

pub fn run(command: &mut Command) -> (Output, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    (output, said)
}

/// The number behind `label` at the beginning of a line: how many tests a suite says it has run.
pub fn counted(said: &str, label: &str) -> u32 {
    let numbers = said.lines().filter_map(|line| line.strip_prefix(label)?.split_whitespace().next()?.parse().ok());
    numbers.max().unwrap_or(0)
}
