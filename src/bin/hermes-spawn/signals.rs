//! Signals as events of a poll loop: blocked, and read from a signalfd.
//!
//! They have to be blocked before the library starts its threads, else one could be delivered to a thread of ours in
//! the instant before that thread blocks them.

use crate::failure::Failure;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};

pub struct Signals(SignalFd);

impl Signals {
    pub fn block(wanted: &[Signal]) -> Result<Signals, Failure> {
        let set: SigSet = wanted.iter().copied().collect();
        set.thread_block().map_err(|errno| Failure::step("block signals", errno.desc()))?;
        let fd = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
            .map_err(|errno| Failure::step("signalfd", errno.desc()))?;
        Ok(Signals(fd))
    }

    /// The next signal that has arrived; `None` when there is none.
    pub fn next(&self) -> Option<Signal> {
        let info = self.0.read_signal().ok()??;
        Signal::try_from(info.ssi_signo as i32).ok()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Drops `signal` if it is pending. The caller has blocked it.
pub fn forget_pending(signal: Signal) {
    let set: SigSet = [signal].into_iter().collect();
    if let Ok(fd) = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC) {
        let _ = fd.read_signal();
    }
}

/// Those of `signals` that whoever started us did not ask us to ignore (nohup ignores HUP, a shell's `&` without job
/// control INT and QUIT). A blocked signal arrives at a signalfd even if it is ignored, so those must stay unblocked.
/// Read from /proc because asking the kernel for a disposition takes an unsafe call.
pub fn not_ignored(signals: &[Signal]) -> Vec<Signal> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    signals.iter().copied().filter(|&signal| ignored >> (signal as i32 - 1) & 1 == 0).collect()
}
