//! System calls as safe functions: the only file with unsafe code besides the entry and the memory functions.
//!
//! Every wrapper returns what the kernel returned: a negative number is a negated errno. That is what the callers
//! switch on, and a `Result` of two sizes would cost a stack slot and a branch at each of them.

use super::arch::syscall6;
use super::nr;
use super::roster::{HOME_PATH_BYTES, ROSTER_BYTES, Roster, fds};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

pub const EPERM: i32 = -1;
pub const ENOENT: i32 = -2;
pub const ESRCH: i32 = -3;
pub const EINTR: i32 = -4;
pub const EAGAIN: i32 = -11;
pub const EINVAL: i32 = -22;

pub const SIGKILL: i32 = 9;
pub const SIGTERM: i32 = 15;
pub const SIGCONT: i32 = 18;
/// Flag of `pidfd_send_signal`: the group that is numbered like the process (Linux 6.9).
pub const TO_GROUP: usize = 4;

pub const O_RDONLY: usize = 0;
pub const O_WRONLY: usize = 1;
pub const O_CREAT: usize = 0o100;
pub const O_APPEND: usize = 0o2000;
pub const O_NONBLOCK: usize = 0o4000;
pub const O_CLOEXEC: usize = 0o2000000;
pub const O_NOFOLLOW: usize = if cfg!(target_arch = "x86_64") { 0o400000 } else { 0o100000 };
const AT_FDCWD: usize = -100isize as usize;

/// Every call but the two that need more arguments: kept in one place, it is the smallest that way.
///
/// # Safety
/// Arguments that are addresses must be valid for what the call does with them.
#[inline(never)]
unsafe fn call(a: usize, b: usize, c: usize, d: usize, n: usize) -> isize {
    // SAFETY: handed on.
    unsafe { syscall6(n, a, b, c, d, 0, 0) }
}

/// Calls whose arguments are numbers only.
#[inline(always)]
fn plain(n: usize, a: usize, b: usize, c: usize, d: usize) -> i32 {
    // SAFETY: used in this file only, and only for calls that touch no memory of ours through their arguments.
    unsafe { call(a, b, c, d, n) as i32 }
}

pub fn exit(code: i32) -> ! {
    loop {
        plain(nr::EXIT_GROUP, code as usize, 0, 0, 0);
    }
}

pub fn close(fd: i32) {
    plain(nr::CLOSE, fd as usize, 0, 0, 0);
}

pub fn read(fd: i32, into: &mut [u8]) -> isize {
    // SAFETY: the kernel writes inside `into` only.
    unsafe { call(fd as usize, into.as_mut_ptr() as usize, into.len(), 0, nr::READ) }
}

/// `read` for a pipe that carries words only.
pub fn read_words(fd: i32, into: &mut [u64]) -> isize {
    // SAFETY: the kernel writes inside `into` only, and any bits are a number.
    unsafe { call(fd as usize, into.as_mut_ptr() as usize, into.len() * 8, 0, nr::READ) }
}

pub fn write_words(fd: i32, words: &[u64]) -> isize {
    // SAFETY: the kernel reads inside `words` only.
    unsafe { call(fd as usize, words.as_ptr() as usize, words.len() * 8, 0, nr::WRITE) }
}

pub fn write(fd: i32, bytes: &[u8]) -> isize {
    // SAFETY: the kernel reads inside `bytes` only.
    unsafe { call(fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, nr::WRITE) }
}

/// A path for the kernel: it must end in NUL, else the call is not made.
fn c_path(path: &[u8]) -> usize {
    if path.last() == Some(&0) { path.as_ptr() as usize } else { c"".as_ptr() as usize }
}

pub fn open(path: &[u8], flags: usize, mode: usize) -> i32 {
    // SAFETY: `c_path` gives a NUL-terminated string.
    unsafe { call(AT_FDCWD, c_path(path), flags | O_CLOEXEC, mode, nr::OPENAT) as i32 }
}

