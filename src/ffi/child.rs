//! `hermes_child_*`.

use std::os::fd::{AsRawFd, IntoRawFd};
use std::time::Duration;

use super::call::{call, hermes_error};
use super::handle::{self, hermes_child};
use super::record::{self, Record};
use super::text;
use crate::error::{Error, ErrorCode, Result};
use crate::owner::leader::ExitRecord;

/// `hermes_exit_status.kind`: it called `exit`; `code` is 0 to 255.
pub const HERMES_EXITED: i32 = 0;
/// A signal ended it; `code` is the signal's number.
pub const HERMES_SIGNALLED: i32 = 1;
/// It has ended, and somebody else took the status; `code` is 0 and means nothing.
pub const HERMES_UNKNOWN: i32 = 2;

/// How a child ended. The exit descriptor delivers exactly this record.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hermes_exit_status {
    /// `sizeof(hermes_exit_status)`.
    pub size: u32,
    /// `HERMES_EXITED`, `HERMES_SIGNALLED` or `HERMES_UNKNOWN`.
    pub kind: i32,
    /// Exit code or signal.
    pub code: i32,
    /// 1 if the kernel wrote a core file.
    pub core_dumped: u32,
}

// SAFETY: repr(C), size first, integers only.
unsafe impl Record for hermes_exit_status {
    const SMALLEST: u32 = 16;
    const NAME: &'static str = "hermes_exit_status";
}

/// The leader's process id, which is also the group's number; or a negative code.
///
/// Memory: nothing is kept.
/// Threads: any; does not wait.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy, as for any handle from before the fork.
/// Errors: `HERMES_ERR_INVALID_ARGUMENT` (no handle), `HERMES_ERR_POISONED`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_pid(child: *const hermes_child) -> i32 {
    number(child, "hermes_child_pid", |handle| Ok(handle.child.pid()))
}

/// The process group; or a negative code. The same number as the pid: the child began the group.
///
/// Memory: nothing is kept.
/// Threads: any; does not wait.
/// Fork: as for `hermes_child_pid`.
/// Errors: as for `hermes_child_pid`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_pgid(child: *const hermes_child) -> i32 {
    number(child, "hermes_child_pgid", |handle| Ok(handle.child.pgid()))
}

fn number(child: *const hermes_child, step: &'static str, get: impl FnOnce(&handle::Handle) -> Result<i32>) -> i32 {
    let mut result = 0;
    // SAFETY: no error record.
    let code = unsafe {
        call(std::ptr::null_mut(), || {
            result = handle::with(child, step, get)?;
            Ok(())
        })
    };
    if code == 0 { result } else { code }
}

/// The caller's end of the child's standard input, if that is a pipe and was not taken; or a negative code.
///
/// Memory: the descriptor is borrowed: it is closed with the handle.
/// Threads: any; does not wait.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy, which has the descriptor as it has all of its parent's.
/// Errors: `HERMES_ERR_NOT_FOUND` (no pipe, or taken), `HERMES_ERR_INVALID_ARGUMENT` (no handle), `HERMES_ERR_POISONED`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_stdin_fd(child: *const hermes_child) -> i32 {
    pipe(child, 0, false)
}

/// The caller's end of the child's standard output, if that is a pipe and was not taken; or a negative code.
///
/// Memory, threads, fork, errors: as for `hermes_child_stdin_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_stdout_fd(child: *const hermes_child) -> i32 {
    pipe(child, 1, false)
}

/// The caller's end of the child's standard error, if that is a pipe and was not taken; or a negative code.
///
/// Memory, threads, fork, errors: as for `hermes_child_stdin_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_stderr_fd(child: *const hermes_child) -> i32 {
    pipe(child, 2, false)
}

/// The caller's end of the child's standard input, once; or a negative code.
///
/// Memory: the descriptor is the caller's from now on, to be closed by it. The handle has none for this stream any more.
/// Threads: any; one of several gets it.
/// Fork, errors: as for `hermes_child_stdin_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_take_stdin_fd(child: *mut hermes_child) -> i32 {
    pipe(child, 0, true)
}

/// The caller's end of the child's standard output, once; or a negative code.
///
/// Memory: the descriptor is the caller's from now on, to be closed by it. The handle has none for this stream any more.
/// Threads: any; one of several gets it.
/// Fork, errors: as for `hermes_child_stdin_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_take_stdout_fd(child: *mut hermes_child) -> i32 {
    pipe(child, 1, true)
}

