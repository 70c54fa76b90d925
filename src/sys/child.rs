//! What a new process does between `clone` and `exec`.
//!
//! It runs in its parent's memory, on a borrowed stack, while the parent's thread waits. So: raw system calls only (no
//! allocator, no lock, no errno, no cancellation), nothing is read but what the parent prepared, nothing is written but
//! the report and the slot's identity. All signals are blocked when it begins.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};

use super::Errno;
use super::environ::Block;
use super::raw::raw;

/// Where a standard stream of the child comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    /// Whatever the caller has there, closed if it is closed.
    Inherit,
    Null,
    Fd(i32),
}

/// The step a child failed in, by the name of its system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Step {
    Session = 1,
    Stdio,
    PassFd,
    CloseOthers,
    Terminal,
    Cwd,
    Exec,
    /// The process could not be made at all.
    Clone,
}

impl Step {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Step::Session => "setsid",
            Step::Stdio => "dup2",
            Step::PassFd => "fcntl",
            Step::CloseOthers => "close_range",
            Step::Terminal => "tty",
            Step::Cwd => "chdir",
            Step::Exec => "execve",
            Step::Clone => "clone",
        }
    }
}

/// Why a child could not be started. `index` tells which path, stream or descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    pub step: Step,
    pub errno: Errno,
    pub index: usize,
}

/// Everything the child needs, prepared by the parent before the clone.
pub(crate) struct Plan<'a> {
    /// NULL-terminated, as `execve` wants it.
    pub argv: &'a [*const c_char],
    pub environment: &'a Block<'a>,
    /// Paths to try, in order, as `execvp` does.
    pub programs: &'a [&'a CStr],
    pub cwd: Option<&'a CStr>,
    pub stdio: [Stream; 3],
    /// Descriptors from 3 on that the program gets under their own numbers.
    pub pass: &'a [i32],
    /// Descriptors from 3 on that are not closed before exec: `pass` and whatever else; ascending, no duplicates.
    pub keep: &'a [i32],
    /// A new session, else only a new process group.
    pub new_session: bool,
    /// Make the terminal on descriptor 0 the session's own, or the group its foreground.
    pub terminal: bool,
    /// Where to write who the child is; absent where the kernel has no pidfs or the memory is not shared.
    pub identity: Option<&'a AtomicU64>,
}

/// What the new process has of its parent's signal handlers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Handlers {
    /// The kernel set all that were caught to their default.
    Cleared,
    Inherited,
}

type Outcome = Result<(), Failure>;

fn at<T>(step: Step, index: usize, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| Failure { step, errno, index })
}

/// Becomes the program of the plan, or says why not.
///
/// # Safety
/// Only in a process made by `clone` that is alone on its stack, and that exits when this returns.
pub(super) unsafe fn become_program(plan: &Plan, handlers: Handlers) -> Failure {
    // SAFETY: forwarded; each of these touches only this process's own kernel state.
    match unsafe { prepare(plan, handlers) } {
        Err(failure) => failure,
        // SAFETY: the plan's arrays are NULL-terminated and outlive the call, as the parent waits.
        Ok(()) => unsafe { exec(plan) },
    }
}

unsafe fn prepare(plan: &Plan, handlers: Handlers) -> Outcome {
    // SAFETY: plain system calls on this process's own state; every pointer is to a local or into the plan.
    unsafe {
        if plan.new_session {
            // detached-spawn: ok - an owned child: the supervisor stops its session
            at(Step::Session, 0, raw!(libc::SYS_setsid))?;
        } else {
            // detached-spawn: ok - an owned child: the supervisor stops its group
            at(Step::Session, 1, raw!(libc::SYS_setpgid, 0, 0))?;
        }
        discard_pending_signals();
        connect_stdio(&plan.stdio)?;
        for (index, &fd) in plan.pass.iter().enumerate() {
            at(Step::PassFd, index, raw!(libc::SYS_fcntl, fd, libc::F_SETFD, 0))?;
        }
        at(Step::CloseOthers, 0, close_all_but(plan.keep))?;
        if let Some(identity) = plan.identity {
            identity.store(own_pidfs_inode(), Ordering::SeqCst);
        }
        if plan.terminal {
            at(Step::Terminal, 0, take_terminal(plan.new_session))?;
        }
        if let Some(cwd) = plan.cwd {
            at(Step::Cwd, 0, raw!(libc::SYS_chdir, cwd.as_ptr()))?;
        }
        // Handlers first, the mask second: a TERM that waits would run the host's handler in the host's memory.
        match handlers {
            Handlers::Cleared => [libc::SIGPIPE, libc::SIGCHLD].into_iter().for_each(|signal| default_signal(signal)),
            Handlers::Inherited => default_caught_signals(&[libc::SIGPIPE, libc::SIGCHLD]),
        }
        set_mask(0);
    }
    Ok(())
}