/// Changes to the directory that the roster names, and creates what is missing of its path.
pub fn enter_home(roster: &Roster) -> i32 {
    // A copy, which ends wherever the last byte was put.
    let mut path = [0u8; HOME_PATH_BYTES];
    for at in 0..HOME_PATH_BYTES - 1 {
        let byte = roster.home[at].load(Relaxed);
        if byte == 0 || byte == b'/' {
            // SAFETY: a NUL-terminated path: its last byte is never written.
            unsafe { call(AT_FDCWD, path.as_ptr() as usize, 0o700, 0, nr::MKDIRAT) };
        }
        if byte == 0 {
            break;
        }
        path[at] = byte;
    }
    // SAFETY: as above.
    unsafe { call(path.as_ptr() as usize, 0, 0, 0, nr::CHDIR) as i32 }
}

pub fn rename(from: &[u8], to: &[u8]) -> i32 {
    // SAFETY: `c_path` gives NUL-terminated strings.
    unsafe { call(AT_FDCWD, c_path(from), AT_FDCWD, c_path(to), nr::RENAMEAT) as i32 }
}

pub fn read_dir(fd: i32, into: &mut [u8]) -> isize {
    // SAFETY: the kernel writes inside `into` only.
    unsafe { call(fd as usize, into.as_mut_ptr() as usize, into.len(), 0, nr::GETDENTS64) }
}

/// What `fstat` tells: both architectures keep these two at the same place.
pub struct FileStat {
    pub inode: u64,
    pub size: u64,
    pub links: u32,
    pub regular: bool,
}

pub fn fstat(fd: i32) -> Option<FileStat> {
    let mut raw = [0u64; 18];
    // SAFETY: `struct stat` has 144 bytes on x86_64 and 128 on aarch64.
    let ret = unsafe { call(fd as usize, raw.as_mut_ptr() as usize, 0, 0, nr::FSTAT) };
    // The two have one word each on x86_64, and share one on aarch64, in the other order.
    let x86_64 = cfg!(target_arch = "x86_64");
    let (mode, links) = if x86_64 { (raw[3], raw[2]) } else { (raw[2], raw[2] >> 32) };
    let regular = mode & 0o170000 == 0o100000;
    (ret == 0).then_some(FileStat { inode: raw[1], size: raw[6], links: links as u32, regular })
}

/// 0: unknown.
pub fn inode(fd: i32) -> u64 {
    fstat(fd).map_or(0, |stat| stat.inode)
}

/// Read end and write end.
pub fn pipe() -> Option<[i32; 2]> {
    let mut ends = [0i32; 2];
    // SAFETY: two ints.
    let ret = unsafe { call(ends.as_mut_ptr() as usize, O_CLOEXEC, 0, 0, nr::PIPE2) };
    (ret == 0).then_some(ends)
}

/// For a helper process: the pipe's end must tell the supervisor's death, though a filter refuse `close_from`.
#[inline(never)]
pub fn close_back_pipe() {
    close(fds::BACK);
    close(fds::BACK_HIGH);
}

/// Moves a descriptor to this number or the next free one above it; it stays where it is if no such number is allowed.
pub fn move_up(fd: i32, number: i32) {
    const F_DUPFD: usize = 0;
    // SAFETY: descriptors of this process; who used the old number goes on with neither.
    let moved = unsafe { call(fd as usize, F_DUPFD, number as usize, 0, nr::FCNTL) };
    if moved >= 0 {
        close(fd);
    }
}

pub fn dup_to(fd: i32, number: i32) {
    plain(nr::DUP3, fd as usize, number as usize, O_CLOEXEC, 0);
}

/// Closes every descriptor from `first` on. Where a filter refuses that, they stay open.
pub fn close_from(first: i32) {
    plain(nr::CLOSE_RANGE, first as usize, u32::MAX as usize, 0, 0);
}

