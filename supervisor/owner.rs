//! Whether the owner is really gone.
//!
//! The end of one lifeline is the end of one of the owner's two threads. Nearly always the whole process ends, but a
//! seccomp filter can kill a single thread, and then a living owner would lose its children. So one more sign is asked
//! for: the other lifeline's end, the owner's pidfd, or the other thread seen on its way out, which is all that can be
//! seen while that thread frees gigabytes of memory, long before it closes anything.

use super::atomic::Ordering::SeqCst;
use super::roster::mode;
use super::state::Supervisor;
use super::{proc, sys};

pub fn is_gone(s: &Supervisor) -> bool {
    let header = &s.roster.header;
    if s.owner_gone {
        return true;
    }
    if header.mode.load(SeqCst) != mode::PRIVATE_TABLES {
        // The one pipe end stands in the host's own table: anybody may have closed it.
        return false;
    }
    match s.ended {
        0 => false,
        1 => is_exiting(s, header.watcher_tid.load(SeqCst)),
        2 => is_exiting(s, header.keeper_tid.load(SeqCst)),
        _ => true,
    }
}

/// Only our own two threads are asked: any other may end at any time, and the main thread may have left by
/// `pthread_exit` long ago and look like this ever since.
fn is_exiting(s: &Supervisor, task: i32) -> bool {
    proc::is_without_memory(s.owner_pid, task)
}

/// Nothing can be registered any more: every thread of the program image that owned the roster has ended.
pub fn is_settled(s: &Supervisor) -> bool {
    // After an exec the process lives on, as something else, and its pidfd stays silent.
    s.owner_gone || (s.ended == 3 && !proc::is_without_memory(s.owner_pid, s.owner_pid))
}

/// How far our clock for start times is from the owner's: `unshare(CLONE_NEWTIME)` shifts it for children.
pub fn tick_shift(s: &Supervisor) -> i64 {
    let theirs = s.roster.header.owner_start.load(SeqCst);
    match proc::stat(s.owner_pid) {
        // Still the owner's line and not its successor's: its pidfd is asked after.
        Some(stat) if theirs != 0 && !sys::is_readable(super::roster::fds::OWNER) => {
            stat.start_ticks as i64 - theirs as i64
        }
        _ => 0,
    }
}
