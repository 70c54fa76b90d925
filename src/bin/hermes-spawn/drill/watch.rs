//! What became of a process, by its number and start time.
//!
//! Read from `/proc/PID/stat` every millisecond. A pidfd would tell the moment itself, but opening one takes an unsafe
//! block or another dependency here, and a millisecond is finer than anything the drill claims. The pair of number and
//! start time cannot be mistaken for a stranger that got the number later, which is what the pidfd would be for.

#[path = "../../../../supervisor/stat.rs"]
#[allow(dead_code, missing_docs)]
mod stat;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
pub use stat::Stat;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

/// A process that has announced itself.
#[derive(Clone, Debug)]
pub struct Process {
    pub pid: i32,
    /// `None`: it was gone before it could be looked at.
    start_ticks: Option<u64>,
    pub port: Option<u16>,
}

impl Process {
    pub fn new(pid: i32, port: Option<u16>) -> Process {
        let start_ticks = read(&stat_of(pid)).map(|stat| stat.start_ticks);
        Process { pid, start_ticks, port }
    }

    /// `None`: it is gone; if the number exists, somebody else has it.
    pub fn stat(&self) -> Option<Stat> {
        read(&stat_of(self.pid)).filter(|stat| Some(stat.start_ticks) == self.start_ticks)
    }

    /// Whether any of it runs. A zombie that nobody fetches is gone; a process whose main thread alone has ended looks
    /// like a zombie and is not.
    pub fn runs(&self) -> bool {
        let Some(stat) = self.stat() else { return false };
        stat.runs() || self.tasks().iter().any(Stat::runs)
    }

    fn tasks(&self) -> Vec<Stat> {
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", self.pid)) else { return Vec::new() };
        tasks.flatten().filter_map(|task| read(&task.path().join("stat"))).collect()
    }

    /// KILL, if it is still the same process.
    pub fn kill(&self) {
        if self.stat().is_some() {
            let _ = kill(Pid::from_raw(self.pid), Signal::SIGKILL);
        }
    }
}

/// Whether somebody could serve on this port now.
pub fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn stat_of(pid: i32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/stat"))
}

fn read(path: &Path) -> Option<Stat> {
    Stat::parse(&fs::read(path).ok()?)
}
