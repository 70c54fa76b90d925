//! The processes of a measurement, and that none of them is left.
//!
//! Owners get SIGKILL when this program ends; their children die with them, ours by the supervisor, the peer's by
//! PR_SET_PDEATHSIG. Should that be broken, the mark in the environment finds what is left when the stage is taken
//! down, also after a panic.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::sys;

const MARK: &str = "HERMES_BENCH";

pub struct Stage {
    home: tempfile::TempDir,
    token: String,
}

impl Stage {
    pub fn new() -> Stage {
        sys::no_core_files();
        sys::exact_timers();
        let home = tempfile::Builder::new().prefix("hermes-bench-").tempdir().expect("a temporary directory");
        let token = home.path().file_name().and_then(|name| name.to_str()).expect("a plain name").to_string();
        Stage { home, token }
    }

    /// Starts this program in a role.
    pub fn role(&self, words: &[&str]) -> Role {
        let mut command = Command::new("/proc/self/exe");
        command.arg("--role").args(words).env(MARK, &self.token).env_remove("HERMES_SPAWN");
        command.env("HERMES_HOME", self.home.path().join("home"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = sys::die_with_parent(&mut command, libc::SIGKILL, false).spawn().expect("start a role");
        let (said, told) = (child.stdout.take().expect("piped"), child.stdin.take().expect("piped"));
        Role { child, said: BufReader::new(said), told }
    }

    /// Kills whatever carries the mark, and says how much that was.
    fn sweep(&self) -> usize {
        let entry = format!("{MARK}={}", self.token);
        let carries = |pid: i32| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|&byte| byte == 0).any(|variable| variable == entry.as_bytes())
        };
        let own = fs::metadata("/proc/self").map(|own| own.uid()).unwrap_or(0);
        let mut found = 0;
        for pid in numbers_in("/proc").filter(|&pid| pid != std::process::id() as i32) {
            // Only what may be ours is read: a stranger's environment can block its reader.
            let ours = fs::metadata(format!("/proc/{pid}")).is_ok_and(|dir| dir.uid() == own);
            // Opened before the look, so that it is the looked-at process that is killed.
            let Some(pidfd) = sys::pidfd(pid).ok().filter(|_| ours && carries(pid)) else { continue };
            found += usize::from(sys::kill(&pidfd).is_ok() && !sys::await_end(&pidfd, 5000));
        }
        found
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.sweep() > 0 {
            eprintln!("some processes of this measurement could not be ended; they have {MARK}={}", self.token);
        }
    }
}

/// An owner, or whatever else was asked for, in a process of its own.
pub struct Role {
    child: Child,
    said: BufReader<ChildStdout>,
    told: ChildStdin,
}

impl Role {
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The next line it prints.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("read from a role");
        assert!(line.ends_with('\n'), "the role ended: {:?}", self.child.wait());
        line.trim_end().to_string()
    }

    pub fn ask(&mut self, line: &str) -> String {
        writeln!(self.told, "{line}").expect("tell a role");
        self.line()
    }

    pub fn numbers(&mut self) -> Vec<i32> {
        self.line().split_whitespace().map(|word| word.parse().expect("a pid")).collect()
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processes that are there when a measurement begins, each as a pidfd.
pub fn pidfds(pids: &[i32]) -> Vec<OwnedFd> {
    pids.iter().map(|&pid| sys::pidfd(pid).expect("a living process")).collect()
}

fn numbers_in(dir: impl AsRef<Path>) -> impl Iterator<Item = i32> {
    fs::read_dir(dir).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Voluntary and other context switches of a thread (a process's number is its main thread's): each wake-up is one.
pub fn switches(tid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
    Some(lines.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok()).sum())
}

/// Returns when none of these threads has run for `quiet`.
pub fn settle(tids: &[i32], quiet: Duration) {
    let sum = || tids.iter().filter_map(|&tid| switches(tid)).sum::<u64>();
    let (end, mut last, mut since) = (Instant::now() + Duration::from_secs(20), sum(), Instant::now());
    while since.elapsed() < quiet {
        assert!(Instant::now() < end, "they never come to rest: {tids:?}");
        thread::sleep(quiet / 4);
        let now = sum();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
}
