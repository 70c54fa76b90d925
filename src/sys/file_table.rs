//! A file table of one's own: `close_range(2)` with CLOSE_RANGE_UNSHARE, else `unshare(2)` with CLONE_FILES.
//!
//! A thread with a private table keeps its descriptors when the host closes everything (`closerange`), when another
//! thread forks without exec, and when the host reuses numbers; the host sees none of them.

use std::os::fd::{AsRawFd, OwnedFd};

use super::raw::raw;
use super::{Errno, check, fd};

/// Gives this thread an empty table of its own. Nothing of the host's is kept: a copied listener, lock or terminal
/// would be pinned for as long as this thread lives. On failure the thread still shares the host's table, untouched.
pub(crate) fn split() -> Result<(), Errno> {
    // From 0 on: before Linux 5.18 a first descriptor that is no multiple of 64 lets the copy lose others.
    if unshare_from(0).is_err() {
        // SAFETY: makes the table this thread's own; the descriptors in it are copies.
        check(unsafe { libc::unshare(libc::CLONE_FILES) })?;
        close_everything();
    }
    Ok(())
}

/// Descriptors of the table that a new thread still shares, to be kept by [`split_copy`].
#[derive(Clone, Copy)]
pub(crate) struct Kept<const N: usize>([i32; N]);

impl<const N: usize> Kept<N> {
    pub(crate) fn new(fds: [&OwnedFd; N]) -> Kept<N> {
        Kept(fds.map(AsRawFd::as_raw_fd))
    }
}

/// Gives this thread a table of its own that is a copy of the one it shares, and returns its own `kept` descriptors.
///
/// The table must hold nothing but `kept` and 0 to 2 (it was made by [`split`]), and `kept` must still be open in it.
pub(crate) fn split_copy<const N: usize>(kept: Kept<N>) -> Result<[OwnedFd; N], Errno> {
    /// Above every descriptor of such a table, and a multiple of 64.
    const ABOVE_ALL: u32 = 1024;
    if unshare_from(ABOVE_ALL).is_err() {
        // SAFETY: makes the table this thread's own.
        check(unsafe { libc::unshare(libc::CLONE_FILES) })?;
    }
    // SAFETY: the numbers are open in the new table, which nobody else has.
    Ok(kept.0.map(|number| unsafe { fd::own(number) }))
}

fn unshare_from(first: u32) -> Result<usize, Errno> {
    // SAFETY: the kernel copies the table first, so nobody else's descriptors are closed.
    unsafe { raw!(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_UNSHARE) }
}

/// Closes all descriptors of this thread's own table.
fn close_everything() {
    // SAFETY: the table is this thread's alone.
    if unsafe { raw!(libc::SYS_close_range, 0u32, u32::MAX, 0) }.is_ok() {
        return;
    }
    let listed = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse::<i32>().ok();
    // Not `/proc/self/fd`: that is the main thread's table.
    let numbers: Vec<i32> =
        std::fs::read_dir("/proc/thread-self/fd").into_iter().flatten().filter_map(listed).collect();
    for fd in numbers {
        // SAFETY: the table is this thread's alone.
        unsafe { libc::close(fd) };
    }
}
