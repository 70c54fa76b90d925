//! Starting the program, and knowing what it has left behind.

use crate::support::deadline::{SOON, eventually_some};
use crate::support::process::{Process, numbers_in};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hermes-spawn");

pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null()).env("RUST_BACKTRACE", "1");
    command
}

/// A shell with the program as `$0`, for what only a shell can do.
pub fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, PROGRAM]).env("RUST_BACKTRACE", "1");
    command
}

/// Runs it to its end. Every test that fails by exit code wants to see the words.
pub fn output(arguments: &[&str]) -> Output {
    program(arguments).output().expect("start the program")
}

/// `run -- sh -c SCRIPT`.
pub fn run_shell(script: &str) -> Command {
    program(&["run", "--", "sh", "-c", script])
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An error for people: one or two lines, no backtrace, nothing of Rust's.
#[track_caller]
pub fn assert_plain_error(output: &Output) {
    let text = stderr(output);
    let lines = text.lines().count();
    assert!((1..=2).contains(&lines), "{lines} lines: {text}");
    assert!(text.starts_with("hermes-spawn: "), "{text}");
    assert!(!text.contains("panicked") && !text.to_lowercase().contains("backtrace"), "{text}");
}

/// A marker in the environment, by which everything that a command starts is found, wherever it has gone.
pub struct Family(String);

impl Family {
    pub fn of(command: &mut Command) -> Family {
        let marker = format!("HERMES_TEST_FAMILY={}", crate::support::sys::random_name());
        let (name, value) = marker.split_once('=').expect("just made");
        command.env(name, value);
        Family(marker)
    }

    /// Its members that run. A process whose main thread has just begun to exit has no environment any more.
    pub fn members(&self) -> Vec<Process> {
        let carries = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|entry| entry == self.0.as_bytes())
        };
        let pids = numbers_in("/proc").into_iter().filter(carries);
        pids.filter_map(Process::open).filter(Process::is_alive).collect()
    }

    /// The one member that runs this program and no other (`/proc/PID/comm`).
    #[track_caller]
    pub fn member(&self, comm: &str) -> Process {
        eventually_some(SOON, &format!("a process {comm}"), || {
            self.members().into_iter().find(|member| {
                fs::read_to_string(format!("/proc/{}/comm", member.pid)).is_ok_and(|name| name.trim() == comm)
            })
        })
    }
}

/// No member may outlive the test, whatever failed.
impl Drop for Family {
    fn drop(&mut self) {
        for member in self.members() {
            let _ = member.signal(libc::SIGKILL);
        }
    }
}

#[track_caller]
pub fn signal(child: &Child, signal: i32) {
    crate::support::sys::kill(child.id() as i32, signal).expect("signal the program");
}

#[track_caller]
pub fn assert_empty(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}