/// The caller's end of the child's standard error, once; or a negative code.
///
/// Memory: the descriptor is the caller's from now on, to be closed by it. The handle has none for this stream any more.
/// Threads: any; one of several gets it.
/// Fork, errors: as for `hermes_child_stdin_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_take_stderr_fd(child: *mut hermes_child) -> i32 {
    pipe(child, 2, true)
}

fn pipe(child: *const hermes_child, stream: usize, take: bool) -> i32 {
    const STEP: &str = "hermes_child_fd";
    number(child, STEP, |handle| {
        let mut pipes = handle.pipes();
        let none = || Error::new(ErrorCode::NotFound, STEP, "this stream is no pipe, or its end was taken");
        if take {
            pipes[stream].take().map(IntoRawFd::into_raw_fd).ok_or_else(none)
        } else {
            pipes[stream].as_ref().map(AsRawFd::as_raw_fd).ok_or_else(none)
        }
    })
}

/// A new descriptor that becomes readable when the leader has ended: one `hermes_exit_status`, then end of file. For a
/// poll loop; no thread has to wait. The library reaps the leader for it, and `hermes_child_wait` still tells the status.
///
/// Memory: `*fd` is the caller's to close, with the handle or long after it; it is written on success only.
/// Threads: any; each call makes another descriptor.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy. A descriptor that it has inherited is the same pipe: whoever
/// reads first gets the record.
/// Errors: `HERMES_ERR_UNSUPPORTED` without the library's threads, `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_OS`,
/// `HERMES_ERR_TIMEOUT` (the library's thread does not answer for 5 s), `HERMES_ERR_POISONED`.
///
/// # Safety
/// `fd` is valid for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_exit_fd(child: *mut hermes_child, fd: *mut i32, err: *mut hermes_error) -> i32 {
    const STEP: &str = "hermes_child_exit_fd";
    // SAFETY: the conventions of the header.
    unsafe {
        call(err, || {
            let fd = text::out(fd, "fd", STEP)?;
            *fd = handle::with(child, STEP, |handle| handle.child.exit_fd())?.into_raw_fd();
            Ok(())
        })
    }
}

/// Waits until the leader has ended. A group that is then empty is let go; one that is not stays covered until it is.
///
/// Memory: `*status` is written on success only.
/// Units: `timeout_ms` in milliseconds; -1 waits for ever, 0 only looks.
/// Threads: any; several may wait at once, and all are told the same.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
/// Errors: `HERMES_ERR_TIMEOUT` (it still runs), `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_OS`, `HERMES_ERR_POISONED`. A
/// status that the host itself has taken by `waitpid` is no error: its kind is `HERMES_UNKNOWN`.
///
/// # Safety
/// `status` points to as many bytes as its `size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_wait(
    child: *mut hermes_child,
    timeout_ms: i64,
    status: *mut hermes_exit_status,
    err: *mut hermes_error,
) -> i32 {
    const STEP: &str = "hermes_child_wait";
    // SAFETY: the conventions of the header.
    unsafe {
        call(err, || {
            record::check_out(status, STEP)?;
            let ended = handle::with(child, STEP, |handle| match u64::try_from(timeout_ms) {
                Ok(ms) => handle.child.wait_timeout(Duration::from_millis(ms)),
                Err(_) if timeout_ms == -1 => handle.child.wait().map(Some),
                Err(_) => Err(Error::invalid(STEP, format!("timeout_ms is {timeout_ms}: -1, 0 or more"))),
            })?;
            let Some(ended) = ended else {
                return Err(Error::new(ErrorCode::Timeout, STEP, format!("it still runs after {timeout_ms} ms")));
            };
            let ExitRecord { kind, code, core_dumped } = ended.record();
            record::write(status, &hermes_exit_status { size: 0, kind, code, core_dumped });
            Ok(())
        })
    }
}

