//! CLOCK_BOOTTIME: the clock by which the kernel notes when a process started. It counts suspend and is never set.

/// Nanoseconds since boot, as this time namespace shows them.
pub(crate) fn boottime_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills a local; this clock exists since Linux 2.6.39.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Length of a clock tick of `/proc/PID/stat`: USER_HZ is 100 on every architecture we build for.
pub(crate) const TICK_NS: u64 = 10_000_000;
