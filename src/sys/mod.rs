//! The only folder with `unsafe` and direct use of libc: one file a subject, safe functions outside.
//!
//! Failures are plain errno values here ([`Errno`]); the modules above turn them into [`crate::Error`], because only
//! they know what was being done, and to what.

#![allow(unsafe_code)]

pub(crate) mod atfork;
pub(crate) mod child;
pub(crate) mod clone;
pub(crate) mod environ;
pub(crate) mod fd;
pub(crate) mod file_table;
pub(crate) mod futex;
pub(crate) mod image;
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod pidfd;
pub(crate) mod process;
pub(crate) mod raw;
pub(crate) mod signals;
pub(crate) mod time;

/// A positive errno.
pub(crate) type Errno = i32;

/// `Ok` for anything but -1, else the errno that libc left.
fn check(ret: libc::c_int) -> Result<libc::c_int, Errno> {
    if ret == -1 { Err(last_errno()) } else { Ok(ret) }
}

fn last_errno() -> Errno {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Runs `call` again for as long as a signal interrupts it.
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(libc::EINTR) => continue,
            other => return other,
        }
    }
}
