//! Recycled numbers, made to order: a stranger that gets exactly the pid that somebody else has just left.

use super::process::{Process, Stat};
use super::sys;
use std::ffi::CString;
use std::io;
use std::process::Command;

/// A process with a chosen pid: the leader of a session and group of that number, blocking every signal, so that
/// whatever anybody sends it stays visible ([`Process::pending_signals`]) and SIGKILL alone ends it.
pub struct Stranger {
    pub process: Process,
}

impl Stranger {
    /// The number must be free: its process gone *and* reaped, and no group or session of that number alive.
    ///
    /// `clone3` with `set_tid` (Linux 5.5) needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN over the pid namespace.
    pub fn with_pid(pid: i32) -> io::Result<Stranger> {
        Stranger::start(|| clone_with_pid(pid))
    }

    /// The other way, for kernels or rights without `set_tid`: writes the number before into `ns_last_pid` and forks.
    /// Another fork can come between, so it is meant for a pid namespace of the test's own, and tries again.
    pub fn by_last_pid(pid: i32) -> io::Result<Stranger> {
        for _ in 0..100 {
            std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string())?;
            // SAFETY: the copy makes system calls only.
            let stranger = Stranger::start(|| sys::check(unsafe { libc::fork() }).map(|pid| pid as i32))?;
            if stranger.process.pid == pid {
                return Ok(stranger);
            }
        }
        Err(io::Error::other(format!("pid {pid} could not be had")))
    }

    fn start(fork: impl FnOnce() -> io::Result<i32>) -> io::Result<Stranger> {
        let program = CString::new(super::scene::actor_program().as_os_str().as_encoded_bytes())?;
        let words = ["actor", "child", "/nowhere", "stranger", "canary"];
        let words: Vec<CString> = words.iter().map(|w| CString::new(*w).expect("no NUL")).collect();
        let argv: Vec<_> = words.iter().map(|w| w.as_ptr()).chain([std::ptr::null()]).collect();
        let environment = [std::ptr::null()];
        let (seen, held) = sys::pipe()?;
        let pid = fork()?;
        if pid == 0 {
            // SAFETY: a copy of one thread of several: system calls only, on memory made before the fork.
            unsafe {
                let mut all = std::mem::zeroed();
                libc::sigfillset(&mut all);
                libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
                libc::setsid();
                // The pipe's close at exec tells the test that the stranger is in position, with its signals blocked.
                libc::execve(program.as_ptr(), argv.as_ptr(), environment.as_ptr());
                libc::_exit(127);
            }
        }
        drop(held);
        use std::io::Read;
        let _ = std::fs::File::from(seen).read(&mut [0; 1]);
        let process = Process::open(pid).ok_or_else(|| io::Error::other("the stranger is gone"))?;
        Ok(Stranger { process })
    }

    /// It lives and nobody has sent it anything.
    #[track_caller]
    pub fn assert_untouched(&self) {
        self.process.assert_untouched("the stranger with a recycled number");
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.process.signal(libc::SIGKILL);
        let _ = sys::wait_pid(self.process.pid, 0);
    }
}

/// Whether pids can be chosen here.
pub fn is_possible() -> Result<(), String> {
    // A number that was just free; somebody else may take it meanwhile, hence more than one try.
    let mut why = String::new();
    for _ in 0..5 {
        let mut probe = Command::new("/bin/true").spawn().expect("true");
        let free = probe.id() as i32;
        let _ = probe.wait();
        match Stranger::with_pid(free) {
            Ok(_) => return Ok(()),
            Err(e) => why = format!("clone3 with set_tid: {e}"),
        }
    }
    Err(why)
}

/// Waits for the clock tick after this process' start: a stranger started in the same 10 ms tick with the same number
/// could not be told apart by start time.
pub fn let_a_tick_pass(process_start_ticks: u64) {
    super::eventually(super::deadline::SOON, "a later clock tick", || sys::boot_ticks() > process_start_ticks + 1);
}

/// Whether no process, group or session uses this number any more.
pub fn is_free(pid: i32) -> bool {
    let uses = |other: i32| Stat::of(other).is_some_and(|s| other == pid || s.pgrp == pid || s.session == pid);
    !super::process::numbers_in("/proc").into_iter().any(uses)
}

fn clone_with_pid(pid: i32) -> io::Result<i32> {
    let wanted = [pid];
    // SAFETY: all-zero is a valid clone_args; the array lives until the call returns. Without CLONE_VM it is a fork.
    unsafe {
        let mut args: libc::clone_args = std::mem::zeroed();
        args.exit_signal = libc::SIGCHLD as u64;
        args.set_tid = wanted.as_ptr() as u64;
        args.set_tid_size = 1;
        let size = std::mem::size_of::<libc::clone_args>();
        sys::check(libc::syscall(libc::SYS_clone3, &args, size)).map(|pid| pid as i32)
    }
}
