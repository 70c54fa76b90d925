//! `pidfd_open(2)`: a descriptor that means one process and no other, whatever becomes of its number.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::fd::{above_stdio, own, poll};
use super::{Errno, check, last_errno, process};

/// A CLOEXEC pidfd of the process that has this number now.
pub(crate) fn open(pid: i32) -> Result<OwnedFd, Errno> {
    open_with(pid, 0)
}

/// pidfd_send_signal(2): to this process, and to none that has got its number.
pub(crate) fn signal(pidfd: &OwnedFd, signal: i32) -> Result<(), Errno> {
    let no_info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a signal to the process of a descriptor that we hold.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, no_info, 0) };
    if sent == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Whether a whole group can be reached through the pidfd of its leader (`PIDFD_SIGNAL_PROCESS_GROUP`, Linux 6.9).
/// Sends nothing: the answer is about the flag, whoever leads a group.
pub(crate) fn reaches_groups(pidfd: &OwnedFd) -> bool {
    /// linux/pidfd.h
    const TO_GROUP: u32 = 4;
    let no_info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: no signal, to the process of a descriptor that we hold.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), 0, no_info, TO_GROUP) };
    sent == 0 || last_errno() == libc::ESRCH
}

/// Whether the last task of the process has ended; it may be a zombie still.
pub(crate) fn has_ended(pidfd: &OwnedFd) -> bool {
    poll(pidfd.as_raw_fd(), libc::POLLIN, 0).is_ok_and(|events| events != 0)
}

/// The inode number, which on pidfs names the process for the whole boot.
pub(crate) fn inode(pidfd: &OwnedFd) -> Result<u64, Errno> {
    // SAFETY: the kernel fills a plain structure.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        check(libc::fstat(pidfd.as_raw_fd(), &mut stat))?;
        Ok(stat.st_ino)
    }
}

/// A CLOEXEC pidfd of this process. Where `pidfd_open` is unknown (Valgrind 3.19), the kernel gives it as that of the
/// other end of a socket, which is this process too (`SO_PEERPIDFD`, Linux 6.5).
pub(crate) fn of_this_process() -> Result<OwnedFd, Errno> {
    open(process::pid()).or_else(|errno| if errno == libc::ENOSYS { by_a_socket().or(Err(errno)) } else { Err(errno) })
}

fn by_a_socket() -> Result<OwnedFd, Errno> {
    let mut pair = [-1; 2];
    let mut pidfd: RawFd = -1;
    let mut size = size_of::<RawFd>() as libc::socklen_t;
    // SAFETY: the kernel fills two integers, then one; the three descriptors are ours alone.
    unsafe {
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
        check(libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()))?;
        let pair = pair.map(|fd| own(fd));
        let (one, into) = (pair[0].as_raw_fd(), (&raw mut pidfd).cast());
        check(libc::getsockopt(one, libc::SOL_SOCKET, libc::SO_PEERPIDFD, into, &mut size))?;
        above_stdio(own(pidfd))
    }
}

fn open_with(pid: i32, flags: u32) -> Result<OwnedFd, Errno> {
    // SAFETY: the kernel returns a new descriptor, ours alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, flags);
        let fd = RawFd::try_from(fd).ok().filter(|&fd| fd >= 0).ok_or_else(last_errno)?;
        above_stdio(own(fd))
    }
}

/// Takes descriptor `fd` of another thread's private table: `pidfd_getfd(2)` on a pidfd of that thread (Linux 6.9).
pub(crate) fn take_from_thread(tid: i32, fd: RawFd) -> Result<OwnedFd, Errno> {
    /// `PIDFD_THREAD` (linux/pidfd.h).
    const PIDFD_THREAD: u32 = libc::O_EXCL as u32;
    let thread = open_with(tid, PIDFD_THREAD)?;
    // SAFETY: the kernel returns a new descriptor, ours alone, CLOEXEC.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_getfd, thread.as_raw_fd(), fd, 0);
        let fd = RawFd::try_from(fd).ok().filter(|&fd| fd >= 0).ok_or_else(last_errno)?;
        above_stdio(own(fd))
    }
}
