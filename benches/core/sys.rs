//! System calls that std has no words for, as safe functions.

#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::null;

fn check(result: libc::c_long) -> Result<libc::c_long> {
    if result == -1 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// A descriptor that means this process, whatever becomes of its number.
pub fn pidfd(pid: i32) -> Result<OwnedFd> {
    // SAFETY: the kernel returns a new descriptor, ours alone.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::syscall(libc::SYS_pidfd_open, pid, 0))? as i32)) }
}

/// SIGKILL by pidfd.
pub fn kill(pidfd: &OwnedFd) -> Result<()> {
    let nothing = null::<libc::siginfo_t>();
    // SAFETY: without siginfo the kernel fills it in.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), libc::SIGKILL, nothing, 0) };
    check(sent).map(drop)
}

/// Waits until the process has ended; false after `timeout_ms`.
pub fn await_end(pidfd: &OwnedFd, timeout_ms: i32) -> bool {
    await_first_end(std::slice::from_ref(pidfd), timeout_ms)
}

/// Waits until one of these processes has ended; false after `timeout_ms`.
pub fn await_first_end(pidfds: &[OwnedFd], timeout_ms: i32) -> bool {
    let polled = |pidfd: &OwnedFd| libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut polled: Vec<_> = pidfds.iter().map(polled).collect();
    // SAFETY: as many structures as their count says.
    unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout_ms) > 0 }
}

/// The process gets `signal` when the thread that starts it ends; in a session of its own if `new_session`.
pub fn die_with_parent(command: &mut Command, signal: i32, new_session: bool) -> &mut Command {
    // SAFETY: two system calls, no memory, no lock.
    unsafe {
        // detached-spawn: ok - the peer that is measured; PR_SET_PDEATHSIG ends it
        command.pre_exec(move || {
            if new_session {
                check(libc::setsid().into())?;
            }
            check(libc::prctl(libc::PR_SET_PDEATHSIG, signal).into()).map(drop)
        })
    }
}

/// No core file of this process and what it starts: nothing is released while one is written.
pub fn no_core_files() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel reads a local.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
}

/// Sleeps of this thread end when they should, not up to 50 us later.
pub fn exact_timers() {
    // SAFETY: a number for this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

unsafe extern "C" {
    static environ: *const *mut libc::c_char;
}

/// The peer: `posix_spawn(3)` with `POSIX_SPAWN_SETSID`, the way a careful C program would start a daemonlike child.
pub fn posix_spawn_setsid(program: &std::ffi::CStr) -> Result<i32> {
    let argv = [program.as_ptr().cast_mut(), std::ptr::null_mut()];
    let mut pid = 0;
    // SAFETY: the attributes are initialised before use and destroyed after; argv is NULL-terminated and outlives the
    // call; nobody changes the environment meanwhile.
    let failed = unsafe {
        let mut attributes = std::mem::zeroed();
        libc::posix_spawnattr_init(&mut attributes);
        // detached-spawn: ok - the peer that is measured
        libc::posix_spawnattr_setflags(&mut attributes, libc::POSIX_SPAWN_SETSID as libc::c_short);
        let failed = libc::posix_spawn(&mut pid, program.as_ptr(), null(), &attributes, argv.as_ptr(), environ);
        libc::posix_spawnattr_destroy(&mut attributes);
        failed
    };
    if failed == 0 { Ok(pid) } else { Err(Error::from_raw_os_error(failed)) }
}

pub fn wait(pid: i32) {
    // SAFETY: no status is asked for.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
}
