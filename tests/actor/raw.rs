//! The system calls that the actor's parts are made of. The actor has no other threads where it forks without exec,
//! except on purpose: an owner that forks a worker is a case of its own.

use std::ffi::CString;
use std::io;

/// fork(2) without exec: 0 in the copy.
pub fn fork() -> i32 {
    // SAFETY: shapes have one thread. An owner has more, and its copy uses nothing that a lock of another thread could
    // hold but malloc, which glibc makes usable after a fork.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", io::Error::last_os_error());
    pid
}

/// Sleeps until a signal ends it.
pub fn pause_for_ever() -> ! {
    loop {
        // SAFETY: no arguments.
        unsafe { libc::pause() };
    }
}

/// _exit(2): no destructor, no atexit.
pub fn leave_now(code: i32) -> ! {
    // SAFETY: never returns.
    unsafe { libc::_exit(code) }
}

pub fn set_disposition(signal: i32, action: libc::sighandler_t) {
    // SAFETY: SIG_IGN and SIG_DFL only.
    unsafe { libc::signal(signal, action) };
}

pub fn ignore(signals: &[i32]) {
    signals.iter().for_each(|&s| set_disposition(s, libc::SIG_IGN));
}

/// Blocks every signal that can be blocked: what is sent from now on stays pending, to be read in /proc.
pub fn block_all_signals() {
    // SAFETY: a full set on our own stack.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}

/// Waits for a signal that is blocked.
pub fn wait_for_signal(signal: i32) {
    let mut got = 0;
    // SAFETY: a set on our own stack.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::sigwait(&set, &mut got);
    }
}

pub fn raise(signal: i32) {
    // SAFETY: plain integers.
    unsafe { libc::kill(libc::getpid(), signal) };
}

pub fn setsid() {
    // SAFETY: no arguments.
    let sid = unsafe { libc::setsid() };
    assert!(sid > 0, "setsid: {}", io::Error::last_os_error());
}

pub fn setpgid() {
    // SAFETY: plain integers: this process into a group of its own.
    let result = unsafe { libc::setpgid(0, 0) };
    assert!(result == 0, "setpgid: {}", io::Error::last_os_error());
}

pub fn wait_for(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the status is ours.
    unsafe { libc::waitpid(pid, &mut status, 0) };
    status
}

pub fn ids() -> (i32, i32, i32, i32) {
    // SAFETY: no arguments, cannot fail.
    unsafe { (libc::getpid(), libc::getppid(), libc::getpgrp(), libc::getsid(0)) }
}

/// prctl(PR_SET_NAME): at most 15 bytes are kept, and any byte is allowed.
pub fn rename(name: &[u8]) {
    let name = CString::new(name).expect("a name without NUL");
    // SAFETY: a NUL-terminated string.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// execve(2) with an environment of the caller's choice. Returns only on failure.
pub fn exec(program: &str, argv: &[&str], environment: &[String]) -> io::Error {
    let text = |s: &str| CString::new(s).expect("no NUL");
    let argv: Vec<CString> = argv.iter().map(|s| text(s)).collect();
    let environment: Vec<CString> = environment.iter().map(|s| text(s)).collect();
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
    };
    // SAFETY: both arrays end with a null pointer and live until the call returns.
    unsafe { libc::execve(text(program).as_ptr(), pointers(&argv).as_ptr(), pointers(&environment).as_ptr()) };
    io::Error::last_os_error()
}

/// An inheritable pipe: (read end, write end).
pub fn pipe() -> (i32, i32) {
    let mut ends = [0; 2];
    // SAFETY: room for two.
    let result = unsafe { libc::pipe(ends.as_mut_ptr()) };
    assert!(result == 0, "pipe: {}", io::Error::last_os_error());
    (ends[0], ends[1])
}

pub fn close(fd: i32) {
    // SAFETY: the actor's own descriptor, used nowhere else.
    unsafe { libc::close(fd) };
}

pub fn set_inheritable(fd: i32) {
    // SAFETY: a descriptor of our own.
    unsafe { libc::fcntl(fd, libc::F_SETFD, 0) };
}
