//! System calls that std has no words for, as safe functions.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// -1 to the errno.
pub fn check(result: impl Into<i64>) -> io::Result<i64> {
    let result = result.into();
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// pidfd_open(2): a descriptor that means this process for ever, whatever becomes of its number.
pub fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: plain integers; the result is a descriptor nobody else owns.
    unsafe {
        let fd = check(libc::syscall(libc::SYS_pidfd_open, pid, 0))?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// pidfd_send_signal(2).
pub fn pidfd_signal(pidfd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    let no_info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo is allowed: the kernel fills one in as kill(2) does.
    check(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, no_info, 0) }).map(drop)
}

/// kill(2). Negative: the group. 0, 1 and -1 are refused here, so that no slip of a test can reach the machine.
pub fn kill(pid: i32, signal: i32) -> io::Result<()> {
    assert!(pid.abs() > 1, "a test was about to signal {pid}");
    // SAFETY: plain integers.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// The process group of somebody. `None`: there is no such process.
pub fn group_of(pid: i32) -> Option<i32> {
    // SAFETY: a question.
    check(unsafe { libc::getpgid(pid) }).ok().map(|group| group as i32)
}

/// The session of somebody. `None`: there is no such process.
pub fn session_of(pid: i32) -> Option<i32> {
    // SAFETY: a question.
    check(unsafe { libc::getsid(pid) }).ok().map(|session| session as i32)
}

/// Waits until one of the descriptors is readable or hung up: their positions. Empty when the deadline came first.
pub fn poll_readable(fds: &[RawFd], deadline: Instant) -> Vec<usize> {
    let mut polled: Vec<libc::pollfd> =
        fds.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // One more millisecond: a rounded-down rest would spin.
        let timeout_ms = left.as_millis().min(i32::MAX as u128 - 1) as i32 + i32::from(!left.is_zero());
        // SAFETY: the array outlives the call and its length is given.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout_ms) };
        if ready > 0 {
            return (0..polled.len()).filter(|&i| polled[i].revents != 0).collect();
        }
        if ready == 0 && left.is_zero() {
            return Vec::new();
        }
    }
}

/// A close-on-exec pipe: (read end, write end).
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors that nobody else owns.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// A pseudo-terminal: (master, slave), both close-on-exec; nobody's controlling terminal yet.
pub fn open_pty() -> io::Result<(OwnedFd, OwnedFd)> {
    // SAFETY: each descriptor is owned as soon as it exists; TIOCGPTPEER opens the slave without a path.
    unsafe {
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        let master = OwnedFd::from_raw_fd(check(libc::posix_openpt(flags))? as RawFd);
        check(libc::grantpt(master.as_raw_fd()))?;
        check(libc::unlockpt(master.as_raw_fd()))?;
        let slave = check(libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER, flags))?;
        Ok((master, OwnedFd::from_raw_fd(slave as RawFd)))
    }
}

/// The program will lead a session of its own on this terminal, and be its foreground.
pub fn lead_session_on(command: &mut Command, terminal: RawFd) {
    // SAFETY: two system calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            check(libc::setsid())?;
            check(libc::ioctl(terminal, libc::TIOCSCTTY, 0)).map(drop)
        });
    }
}

/// The program will begin without this descriptor.
pub fn close_before_exec(command: &mut Command, fd: RawFd) {
    // SAFETY: one system call between fork and exec.
    unsafe { command.pre_exec(move || check(libc::close(fd)).map(drop)) };
}

/// mkfifo(3).
pub fn make_fifo(path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: a NUL-terminated path.
    check(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }).map(drop)
}

/// waitpid(2) on one child: its raw status once there is one; `None` when there is none yet (with `WNOHANG`).
pub fn wait_pid(pid: i32, options: i32) -> io::Result<Option<i32>> {
    let mut status = 0;
    loop {
        // SAFETY: the status is ours.
        match check(unsafe { libc::waitpid(pid, &mut status, options) }) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(status)),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        }
    }
}

/// Now by CLOCK_BOOTTIME, the clock of process start times, in clock ticks.
pub fn boot_ticks() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills in the timespec; sysconf has no memory effects.
    let per_second = unsafe {
        libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now);
        libc::sysconf(libc::_SC_CLK_TCK) as u64
    };
    now.tv_sec as u64 * per_second + now.tv_nsec as u64 * per_second / 1_000_000_000
}

/// From now on.
pub fn after(duration: Duration) -> Instant {
    Instant::now() + duration
}

/// 128 random bits in hex, for marks and names.
pub fn random_name() -> String {
    let mut bytes = [0u8; 16];
    // SAFETY: the buffer's own length is given; 16 bytes are never cut short.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    assert_eq!(got, 16, "getrandom");
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
