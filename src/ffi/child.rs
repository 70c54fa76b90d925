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

/// The leader's process id, which is also the group's number. A negative code if the handle is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_pid(child: *const hermes_child) -> i32 {
    number(child, "hermes_child_pid", |handle| Ok(handle.child.pid()))
}

/// The process group. A negative code if the handle is wrong.
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

/// The caller's end of the child's standard input, if that is a pipe and was not taken. Borrowed: closed with the
/// handle. `HERMES_ERR_NOT_FOUND` if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_stdin_fd(child: *const hermes_child) -> i32 {
    pipe(child, 0, false)
}

/// The caller's end of the child's standard output; as `hermes_child_stdin_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_stdout_fd(child: *const hermes_child) -> i32 {
    pipe(child, 1, false)
}

/// The caller's end of the child's standard error; as `hermes_child_stdin_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_stderr_fd(child: *const hermes_child) -> i32 {
    pipe(child, 2, false)
}

/// As `hermes_child_stdin_fd`, and from now on the descriptor is the caller's to close.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_take_stdin_fd(child: *mut hermes_child) -> i32 {
    pipe(child, 0, true)
}

/// As `hermes_child_stdout_fd`, and from now on the descriptor is the caller's to close.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_child_take_stdout_fd(child: *mut hermes_child) -> i32 {
    pipe(child, 1, true)
}

/// As `hermes_child_stderr_fd`, and from now on the descriptor is the caller's to close.
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

/// A new descriptor that becomes readable when the leader has ended: one `hermes_exit_status`, then end of file. The
/// caller closes it. `*fd` is written on success only.
///
/// Any thread. Errors: `HERMES_ERR_UNSUPPORTED` without the library's threads.
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

/// Waits until the leader has ended, for at most `timeout_ms` milliseconds; -1 waits for ever, 0 only looks. A group
/// that is then empty is let go. `*status` is written on success only.
///
/// Any thread; several may wait at once. Errors: `HERMES_ERR_TIMEOUT`.
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

/// Sends a signal, 1 to 64, to the whole group, by way of the supervisor.
///
/// Any thread. Errors: `HERMES_ERR_NO_SUCH_GROUP` (ended), `HERMES_ERR_NOT_FOUND` (released), `HERMES_ERR_PERMISSION`,
/// `HERMES_ERR_SUPERVISOR`.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_signal(child: *mut hermes_child, signal: i32, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe { call(err, || handle::with(child, "hermes_child_signal", |handle| handle.child.signal(signal))) }
}

/// Sends a signal, 1 to 64, to the leader alone; never to another process that got its number.
///
/// Any thread. Errors: `HERMES_ERR_NOT_FOUND` (it has ended), `HERMES_ERR_PERMISSION`.
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

/// Ends the group: TERM (and CONT), `grace_ms` milliseconds to comply, then KILL. Returns when nothing in it runs. The
/// leader's status is still there for `hermes_child_wait`.
///
/// Any thread; blocks for at most the grace and a few seconds. `grace_ms` is at most 16,777,215.
/// Errors: `HERMES_ERR_STILL_ALIVE` (the message says what is left), `HERMES_ERR_NOT_FOUND` (released),
/// `HERMES_ERR_SUPERVISOR`.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_child_stop(child: *mut hermes_child, grace_ms: u32, err: *mut hermes_error) -> i32 {
    let grace = Duration::from_millis(grace_ms.into());
    // SAFETY: the conventions of the header.
    unsafe { call(err, || handle::with(child, "hermes_child_stop", |handle| handle.child.stop(grace))) }
}

/// Frees a handle and closes its pipe ends. The child is not stopped: it stays owned. NULL, and what is no handle, are
/// ignored. A call on it that another thread is in ends as it would have.
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