/// Sends a signal to the whole group, by way of the supervisor.
///
/// Memory: nothing is kept.
/// Units: `signal` is a number from 1 to 64.
/// Threads: any; waits for the supervisor's answer, usually less than a millisecond.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
/// Errors: `HERMES_ERR_NO_SUCH_GROUP` (ended), `HERMES_ERR_NOT_FOUND` (released), `HERMES_ERR_PERMISSION`,
/// `HERMES_ERR_SUPERVISOR`, `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_POISONED`.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_signal(child: *mut hermes_child, signal: i32, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe { call(err, || handle::with(child, "hermes_child_signal", |handle| handle.child.signal(signal))) }
}

/// Sends a signal to the leader alone, and never to another process that has got its number.
///
/// Memory: nothing is kept.
/// Units: `signal` is a number from 1 to 64.
/// Threads: any; does not wait.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
/// Errors: `HERMES_ERR_NOT_FOUND` (it has ended), `HERMES_ERR_PERMISSION`, `HERMES_ERR_INVALID_ARGUMENT`,
/// `HERMES_ERR_POISONED`.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_signal_leader(
    child: *mut hermes_child,
    signal: i32,
    err: *mut hermes_error,
) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe {
        call(err, || handle::with(child, "hermes_child_signal_leader", |handle| handle.child.signal_leader(signal)))
    }
}

/// Ends the group: TERM (and CONT, for what is stopped), time to comply, then KILL. Returns when nothing in it runs. The
/// leader's status is still there for `hermes_child_wait`.
///
/// Memory: nothing is kept; the handle is still to be freed.
/// Units: `grace_ms`, the time to comply, in milliseconds; 16,777,215 at most.
/// Threads: any; blocks for as long as the group lives, at most the grace and a few seconds.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
/// Errors: `HERMES_ERR_STILL_ALIVE` (the message says what is left), `HERMES_ERR_NOT_FOUND` (released),
/// `HERMES_ERR_SUPERVISOR`, `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_POISONED`. A group that has ended is no error.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_stop(child: *mut hermes_child, grace_ms: u32, err: *mut hermes_error) -> i32 {
    let grace = Duration::from_millis(grace_ms.into());
    // SAFETY: the conventions of the header.
    unsafe { call(err, || handle::with(child, "hermes_child_stop", |handle| handle.child.stop(grace))) }
}

/// The first half of `hermes_child_stop` for an event loop: asks for the stop and returns at once. It goes on by itself;
/// `hermes_child_stop_poll` tells when it is over, and must be asked until it is. One that was begun before goes on as it
/// is.
///
/// Memory: nothing is kept.
/// Units: `grace_ms` as for `hermes_child_stop`.
/// Threads: any; does not wait.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
/// Errors: `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_POISONED`; without the library's threads, `HERMES_ERR_SUPERVISOR`.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_stop_begin(
    child: *mut hermes_child,
    grace_ms: u32,
    err: *mut hermes_error,
) -> i32 {
    let grace = Duration::from_millis(grace_ms.into());
    // SAFETY: the conventions of the header.
    unsafe { call(err, || handle::with(child, "hermes_child_stop_begin", |handle| handle.child.stop_begin(grace))) }
}

/// Whether the stop that was begun is over.
///
/// Memory: nothing is kept.
/// Threads: any; does not wait.
/// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
/// Errors: `HERMES_ERR_TIMEOUT` (not yet: ask again), else as for `hermes_child_stop`, and then it is over.
/// `HERMES_ERR_INVALID_ARGUMENT` also if none was begun, or if the end of it was told before.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_stop_poll(child: *mut hermes_child, err: *mut hermes_error) -> i32 {
    const STEP: &str = "hermes_child_stop_poll";
    // SAFETY: the conventions of the header.
    unsafe {
        call(err, || {
            if handle::with(child, STEP, |handle| handle.child.stop_poll())? {
                return Ok(());
            }
            Err(Error::new(ErrorCode::Timeout, STEP, "the stop is not over yet"))
        })
    }
}

/// Frees a handle. The child is not stopped: it stays owned, and is reaped when it ends.
///
/// Memory: the handle is no longer one, and its pipe ends are closed. NULL, and what is no handle, are ignored.
/// Threads: any; a call on the handle that another thread is in ends as it would have.
/// Fork: ignored in a forked copy for a handle from before the fork.
/// Errors: none.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_free(child: *mut hermes_child) {
    // SAFETY: no error record. A panic has nobody to be told to.
    let _ = unsafe {
        call(std::ptr::null_mut(), || {
            handle::free(child);
            Ok(())
        })
    };
}
