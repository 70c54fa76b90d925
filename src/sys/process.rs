//! Small questions about processes and groups, and `waitid(2)` for our own children.

use super::{Errno, check, retry};

pub(crate) fn pid() -> i32 {
    // SAFETY: cannot fail.
    unsafe { libc::getpid() }
}

pub(crate) fn parent() -> i32 {
    // SAFETY: cannot fail.
    unsafe { libc::getppid() }
}

/// How many descriptors a process may raise its limit to.
pub(crate) fn most_descriptors() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a structure of this frame's.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_max
}

/// This thread's id.
pub(crate) fn tid() -> i32 {
    // SAFETY: cannot fail.
    unsafe { libc::gettid() }
}

/// Real and effective user.
pub(crate) fn users() -> [u32; 2] {
    // SAFETY: cannot fail.
    unsafe { [libc::getuid(), libc::geteuid()] }
}

/// The group of `pid`; 0 means this process.
pub(crate) fn group_of(pid: i32) -> Result<i32, Errno> {
    // SAFETY: a question.
    check(unsafe { libc::getpgid(pid) })
}

/// What the kernel says to a signal for a group, without sending one. EPERM: it exists, and no member may be signalled.
pub(crate) fn probe_group(pgid: i32) -> Result<(), Errno> {
    debug_assert!(pgid > 1, "0 and -1 mean something else");
    // SAFETY: signal 0 is a question.
    check(unsafe { libc::kill(-pgid, 0) }).map(|_| ())
}

/// kill(2) for a child that has not been reaped, whose number therefore is its own.
pub(crate) fn signal_child(pid: i32, signal: i32) -> Result<(), Errno> {
    debug_assert!(pid > 1, "0 and below mean many processes");
    // SAFETY: a signal to one child.
    check(unsafe { libc::kill(pid, signal) }).map(|_| ())
}

/// Waits for a child that never became a program. Accepts that somebody else (a `__WALL` waiter) was first.
pub(crate) fn reap(pid: i32) {
    let mut status = 0;
    // SAFETY: the kernel fills a local.
    let _ = retry(|| check(unsafe { libc::waitpid(pid, &mut status, libc::__WALL) }));
}

/// How a child ended, as the kernel tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// `CLD_EXITED`, `CLD_KILLED` or `CLD_DUMPED`.
    pub how: i32,
    /// Exit code or signal.
    pub code: i32,
}

/// Whether to wait, and whether to take the zombie away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Until it has ended; the zombie stays.
    BlockAndLeave,
    /// Look only.
    Peek,
    /// Take it away if it has ended.
    Take,
}

/// waitid(2) on one child. `Ok(None)`: it runs. ECHILD: not a child of ours (any more).
pub(crate) fn wait_child(pid: i32, how: Wait) -> Result<Option<Ended>, Errno> {
    let flags = match how {
        Wait::BlockAndLeave => libc::WNOWAIT,
        Wait::Peek => libc::WNOWAIT | libc::WNOHANG,
        Wait::Take => libc::WNOHANG,
    };
    // SAFETY: the kernel fills the structure, whose fields for a child are then valid; zeroed it says "nothing".
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        // A child that was killed before its exec has no exit signal yet: without __WALL it would not be seen.
        let flags = libc::WEXITED | libc::__WALL | flags;
        retry(|| check(libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, flags)))?;
        if info.si_pid() == 0 {
            return Ok(None);
        }
        Ok(Some(Ended { how: info.si_code, code: info.si_status() }))
    }
}

/// 128 bits from the kernel; `None` only where getrandom(2) is refused.
pub(crate) fn random_id() -> Option<[u64; 2]> {
    let mut id = [0u64; 2];
    let n = retry(|| {
        // SAFETY: 16 bytes of a local.
        let n = unsafe { libc::getrandom(id.as_mut_ptr().cast(), 16, 0) };
        check(n as libc::c_int)
    });
    (n == Ok(16)).then_some(id)
}

/// fork(2): a copy of this process that holds everything it inherited and sleeps for ever.
pub(crate) fn fork_sleeper() -> Result<i32, Errno> {
    // SAFETY: the copy makes one async-signal-safe call, again and again.
    unsafe {
        let pid = check(libc::fork())?;
        if pid == 0 {
            loop {
                libc::pause();
            }
        }
        Ok(pid)
    }
}
