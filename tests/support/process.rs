//! Processes as a test sees them from outside: through a pidfd and /proc, never by a bare number.

use super::sys;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};
use std::{fs, io};

/// One line of /proc/PID/stat. The tests read it with code of their own: a parser that judged itself proves nothing.
#[derive(Clone, Debug)]
pub struct Stat {
    /// The name: at most 15 bytes, of any kind.
    pub name: Vec<u8>,
    pub state: char,
    pub ppid: i32,
    pub pgrp: i32,
    pub session: i32,
    pub threads: i32,
    pub start_ticks: u64,
}

impl Stat {
    pub fn of(pid: i32) -> Option<Stat> {
        Stat::read(&format!("/proc/{pid}/stat"))
    }

    fn read(path: &str) -> Option<Stat> {
        let line = fs::read(path).ok()?;
        let name_end = line.iter().rposition(|&c| c == b')')?;
        let rest = std::str::from_utf8(&line[name_end + 1..]).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |i: usize| fields.get(i)?.parse::<i64>().ok();
        let name_begin = line.iter().position(|&c| c == b'(')? + 1;
        Some(Stat {
            name: line[name_begin..name_end].to_vec(),
            state: fields.first()?.chars().next()?,
            ppid: number(1)? as i32,
            pgrp: number(2)? as i32,
            session: number(3)? as i32,
            threads: number(17)? as i32,
            start_ticks: number(19)? as u64,
        })
    }

