//! `futex(2)` on words of the roster. Never the PRIVATE kind: owner and supervisor wait for each other here.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Sleeps while `word` is `seen`, at most `timeout`. Returns on a wake, a signal, a changed word or the timeout:
/// callers look again.
pub(crate) fn wait(word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    let spec = timeout.map(|t| libc::timespec {
        tv_sec: t.as_secs().min(i32::MAX as u64) as libc::time_t,
        tv_nsec: t.subsec_nanos() as libc::c_long,
    });
    let spec = spec.as_ref().map_or(std::ptr::null(), |s| s as *const _);
    // SAFETY: an aligned 32-bit word that stays mapped, and a timeout the kernel reads.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, spec) };
}

/// Wakes everybody who sleeps on `word`.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: an aligned 32-bit word.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Sleeps until `done` says so or the deadline is over; false on the latter.
pub(crate) fn wait_until(word: &AtomicU32, deadline: Option<Instant>, mut done: impl FnMut(u32) -> bool) -> bool {
    loop {
        let seen = word.load(Ordering::SeqCst);
        if done(seen) {
            return true;
        }
        let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return false;
        }
        wait(word, seen, left);
    }
}
