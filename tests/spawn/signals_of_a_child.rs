//! Masks and dispositions of a child, as /proc shows them, and that the host's own are as they were.

use super::support::process::status_field;
use super::support::{Launch, Scene};

fn mask(signals: &[i32]) -> u64 {
    signals.iter().fold(0, |mask, signal| mask | 1 << (signal - 1))
}

/// Signals 32 and 33: glibc's own, caught by it when a process gets its second thread, and ignored by some of those
/// that start tests.
const OF_GLIBC: u64 = 1 << 31 | 1 << 32;

/// One line of a `status` file.
fn all_of_field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the field");
    u64::from_str_radix(line.trim(), 16).expect("hex")
}

fn field(text: &str, name: &str) -> u64 {
    all_of_field(text, name) & !OF_GLIBC
}

fn of_host(pid: i32) -> [u64; 3] {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    ["SigBlk:", "SigIgn:", "SigCgt:"].map(|name| field(&status, name))
}

#[test]
fn what_the_host_ignores_stays_ignored_what_it_catches_and_blocks_does_not() {
    let scene = Scene::new();
    let mut command = scene.actor();
    // As nohup does.
    // SAFETY: one system call.
    unsafe {
        use std::os::unix::process::CommandExt;
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        })
    };
    let mut owner = scene.owner_from(command, Launch::default());
    owner.must(&format!("ignore {} {} {} {}", libc::SIGTERM, libc::SIGINT, libc::SIGPIPE, libc::SIGCHLD));
    for signal in [libc::SIGUSR1, libc::SIGALRM, 64] {
        owner.must(&format!("catch {signal}"));
    }
    for signal in [libc::SIGUSR2, libc::SIGTERM, 40] {
        owner.must(&format!("block {signal}"));
    }
    let before = of_host(owner.pid());
    for options in ["", "keep_session", "group_only stdin=piped stderr=piped"] {
        let options = format!("stdout=piped {options}");
        // cat says nothing about signals to anybody, so these are the library's doing.
        let pid = owner.program(&options, "/bin/cat", &["/proc/self/status"]);
        let text = owner.must(&format!("read-stdout {pid}"));
        let text = text.as_str().expect("text");
        owner.must(&format!("drop {pid}"));
        assert_eq!(field(text, "SigBlk:"), 0, "no signal is blocked ({options})");
        assert_eq!(field(text, "SigCgt:"), 0, "none is caught ({options})");
        let ignored = mask(&[libc::SIGHUP, libc::SIGTERM, libc::SIGINT]);
        assert_eq!(field(text, "SigIgn:"), ignored, "nohup and the host's own are kept, PIPE and CHLD not ({options})");
        assert_eq!(field(text, "SigPnd:") | field(text, "ShdPnd:"), 0);
    }
    assert_eq!(of_host(owner.pid()), before, "the host's own are as they were");
    owner.program("stdin=null", "/bin/sleep", &["600"]);
    owner.try_program("", "/no/such/program", &[]).expect_err("missing");
    assert_eq!(of_host(owner.pid()), before, "after a failure too");
}

#[test]
fn a_signal_that_waited_for_the_host_does_not_reach_the_child() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    owner.must(&format!("block {}", libc::SIGUSR1));
    owner.must(&format!("raise {}", libc::SIGUSR1));
    let pid = owner.program("stdin=null", "/bin/sh", &["-c", "exit 5"]);
    assert_eq!(owner.wait(pid)["exited"], 5);
    let pending = status_field(owner.pid(), "ShdPnd:").expect("it runs");
    assert_eq!(u64::from_str_radix(&pending, 16), Ok(mask(&[libc::SIGUSR1])), "it still waits for the host");
}

#[test]
fn the_librarys_own_threads_are_deaf_and_leave_the_c_librarys_signals_open() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    let started = owner.spawn("sleeper");
    scene.seat(&started, "sleeper");
    // glibc's setuid interrupts every thread with signal 33 and waits for each: a thread that blocked it hangs that.
    for name in ["spawn-keeper", "spawn-watcher"] {
        let comm = |tid: &i32| std::fs::read_to_string(format!("/proc/{}/task/{tid}/comm", owner.pid())).ok();
        let tasks = owner.process().tasks();
        let tid = tasks.iter().find(|tid| comm(tid).is_some_and(|comm| comm.trim() == name)).expect(name);
        let status = std::fs::read_to_string(format!("/proc/{}/task/{tid}/status", owner.pid())).expect("status");
        let unblockable = mask(&[libc::SIGKILL, libc::SIGSTOP]);
        assert_eq!(all_of_field(&status, "SigBlk:"), !(OF_GLIBC | unblockable), "{name}");
    }
    // And so the host's setuid returns. (The user it has: root stays root.)
    // SAFETY: cannot fail.
    let user = unsafe { libc::geteuid() };
    owner.must(&format!("setuid {user}"));
}