/// The inode of a pidfd names this process for the whole boot: the supervisor compares it before it ever signals.
/// 0 when no descriptor is left. The exec closes the pidfd, when nobody waits any more.
unsafe fn own_pidfs_inode() -> u64 {
    // SAFETY: `stat` is a plain structure of integers that the kernel fills; the descriptor is this process's own.
    unsafe {
        let Ok(pid) = raw!(libc::SYS_getpid) else { return 0 };
        let Ok(fd) = raw!(libc::SYS_pidfd_open, pid, 0) else { return 0 };
        let mut stat: libc::stat = core::mem::zeroed();
        let known = raw!(libc::SYS_fstat, fd, &raw mut stat);
        if known.is_ok() { stat.st_ino } else { 0 }
    }
}

unsafe fn connect_stdio(stdio: &[Stream; 3]) -> Outcome {
    let mut sources = [-1i32; 3];
    // SAFETY: system calls on this process's own descriptors.
    unsafe {
        for (target, stream) in stdio.iter().enumerate() {
            sources[target] = match *stream {
                Stream::Inherit => continue,
                // Above 2, or it would be overwritten before it is used.
                Stream::Fd(fd) if fd > 2 || fd as usize == target => fd,
                Stream::Fd(fd) => at(Step::Stdio, target, raw!(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, 3))? as i32,
                Stream::Null => at(Step::Stdio, target, open_null())?,
            };
        }
        for (target, &source) in sources.iter().enumerate() {
            if source < 0 {
                // Inherited, though the host may keep it close-on-exec (Node does). What is closed stays closed.
                let _ = raw!(libc::SYS_fcntl, target, libc::F_SETFD, 0);
            } else if source == target as i32 {
                at(Step::Stdio, target, raw!(libc::SYS_fcntl, source, libc::F_SETFD, 0))?;
            } else {
                at(Step::Stdio, target, raw!(libc::SYS_dup3, source, target, 0))?;
            }
        }
    }
    Ok(())
}

/// `/dev/null` on a descriptor above 2.
pub(super) unsafe fn open_null() -> Result<i32, Errno> {
    // SAFETY: a constant path; the descriptors are this process's own.
    unsafe {
        let flags = libc::O_RDWR | libc::O_CLOEXEC;
        let fd = raw!(libc::SYS_openat, libc::AT_FDCWD, c"/dev/null".as_ptr(), flags, 0)?;
        let high = raw!(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, 3);
        let _ = raw!(libc::SYS_close, fd);
        high.map(|fd| fd as i32)
    }
}

/// Closes everything from 3 on but `keep` (ascending): over the gaps, because the flag that would only mark them is
/// younger (5.11) than the kernels we run on.
pub(super) unsafe fn close_all_but(keep: &[i32]) -> Result<(), Errno> {
    let mut first = 3u32;
    // SAFETY: closes descriptors of this process's own, copied table.
    unsafe {
        for &fd in keep {
            if fd as u32 > first {
                close_range(first, fd as u32 - 1, keep)?;
            }
            first = fd as u32 + 1;
        }
        close_range(first, u32::MAX, keep)
    }
}

unsafe fn close_range(first: u32, last: u32, keep: &[i32]) -> Result<(), Errno> {
    // SAFETY: as above.
    unsafe {
        match raw!(libc::SYS_close_range, first, last, 0) {
            Ok(_) => Ok(()),
            // A seccomp filter older than the call: go by the directory instead.
            Err(libc::ENOSYS | libc::EPERM) => close_listed(first, last, keep),
            Err(errno) => Err(errno),
        }
    }
}