/// Maps the roster, shared and writable. `None`: too short, or not to be mapped.
pub fn map_roster(fd: i32) -> Option<&'static Roster> {
    const READ_WRITE: usize = 3;
    const MAP_SHARED: usize = 1;
    if fstat(fd)?.size < ROSTER_BYTES as u64 {
        return None;
    }
    // SAFETY: a new mapping, where the kernel likes it.
    let at = unsafe { syscall6(nr::MMAP, 0, ROSTER_BYTES, READ_WRITE, MAP_SHARED, fd as usize, 0) };
    if (-4095..=0).contains(&at) {
        return None;
    }
    // SAFETY: mapped with this size for ever, the file is sealed against shrinking, a page is enough alignment, every
    // field is an atomic integer and so valid with any bits and under any change by the other side.
    Some(unsafe { &*(at as *const Roster) })
}

/// Gives whole pages back to the kernel: they read as zeroes from then on.
///
/// # Safety
/// Nothing between the two addresses may be needed any more.
unsafe fn release(from: usize, to: usize) {
    const DONTNEED: usize = 4;
    // The largest page the kernel can have here: it rounds the length up.
    const PAGE_MASK: usize = if cfg!(target_arch = "x86_64") { !0xfff } else { !0xffff };
    let (from, to) = (from & PAGE_MASK, to & PAGE_MASK);
    if from < to {
        // SAFETY: handed on.
        unsafe { call(from, to - from, DONTNEED, 0, nr::MADVISE) };
    }
}

/// Gives back the stack below the caller's frame: what a deep call once touched would stay resident.
pub fn release_stack() {
    const KEPT_BYTES: usize = 1536;
    const DEPTH_BYTES: usize = 64 << 10;
    let here = 0u8;
    let end = &raw const here as usize - KEPT_BYTES;
    // SAFETY: everything below the stack pointer is dead, and the frames from here down fit into the bytes kept; the
    // stack is far larger than that depth.
    unsafe { release(end - DEPTH_BYTES, end) };
}

/// Gives back the stack that the kernel made, up to the page of the arguments themselves, which `ps` shows.
pub fn release_kernel_stack(kernel_stack: *const usize) {
    // SAFETY: it begins with argc and argv[0], and nobody will use it: this program runs on another stack.
    unsafe { release(kernel_stack as usize, *kernel_stack.add(1)) };
}

pub fn now_ns(clock: usize) -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: `struct timespec`.
    unsafe { call(clock, time.as_mut_ptr() as usize, 0, 0, nr::CLOCK_GETTIME) };
    time[0] * 1_000_000_000 + time[1]
}

/// CLOCK_MONOTONIC in milliseconds, rounded down.
pub fn now_ms() -> u64 {
    now_ns(1) / 1_000_000
}

/// CLOCK_BOOTTIME in clock ticks, as `/proc/PID/stat` gives start times; USER_HZ is 100 on every architecture.
pub fn boot_ticks() -> u64 {
    now_ns(7) / 10_000_000
}

/// CLOCK_REALTIME in milliseconds.
pub fn unix_ms() -> u64 {
    now_ns(0) / 1_000_000
}

pub fn wake(word: &AtomicU32) {
    const FUTEX_WAKE: usize = 1;
    // SAFETY: the kernel uses the address as a key; the shared kind, because the other side has another mapping of it.
    unsafe { call(word.as_ptr() as usize, FUTEX_WAKE, i32::MAX as usize, 0, nr::FUTEX) };
}

#[inline(never)]
pub fn getpid() -> i32 {
    plain(nr::GETPID, 0, 0, 0, 0)
}
pub fn getppid() -> i32 {
    plain(nr::GETPPID, 0, 0, 0, 0)
}
pub fn getpgid(pid: i32) -> i32 {
    plain(nr::GETPGID, pid as usize, 0, 0, 0)
}
pub fn kill(pid: i32, signal: i32) -> i32 {
    plain(nr::KILL, pid as usize, signal as usize, 0, 0)
}

pub fn pidfd_open(pid: i32) -> i32 {
    plain(nr::PIDFD_OPEN, pid as usize, 0, 0, 0)
}