    /// Neither a zombie nor dead.
    pub fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// What can be asked of anybody: reading the stat line of a process that hangs in an exec waits for that exec (since
/// Linux 6.18), reading this never does.
#[derive(Clone, Debug)]
pub struct Glance {
    /// The name; a line feed and a backslash in it are shown escaped.
    pub name: Vec<u8>,
    pub state: char,
    pub ppid: i32,
    pub pgrp: i32,
}

impl Glance {
    pub fn at(pid: i32) -> Option<Glance> {
        let text = fs::read(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &[u8]| text.split(|&c| c == b'\n').find_map(|line| line.strip_prefix(name));
        Some(Glance {
            name: field(b"Name:\t")?.to_vec(),
            state: field(b"State:\t")?.first().copied()?.into(),
            ppid: std::str::from_utf8(field(b"PPid:\t")?).ok()?.parse().ok()?,
            pgrp: sys::group_of(pid)?,
        })
    }

    /// Neither a zombie nor dead.
    pub fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// A process that a test has met, and can tell from a later one with the same number.
#[derive(Debug)]
pub struct Process {
    pub pid: i32,
    pub start_ticks: u64,
    /// `None`: it was gone before a pidfd could be opened.
    pidfd: Option<OwnedFd>,
}

impl Process {
    /// The process that has this number now.
    pub fn open(pid: i32) -> Option<Process> {
        let pidfd = sys::pidfd_open(pid).ok()?;
        // Read after the pidfd was opened; if the pidfd's process still exists then, the line is its own.
        let start_ticks = Stat::of(pid)?.start_ticks;
        match sys::pidfd_signal(pidfd.as_fd(), 0) {
            Err(e) if e.raw_os_error() != Some(libc::EPERM) => return None,
            _ => {}
        }
        Some(Process { pid, start_ticks, pidfd: Some(pidfd) })
    }

    /// The process that said about itself that it has this number and started then; it may be gone by now.
    pub fn met(pid: i32, start_ticks: u64) -> Process {
        match Process::open(pid) {
            Some(found) if found.start_ticks == start_ticks => found,
            _ => Process { pid, start_ticks, pidfd: None },
        }
    }

    pub fn stat(&self) -> Option<Stat> {
        Stat::of(self.pid).filter(|stat| stat.start_ticks == self.start_ticks)
    }

    /// No thread of it is in a state other than Z or X. The main thread's own line is not enough: a process whose main
    /// thread has exited looks like a zombie and is alive.
    pub fn is_gone(&self) -> bool {
        if self.stat().is_none() {
            return true;
        }
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", self.pid)) else { return true };
        let alive =
            tasks.flatten().filter_map(|task| Stat::read(task.path().join("stat").to_str()?)).any(|task| task.runs());
        // The number may have passed to somebody else between the two looks.
        !alive || self.stat().is_none()
    }

    pub fn is_alive(&self) -> bool {
        !self.is_gone()
    }

    /// Waits on the pidfd, which speaks when the last thread has ended. False: it lives on at the deadline.
    pub fn gone_by(&self, deadline: Instant) -> bool {
        if let Some(pidfd) = &self.pidfd {
            sys::poll_readable(&[pidfd.as_raw_fd()], deadline);
        }
        self.is_gone()
    }

    #[track_caller]
    pub fn assert_gone_by(&self, deadline: Instant, who: &str) {
        assert!(self.gone_by(deadline), "{who} (pid {}) lives: {:?}", self.pid, self.stat());
    }

    #[track_caller]
    pub fn assert_alive(&self, who: &str) {
        assert!(self.is_alive(), "{who} (pid {}) is gone", self.pid);
    }

    /// For a canary: it lives, and nobody has sent it anything.
    #[track_caller]
    pub fn assert_untouched(&self, who: &str) {
        let pending = self.pending_signals();
        // Asked afterwards: of one that has gone nothing is read.
        self.assert_alive(who);
        assert_eq!(pending, 0, "{who} (pid {}) was signalled: a mask of {pending:#x}", self.pid);
    }

    /// To the process itself, through its pidfd. One that is gone gets nothing, and nobody else does.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        match &self.pidfd {
            Some(pidfd) => sys::pidfd_signal(pidfd.as_fd(), signal),
            None => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }

    /// To the group that it leads.
    pub fn signal_group(&self, signal: i32) -> io::Result<()> {
        match self.stat() {
            Some(stat) if stat.pgrp == self.pid => sys::kill(-self.pid, signal),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }

    /// Waits until its main thread is in this state (`T` stopped, `Z` ...).
    #[track_caller]
    pub fn until_state(&self, state: char) {
        super::eventually(super::deadline::SOON, &format!("pid {} in state {state}", self.pid), || {
            self.stat().is_some_and(|stat| stat.state == state)
        });
    }

    /// Signals that wait for the whole process, as a bit mask (bit 0 is signal 1). A process that blocks everything
    /// keeps here whatever anybody sent it: see the shape `canary`.
    pub fn pending_signals(&self) -> u64 {
        status_field(self.pid, "ShdPnd:").and_then(|hex| u64::from_str_radix(&hex, 16).ok()).unwrap_or(0)
    }

    /// What its descriptors point at: (number, link).
    pub fn descriptors(&self) -> Vec<(i32, String)> {
        descriptors(&format!("/proc/{}/fd", self.pid))
    }

    /// Its threads.
    pub fn tasks(&self) -> Vec<i32> {
        numbers_in(&format!("/proc/{}/task", self.pid))
    }
}

/// What the descriptors in this folder (`/proc/PID/fd`, `/proc/PID/task/TID/fd`) point at.
pub fn descriptors(folder: &str) -> Vec<(i32, String)> {
    let mut found: Vec<(i32, String)> = numbers_in(folder)
        .into_iter()
        .filter_map(|fd| Some((fd, fs::read_link(format!("{folder}/{fd}")).ok()?.to_string_lossy().into_owned())))
        .collect();
    found.sort();
    found
}

/// One field of /proc/PID/status.
pub fn status_field(pid: i32, name: &str) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/status")).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_string()))
}

/// The entries of a folder that are numbers: processes in /proc, threads in task, descriptors in fd.
pub fn numbers_in(folder: &str) -> Vec<i32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// Members of this group that run.
pub fn group_members(pgid: i32) -> Vec<i32> {
    let member = |pid: &i32| Glance::at(*pid).is_some_and(|found| found.pgrp == pgid && found.runs());
    numbers_in("/proc").into_iter().filter(member).collect()
}

/// The supervisor of this owner, found as anybody could: by its command line.
pub fn supervisor_of(owner_pid: i32) -> Option<Process> {
    supervisors().into_iter().find(|(owner, _)| *owner == owner_pid).map(|(_, supervisor)| supervisor)
}

/// All supervisors that run, with the owner that each one names. Candidates are chosen by what can be read of anybody:
/// reading a stranger's command line can block for ever.
pub fn supervisors() -> Vec<(i32, Process)> {
    let look = |pid: i32| {
        let found = Glance::at(pid)?;
        // Before Linux 6.14 a program that has no path is named after its descriptor, or after its memfd.
        let unnamed = found.name.starts_with(b"memfd:") || found.name.iter().all(u8::is_ascii_digit);
        let leads = found.pgrp == pid && sys::session_of(pid) == Some(pid);
        if !(unnamed || found.name == b"spawn-superviso") || !leads || !found.runs() {
            return None;
        }
        let argv = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let owner = argv.strip_prefix(b"spawn-supervisor\0")?.strip_suffix(b"\0")?;
        Some((std::str::from_utf8(owner).ok()?.parse().ok()?, Process::open(pid)?))
    };
    numbers_in("/proc").into_iter().filter_map(look).collect()
}

/// Whether anybody could listen on this address again.
pub fn address_is_free(address: SocketAddr) -> bool {
    TcpListener::bind(address).is_ok()
}

/// All of them gone, and their ports free, by then.
#[track_caller]
pub fn assert_all_gone(seats: &[&super::Seat], within: Duration, what: &str) {
    let deadline = Instant::now() + within;
    for seat in seats {
        seat.process.assert_gone_by(deadline, &format!("{what}: {}", seat.role));
        if let Some(address) = seat.address {
            assert!(address_is_free(address), "{what}: {address} of {} is still taken", seat.role);
        }
    }
}