/// Closes what `/proc/self/fd` lists between `first` and `last`. Read again until a pass closes nothing: closing while
/// the directory is read may make the kernel skip entries.
unsafe fn close_listed(first: u32, last: u32, keep: &[i32]) -> Result<(), Errno> {
    // SAFETY: the buffer is local and its length is passed along; descriptors are this process's own.
    unsafe {
        loop {
            let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
            let dir = raw!(libc::SYS_openat, libc::AT_FDCWD, c"/proc/self/fd".as_ptr(), flags, 0)?;
            let mut closed = 0;
            let mut buffer = [0u8; 2048];
            loop {
                let length = raw!(libc::SYS_getdents64, dir, buffer.as_mut_ptr(), buffer.len())?;
                if length == 0 {
                    break;
                }
                let mut offset = 0;
                while let Some(entry) = buffer[..length].get(offset..).filter(|rest| rest.len() > 19) {
                    let record = u16::from_ne_bytes([entry[16], entry[17]]) as usize;
                    let name = &entry[19..];
                    if let Some(fd) = decimal(name)
                        && (first..=last).contains(&fd)
                        && fd as usize != dir
                        && !keep.contains(&(fd as i32))
                    {
                        let _ = raw!(libc::SYS_close, fd);
                        closed += 1;
                    }
                    offset += record.max(1);
                }
            }
            let _ = raw!(libc::SYS_close, dir);
            if closed == 0 {
                return Ok(());
            }
        }
    }
}

/// The number before the first NUL; `None` for `.` and `..`.
fn decimal(name: &[u8]) -> Option<u32> {
    let digits = name.iter().take_while(|&&c| c != 0);
    let mut value = None;
    for &c in digits {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = Some(value.unwrap_or(0u32).checked_mul(10)?.checked_add(digit as u32)?);
    }
    value
}

unsafe fn take_terminal(new_session: bool) -> Result<(), Errno> {
    // SAFETY: an ioctl on descriptor 0; the group number is a local the kernel reads.
    unsafe {
        if new_session {
            raw!(libc::SYS_ioctl, 0, libc::TIOCSCTTY, 0)?;
        } else {
            let group = raw!(libc::SYS_getpid)? as libc::pid_t;
            raw!(libc::SYS_ioctl, 0, libc::TIOCSPGRP, &raw const group)?;
        }
    }
    Ok(())
}

/// The kernel's own `struct sigaction`, which is not libc's.
#[repr(C)]
struct KernelSigaction {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

/// Signals that somebody catches go back to their default, and so do `also`; what is ignored stays so (nohup).
pub(super) unsafe fn default_caught_signals(also: &[i32]) {
    for signal in 1..=64 {
        let mut now = KernelSigaction { handler: 0, flags: 0, restorer: 0, mask: 0 };
        // SAFETY: both structures have the kernel's layout; this process's table is its own (no CLONE_SIGHAND).
        unsafe {
            if raw!(libc::SYS_rt_sigaction, signal, 0, &raw mut now, 8).is_err() {
                continue;
            }
            let caught = now.handler != libc::SIG_DFL && now.handler != libc::SIG_IGN;
            if caught || (now.handler == libc::SIG_IGN && also.contains(&signal)) {
                default_signal(signal);
            }
        }
    }
}

unsafe fn default_signal(signal: i32) {
    let default = KernelSigaction { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: the structure has the kernel's layout; this process's table is its own (no CLONE_SIGHAND).
    unsafe {
        let _ = raw!(libc::SYS_rt_sigaction, signal, &raw const default, 0, 8);
    }
}

/// Keys and signals that came for the parent's group while this process was in it were not meant for it, and would end
/// it as soon as it lets signals through.
unsafe fn discard_pending_signals() {
    let every = u64::MAX;
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel reads eight bytes and a timespec of this frame's; it waits for nothing.
    while unsafe { raw!(libc::SYS_rt_sigtimedwait, &raw const every, 0, &raw const now, 8) }.is_ok() {}
}

/// Blocks exactly the signals of `mask` (bit 0 is signal 1).
pub(super) unsafe fn set_mask(mask: u64) {
    // SAFETY: the kernel reads eight bytes of a local.
    unsafe {
        let _ = raw!(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, 0, 8);
    }
}

/// Tries each path as `execvp` does: goes on after "not there", remembers "not allowed", stops at anything else.
unsafe fn exec(plan: &Plan) -> Failure {
    let mut failure = Failure { step: Step::Exec, errno: libc::ENOENT, index: 0 };
    let envp = plan.environment.for_exec();
    for (index, program) in plan.programs.iter().enumerate() {
        // SAFETY: NUL-terminated path, NULL-terminated arrays, all alive while the parent waits.
        let result = unsafe { raw!(libc::SYS_execve, program.as_ptr(), plan.argv.as_ptr(), envp) };
        match result {
            Ok(_) => continue,
            // One of several places. A single path is told as it is.
            Err(libc::ENOENT | libc::ENOTDIR | libc::ENAMETOOLONG) if plan.programs.len() > 1 => {}
            Err(libc::EACCES) => failure = Failure { step: Step::Exec, errno: libc::EACCES, index },
            Err(errno) => return Failure { step: Step::Exec, errno, index },
        }
    }
    failure
}
