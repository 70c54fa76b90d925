//! Programs for the ptrace driver's own tests: known system calls, and every way to create a task.

use crate::{announce, raw};
use std::os::unix::thread::JoinHandleExt;

/// The system call that the driver counts from.
pub fn mark() {
    // SAFETY: an option that no kernel knows: EINVAL, and a stop that a tracer recognises.
    unsafe { libc::prctl(crate::seccomp::TRACE_MARK as i32, 0, 0, 0, 0) };
}

/// The same calls in the same number every time: threads one after the other, then three kinds of children, of which
/// one lives on.
pub fn busy() -> ! {
    // A traced process takes even ignored signals, and a wait that one interrupts is two system calls, not one.
    raw::block_all_signals();
    mark();
    for _ in 0..3 {
        let thread = std::thread::spawn(|| {
            for _ in 0..5 {
                raw::ids();
            }
        });
        let thread = thread.into_pthread_t();
        // Not a join: that waits on a futex or not, as it happens. This looks at memory that the kernel clears at the
        // very end of the thread, and makes no system call.
        // SAFETY: a thread that nobody else joins; its value is not asked for.
        while unsafe { libc::pthread_tryjoin_np(thread, std::ptr::null_mut()) } != 0 {
            std::hint::spin_loop();
        }
    }
    let sleeper = raw::fork();
    if sleeper == 0 {
        raw::pause_for_ever();
    }
    for exit_signal in [0, libc::SIGUSR1] {
        let silent = clone_process(exit_signal);
        if silent == 0 {
            raw::ids();
            raw::leave_now(0);
        }
        let mut status = 0;
        // SAFETY: the status is ours. A child without SIGCHLD is found with __WALL only.
        unsafe { libc::waitpid(silent as i32, &mut status, libc::__WALL) };
    }
    // SAFETY: SIGKILL to the sleeper that was just started.
    unsafe { libc::kill(sleeper, libc::SIGKILL) };
    raw::wait_for(sleeper);
    raw::leave_now(7)
}

/// An owner without the library: a program by the supervisor's name is started through a middle process whose exit
/// signal is 0, as a keeper does it.
pub fn stand_in() -> ! {
    std::thread::spawn(|| {
        let middle = clone_process(0);
        if middle == 0 {
            if clone_process(0) == 0 {
                raw::setsid();
                let argv = ["spawn-supervisor", "-c", "true; true"];
                let environment: [String; 0] = [];
                panic!("exec sh: {}", raw::exec("/bin/sh", &argv, &environment));
            }
            raw::leave_now(0);
        }
        let mut status = 0;
        // SAFETY: the status is ours.
        unsafe { libc::waitpid(middle as i32, &mut status, libc::__WALL) };
    });
    announce::announce("stand-in");
    raw::pause_for_ever()
}

/// clone(2) as a fork with another exit signal. Returns twice.
fn clone_process(exit_signal: i32) -> i64 {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: without CLONE_VM and with a null stack this is fork(2); the copy makes system calls only, or execs.
    unsafe { libc::syscall(libc::SYS_clone, exit_signal, nothing, nothing, nothing, nothing) }
}
