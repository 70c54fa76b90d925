//! Who is in the groups, by one pass over all processes.
//!
//! A signal to a group succeeds when it reached one member, a zombie too: so whether anything *lives* in a group, and
//! whether we may signal it, is found out here. It costs milliseconds: asked only when signal 0 says there is somebody.
//!
//! By system calls, not from `/proc/PID/stat`: that file waits for an exec of its process to end (since Linux 6.18),
//! and an exec can hang for ever in a file system. A stranger's must not delay us.

use super::atomic::{AtomicU8, Ordering::Relaxed};
use super::kill;
use super::roster::SLOTS;
use super::state::{Index, SETTLED, Supervisor};
use super::{proc, sys};

const LIVES: u8 = 1;
const PERMITTED: u8 = 2;

static MEMBERS: [AtomicU8; SLOTS] = [const { AtomicU8::new(0) }; SLOTS];

fn found(index: Index) -> u8 {
    MEMBERS[index as usize].load(Relaxed)
}

/// Looks at the members of all groups.
#[inline(never)]
pub fn count(s: &Supervisor) {
    fill(s, 0);
    let mut complete = false;
    for pid in proc::processes() {
        complete |= pid == s.own_pid;
        if let Some(index) = s.find_group(sys::getpgid(pid), SETTLED)
            && lives(pid)
        {
            let bits = LIVES | if kill::is_permitted(pid) { PERMITTED } else { 0 };
            MEMBERS[index as usize].store(found(index) | bits, Relaxed);
        }
    }
    if !complete {
        // The directory cannot be read. What is not known is not taken for dead.
        fill(s, LIVES | PERMITTED);
    }
}

#[inline(never)]
fn fill(s: &Supervisor, bits: u8) {
    MEMBERS.iter().take(s.roster.used().len()).for_each(|place| place.store(bits, Relaxed));
}

/// Whether a task of the process runs: its pidfd is silent until the last one has ended.
fn lives(pid: i32) -> bool {
    let fd = sys::pidfd_open(pid);
    let lives = match fd {
        0.. => !sys::is_readable(fd),
        sys::ESRCH => false,
        _ => proc::living_task(pid).is_some(),
    };
    sys::close(fd);
    lives
}

/// At the last count there were zombies at most.
pub fn none_lives(index: Index) -> bool {
    found(index) & LIVES == 0
}

/// At the last count something lived, and all of it belonged to another user.
pub fn all_denied(index: Index) -> bool {
    found(index) == LIVES
}
