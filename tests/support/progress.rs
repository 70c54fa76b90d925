//! How far a process has come, in memory that outlives it: a file of 64-bit words that both sides have mapped. Writing
//! to it is no system call, so it neither adds stops to a traced run nor is lost by a kill.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const WORDS: usize = 512;

pub struct Progress(&'static [AtomicU64]);

impl Progress {
    /// Maps the file, which is made if it is missing. The mapping stays for the life of the process.
    pub fn at(path: &Path) -> io::Result<Progress> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.set_len(WORDS as u64 * 8)?;
        // SAFETY: a new shared mapping of a file that is as long; atomic integers are valid with any bits.
        unsafe {
            let both = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(std::ptr::null_mut(), WORDS * 8, both, libc::MAP_SHARED, file.as_raw_fd(), 0);
            if at == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            Ok(Progress(std::slice::from_raw_parts(at.cast(), WORDS)))
        }
    }

    pub fn set(&self, word: usize, value: u64) {
        self.0[word].store(value, Ordering::SeqCst);
    }

    pub fn get(&self, word: usize) -> u64 {
        self.0[word].load(Ordering::SeqCst)
    }

    pub fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Ordering::SeqCst));
    }
}

/// What the words mean in the actor's dramas.
pub mod word {
    pub const ACT: usize = 0;
    /// Children whose spawn has returned.
    pub const SPAWNED: usize = 1;
    /// Pids of the family that is to be released, once they are in position.
    pub const FREE_LEADER: usize = 2;
    pub const FREE_ESCAPEE: usize = 3;
    pub const OTHERS: usize = 4;
    /// The call that took longest, by the act it led to.
    pub const SLOWEST_MS: usize = 5;
    pub const SLOWEST: usize = 6;
    /// The supervisor had nothing to do for ten seconds and stayed.
    pub const NOT_LET_GO: usize = 7;
    /// Races that were run; registrations that kept the supervisor, and that needed the next one.
    pub const ROUNDS: usize = 8;
    pub const KEPT: usize = 9;
    pub const REPLACED: usize = 10;
}

/// How far a drama has come.
pub mod act {
    pub const GRACE_MS: u64 = 30;

    pub const BEGUN: u64 = 1;
    pub const OWNING: u64 = 10;
    pub const OWNED: u64 = 11;
    pub const RELEASING: u64 = 12;
    pub const RELEASED: u64 = 13;
    pub const STOPPED: u64 = 14;

    pub const SPAWNED: u64 = 20;
    pub const LEADERLESS: u64 = 21;
    pub const WAITED: u64 = 22;
    pub const SIGNALLED: u64 = 23;
    pub const IDLE: u64 = 24;
    pub const COVERING: u64 = 25;
    pub const COVERED: u64 = 30;
    pub const FAILED: u64 = 31;
}
