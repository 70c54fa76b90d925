//! Descriptors: pipes, duplicates, reads and writes. Nothing of ours ever lands on 0, 1 or 2, even where the host has
//! them closed: a host's `printf` must not write into our pipe.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::{Errno, check, last_errno, retry};

/// Takes ownership of a descriptor number that a system call just returned.
///
/// # Safety
/// Nobody else owns the number.
pub(super) unsafe fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: the caller's promise.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// The same open file on a CLOEXEC descriptor above 2.
pub(crate) fn duplicate_above_stdio(fd: BorrowedFd) -> Result<OwnedFd, Errno> {
    // SAFETY: F_DUPFD_CLOEXEC returns a new descriptor that is ours alone.
    unsafe { Ok(own(check(libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3))?)) }
}

/// Moves a fresh descriptor above 2 if it landed on a standard stream.
pub(crate) fn above_stdio(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    use std::os::fd::AsFd;
    if fd.as_raw_fd() > 2 { Ok(fd) } else { duplicate_above_stdio(fd.as_fd()) }
}

/// pipe2(2) with O_CLOEXEC: (read end, write end), both blocking.
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let mut ends = [-1; 2];
    // SAFETY: the kernel fills two integers; both descriptors are ours alone.
    let (reader, writer) = unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        (own(ends[0]), own(ends[1]))
    };
    Ok((above_stdio(reader)?, above_stdio(writer)?))
}

/// open(2) with O_CLOEXEC, above 2.
pub(crate) fn open(path: &CStr, flags: i32) -> Result<OwnedFd, Errno> {
    // SAFETY: a NUL-terminated path; the descriptor is ours alone.
    let fd = unsafe { own(retry(|| check(libc::open(path.as_ptr(), flags | libc::O_CLOEXEC)))?) };
    above_stdio(fd)
}

/// Puts `/dev/null` on 0, 1 and 2 of this thread's table.
pub(crate) fn null_stdio() -> Result<(), Errno> {
    // SAFETY: a constant path, and the standard descriptors of a table that is this thread's own.
    unsafe {
        let null = retry(|| check(libc::open(c"/dev/null".as_ptr(), libc::O_RDWR)))?;
        for target in 0..3 {
            if null != target {
                check(libc::dup2(null, target))?;
            }
        }
        if null > 2 {
            check(libc::close(null))?;
        }
    }
    Ok(())
}

/// Makes reads and writes on this open file return EAGAIN instead of waiting.
pub(crate) fn set_nonblocking(fd: &OwnedFd) -> Result<(), Errno> {
    // SAFETY: flags of a descriptor that we hold.
    unsafe {
        let flags = check(libc::fcntl(fd.as_raw_fd(), libc::F_GETFL))?;
        check(libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK))?;
    }
    Ok(())
}

/// One write(2), again if interrupted.
pub(crate) fn write(fd: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
    retry(|| {
        // SAFETY: pointer and length of a slice.
        let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        usize::try_from(n).map_err(|_| last_errno())
    })
}

/// One read(2), again if interrupted.
pub(crate) fn read(fd: &OwnedFd, bytes: &mut [u8]) -> Result<usize, Errno> {
    retry(|| {
        // SAFETY: pointer and length of a slice that is ours to fill.
        let n = unsafe { libc::read(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
        usize::try_from(n).map_err(|_| last_errno())
    })
}

/// Reads until `bytes` is full or the end; how many there were.
pub(crate) fn read_full(fd: &OwnedFd, bytes: &mut [u8]) -> usize {
    let mut have = 0;
    while have < bytes.len() {
        match read(fd, &mut bytes[have..]) {
            Ok(0) | Err(_) => break,
            Ok(n) => have += n,
        }
    }
    have
}

/// Which open file a number stands for: its device and inode. `None`: it is closed.
pub(crate) fn file_of(fd: RawFd) -> Option<(u64, u64)> {
    // SAFETY: the kernel fills a plain structure; a bad number is an error, not a fault.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        check(libc::fstat(fd, &mut stat)).ok()?;
        Some((stat.st_dev, stat.st_ino))
    }
}

/// One descriptor's readiness: poll(2). `timeout_ms` -1 waits for ever. Returns the events, 0 on timeout.
pub(crate) fn poll(fd: RawFd, events: i16, timeout_ms: i32) -> Result<i16, Errno> {
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one entry, and its count.
    check(unsafe { libc::poll(&mut entry, 1, timeout_ms) })?;
    Ok(entry.revents)
}

/// An epoll set and what it says: `(token, events)` of up to 32 descriptors.
pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    pub(crate) fn new() -> Result<Epoll, Errno> {
        // SAFETY: a new descriptor, ours alone.
        unsafe { Ok(Epoll(own(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?))) }
    }

    /// Watches for input (and its end) under `token`.
    pub(crate) fn add(&self, fd: &OwnedFd, token: u64) -> Result<(), Errno> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: token };
        // SAFETY: two descriptors that are held, and an event the kernel copies.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &mut event) })?;
        Ok(())
    }

    /// Watches no longer.
    pub(crate) fn remove(&self, fd: &OwnedFd) {
        let none = std::ptr::null_mut();
        // SAFETY: two descriptors that are held; the event is not read.
        unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_DEL, fd.as_raw_fd(), none) };
    }

    /// Waits at most `timeout_ms` (-1: for ever) and calls `on` with each token that is ready.
    pub(crate) fn wait(&self, timeout_ms: i32, mut on: impl FnMut(u64)) -> Result<(), Errno> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 32];
        // SAFETY: a local array and its length.
        let n = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), events.len() as i32, timeout_ms) };
        let n = match check(n) {
            Ok(n) => n as usize,
            Err(libc::EINTR) => 0,
            Err(errno) => return Err(errno),
        };
        events[..n].iter().for_each(|event| on(event.u64));
        Ok(())
    }
}