pub fn pidfd_send(pidfd: i32, signal: i32, flags: usize) -> i32 {
    plain(nr::PIDFD_SEND_SIGNAL, pidfd as usize, signal as usize, 0, flags)
}

/// A pidfd is readable once the process, all threads of it, has exited.
pub fn is_readable(fd: i32) -> bool {
    const POLLIN: u32 = 1;
    let mut poll = [fd as u32, POLLIN];
    let no_time = [0u64; 2];
    // SAFETY: one `struct pollfd` and a zero timeout.
    let ready = unsafe { call(poll.as_mut_ptr() as usize, 1, no_time.as_ptr() as usize, 0, nr::PPOLL) };
    ready == 1 && (poll[1] >> 16) & POLLIN != 0
}

/// A copy of this process: 0 in the copy. No exit signal; it dies with us. (If we are killed before it can ask for
/// that, it ends when its work is done: nobody waits for it then.)
pub fn fork() -> i32 {
    const PR_SET_PDEATHSIG: usize = 1;
    // SAFETY: no shared memory, no new stack: a plain fork. Nothing of ours breaks in a copy: there are no locks.
    let pid = unsafe { call(0, 0, 0, 0, nr::CLONE) } as i32;
    if pid == 0 {
        plain(nr::PRCTL, PR_SET_PDEATHSIG, SIGKILL as usize, 0, 0);
    }
    pid
}

/// Whether a child of ours has ended. It is reaped by the question.
pub fn has_ended(child: i32) -> bool {
    const WNOHANG_WALL: usize = 0x4000_0001;
    plain(nr::WAIT4, child as usize, 0, WNOHANG_WALL, 0) != 0
}

/// Reaps helpers that ended long after they were given up.
pub fn reap_all() {
    while plain(nr::WAIT4, -1isize as usize, 0, 0x4000_0001, 0) > 0 {}
}

/// Less than a second.
pub fn sleep_ms(time_ms: u64) {
    let time = [0, time_ms * 1_000_000];
    // SAFETY: no descriptors, one `struct timespec`.
    unsafe { call(0, 0, time.as_ptr() as usize, 0, nr::PPOLL) };
}

/// Blocks every signal there is, for good.
pub fn set_name(name: &[u8; 15]) {
    const PR_SET_NAME: usize = 15;
    // SAFETY: the kernel reads 15 bytes and ends the name itself.
    unsafe { call(PR_SET_NAME, name.as_ptr() as usize, 0, 0, nr::PRCTL) };
}

pub const EPOLLIN: u32 = 1;
pub const EPOLLONESHOT: u32 = 1 << 30;

#[derive(Clone, Copy)]
#[cfg_attr(target_arch = "x86_64", repr(C, packed))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C))]
pub struct Event {
    pub events: u32,
    pub tag: u64,
}

pub fn epoll() -> i32 {
    plain(nr::EPOLL_CREATE1, O_CLOEXEC, 0, 0, 0)
}

pub fn epoll_add(epoll: i32, fd: i32, events: u32, tag: u64) -> i32 {
    const ADD: usize = 1;
    let event = Event { events, tag };
    // SAFETY: one event is read.
    unsafe { call(epoll as usize, ADD, fd as usize, &raw const event as usize, nr::EPOLL_CTL) as i32 }
}

pub fn epoll_remove(epoll: i32, fd: i32) {
    const DEL: usize = 2;
    plain(nr::EPOLL_CTL, epoll as usize, DEL, fd as usize, 0);
}

/// Waits; a negative timeout is for ever. Returns the number of events.
pub fn epoll_wait(epoll: i32, events: &mut [Event], timeout_ms: i32) -> usize {
    let (at, count) = (events.as_mut_ptr() as usize, events.len());
    // SAFETY: the kernel writes at most `count` events.
    let ready = unsafe { syscall6(nr::EPOLL_PWAIT, epoll as usize, at, count, timeout_ms as usize, 0, 8) };
    ready.max(0) as usize
}
