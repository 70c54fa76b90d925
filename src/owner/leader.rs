//! The first process of a child's group, as a child of this process: how it ended, told once and remembered.
//!
//! The race: two threads wait, or a host's own `waitpid(-1)` was faster, and the number already belongs to another
//! child. So a waiter first waits *without* reaping, then takes the lock, looks whether the zombie is the process that
//! was started (its start lies between two clock readings around the clone), and only then reaps.

use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::lock;
use crate::error::{Error, Result};
use crate::identity::{self, Who};
use crate::sys::process::{self, Ended, Wait};
use crate::sys::{Errno, futex, pidfd, time};

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It called `exit` with this code, 0 to 255.
    Exited(i32),
    /// A signal ended it.
    Signalled {
        /// The signal's number.
        signal: i32,
        /// Whether the kernel wrote a core file.
        core_dumped: bool,
    },
    /// It has ended, and somebody else took the status (a `waitpid(-1)` of the host, SIGCHLD ignored). Never 0 by guess.
    Unknown,
}

impl ExitStatus {
    /// Whether it exited with code 0.
    pub fn success(self) -> bool {
        self == ExitStatus::Exited(0)
    }

    /// The same in numbers that never change their meaning.
    pub(crate) fn record(self) -> ExitRecord {
        let (kind, code, core_dumped) = match self {
            ExitStatus::Exited(code) => (0, code, 0),
            ExitStatus::Signalled { signal, core_dumped } => (1, signal, core_dumped.into()),
            ExitStatus::Unknown => (2, 0, 0),
        };
        ExitRecord { kind, code, core_dumped }
    }
}

/// What an exit descriptor delivers, after its size.
pub(crate) struct ExitRecord {
    pub kind: i32,
    pub code: i32,
    pub core_dumped: u32,
}

impl ExitRecord {
    /// `u32 size; i32 kind; i32 code; u32 core_dumped`, in native byte order.
    pub(crate) fn to_bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (place, word) in bytes.chunks_exact_mut(4).zip([16, self.kind as u32, self.code as u32, self.core_dumped]) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

impl From<Ended> for ExitStatus {
    fn from(ended: Ended) -> ExitStatus {
        match ended.how {
            libc::CLD_EXITED => ExitStatus::Exited(ended.code),
            how => ExitStatus::Signalled { signal: ended.code, core_dumped: how == libc::CLD_DUMPED },
        }
    }
}

pub(crate) struct Leader {
    pub pid: i32,
    /// CLOCK_BOOTTIME in ns before and after the clone.
    born: [u64; 2],
    /// Its pidfs inode; 0: not known.
    inode: u64,
    status: Mutex<Option<ExitStatus>>,
    /// Futex: 1 once the watcher has seen it end.
    ended: AtomicU32,
}

impl Leader {
    pub(crate) fn new(pid: i32, born: [u64; 2], inode: u64) -> Leader {
        Leader { pid, born, inode, status: Mutex::new(None), ended: AtomicU32::new(0) }
    }

    /// How it ended, if that was learnt already.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        *lock(&self.status)
    }

    /// A pidfd of it. ESRCH: its number is another's by now, or nobody's. Another error says nothing: none is to be had.
    pub(crate) fn open(&self) -> std::result::Result<OwnedFd, Errno> {
        let pidfd = pidfd::open(self.pid)?;
        // The order matters: a pidfd that was opened before the look is of the process that was looked at. Where there is
        // an inode, nothing waits: while the program hangs in an exec of its own, its `stat` does.
        let inode = if self.inode == 0 { None } else { pidfd::inode(&pidfd).ok() };
        let is_it = inode.map_or_else(|| self.has_its_start(), |inode| inode == self.inode);
        if is_it { Ok(pidfd) } else { Err(libc::ESRCH) }
    }

    /// Whether its number still means the process that was started (running, or a zombie of ours).
    pub(crate) fn is_still_itself(&self) -> bool {
        if self.inode == 0 {
            return self.has_its_start();
        }
        match self.open() {
            Ok(_) => true,
            Err(libc::ESRCH) => false,
            Err(_) => self.has_its_start(),
        }
    }

    /// Whether what has its number now started when it did.
    fn has_its_start(&self) -> bool {
        match identity::look(self.pid) {
            // A tick is 10 ms, and /proc rounds down.
            Who::Process(stat) => {
                let born = self.born.map(|ns| ns / time::TICK_NS);
                (born[0]..=born[1]).contains(&stat.start_ticks)
            }
            Who::Nobody => false,
            // Without /proc there is nothing better than the number.
            Who::Unknown => true,
        }
    }

    /// Reaps it if it has ended. `None`: it runs.
    pub(crate) fn collect(&self) -> Result<Option<ExitStatus>> {
        let mut status = lock(&self.status);
        if status.is_some() {
            return Ok(*status);
        }
        let ended = match process::wait_child(self.pid, Wait::Peek) {
            Ok(None) if self.is_still_itself() => return Ok(None),
            // Our number, another child: the host has reaped ours.
            Ok(None) => ExitStatus::Unknown,
            Ok(Some(_)) if !self.is_still_itself() => ExitStatus::Unknown,
            Ok(Some(_)) => match process::wait_child(self.pid, Wait::Take) {
                Ok(Some(ended)) => ended.into(),
                Ok(None) | Err(libc::ECHILD) => ExitStatus::Unknown,
                Err(errno) => return Err(Error::os("waitid", errno)),
            },
            Err(libc::ECHILD) => ExitStatus::Unknown,
            Err(errno) => return Err(Error::os("waitid", errno)),
        };
        *status = Some(ended);
        Ok(*status)
    }

    /// Whether it has ended; it is not reaped.
    pub(crate) fn has_ended(&self) -> bool {
        self.status().is_some() || process::wait_child(self.pid, Wait::Peek) != Ok(None) || !self.is_still_itself()
    }

    /// Waits for its end, however long, and reaps it.
    pub(crate) fn collect_blocking(&self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.collect()? {
                return Ok(status);
            }
            // The kernel holds on to the process it found, so a number that changes hands meanwhile ends this with
            // ECHILD, which the next round understands.
            match process::wait_child(self.pid, Wait::BlockAndLeave) {
                Ok(_) | Err(libc::ECHILD) => {}
                Err(errno) => return Err(Error::os("waitid", errno)),
            }
        }
    }

    /// Sends a signal to this one process.
    pub(crate) fn signal(&self, signal: i32) -> std::result::Result<(), Errno> {
        let status = lock(&self.status);
        if status.is_some() {
            return Err(libc::ESRCH);
        }
        match self.open() {
            Ok(pidfd) => pidfd::signal(&pidfd, signal),
            Err(libc::ESRCH) => Err(libc::ESRCH),
            // None is to be had. Until it is reaped, its number is nobody else's, and we do not reap it now.
            Err(_) if self.has_its_start() => process::signal_child(self.pid, signal),
            Err(_) => Err(libc::ESRCH),
        }
    }

    /// The watcher saw it end.
    pub(crate) fn note_end(&self) {
        self.ended.store(1, Ordering::SeqCst);
        futex::wake(&self.ended);
    }

    /// Waits until the watcher has seen it end; false when the deadline is over.
    pub(crate) fn await_end(&self, deadline: std::time::Instant) -> bool {
        futex::wait_until(&self.ended, Some(deadline), |ended| ended == 1)
    }
}
