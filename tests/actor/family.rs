//! Shapes of more than one process: chains, leavers, escapees, daemons.

use crate::announce::{announce, branch, mail};
use crate::raw;
use crate::shapes::{image_of, own_program, stay_above};
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

/// The composed shapes; called for whatever is none of the simple ones.
pub fn play(shape: &[&str]) -> ! {
    match shape {
        // A shell, a wrapper program, and then the shape: three processes, as in `npx tool` or `sh -c "uv run ..."`.
        ["chain", rest @ ..] => {
            let inner = image_of(&[&["wrapper"], rest].concat());
            let program = own_program();
            let mut argv = vec!["sh", "-c", "\"$0\" \"$@\"; exit $?", &program];
            argv.extend(&inner[1..]);
            let environment = std::env::vars().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
            panic!("exec sh: {}", raw::exec("/bin/sh", &argv, &environment));
        }
        ["wrapper", rest @ ..] => {
            let mut command = std::process::Command::new(own_program());
            let mut child = command.args(&image_of(rest)[1..]).spawn().expect("start the wrapped program");
            announce("wrapper");
            let _ = child.wait();
            raw::leave_now(0)
        }
        // The leader stays; a member of its group plays the shape. TERM ends the leader at once.
        ["with", rest @ ..] => stay_above("with", || play_in_copy(rest)),
        // The leader leaves as soon as the member is in position.
        ["leave", rest @ ..] => {
            branch(|| play_in_copy(rest));
            raw::leave_now(0)
        }
        // The leader leaves when its standard input ends, so the test chooses the moment.
        ["leave-at-eof", rest @ ..] => {
            branch(|| play_in_copy(rest));
            announce("leave-at-eof");
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            raw::leave_now(0)
        }
        // Escapees under a parent that stays.
        ["setsid", rest @ ..] => stay_above("setsid", || {
            raw::setsid();
            play_in_copy(rest)
        }),
        ["setpgid", rest @ ..] => stay_above("setpgid", || {
            raw::setpgid();
            play_in_copy(rest)
        }),
        // A daemon: the middle process is gone, so nothing but the environment leads to it. The starter stays.
        ["daemon", rest @ ..] => stay_above("daemon", || daemonise(rest)),
        // The same, and the starter leaves too.
        ["leave-daemon", rest @ ..] => {
            branch(|| daemonise(rest));
            raw::leave_now(0)
        }
        // `env -i setsid x` below a leader that lives: no mark, no group, but a parent.
        ["clean", rest @ ..] => stay_above("clean", || {
            raw::setsid();
            become_clean(rest)
        }),
        // No mark, no group and no parent: the stated limit.
        ["clean-daemon", rest @ ..] => stay_above("clean-daemon", || {
            raw::setsid();
            branch(|| become_clean(rest));
            raw::leave_now(0)
        }),
        // Only what the kernel shows of the environment is lost, as to a program that writes its status over it.
        ["overwritten", rest @ ..] => {
            overwrite_environment();
            play_in_copy(rest);
            raw::leave_now(0)
        }
        // Only the environment is lost.
        ["clean-exec", rest @ ..] => become_clean(rest),
        // `two SHAPE / SHAPE`: both as members of this group.
        ["two", rest @ ..] => {
            let cut = rest.iter().position(|&word| word == "/").expect("two SHAPE / SHAPE");
            branch(|| play_in_copy(&rest[..cut]));
            stay_above("two", || play_in_copy(&rest[cut + 1..]))
        }
        _ => panic!("no such shape: {shape:?}"),
    }
}

fn play_in_copy(shape: &[&str]) {
    crate::shapes::play(shape)
}

fn daemonise(shape: &[&str]) {
    raw::setsid();
    branch(|| play_in_copy(shape));
    raw::leave_now(0)
}

fn become_clean(shape: &[&str]) -> ! {
    let environment: [String; 0] = [];
    panic!("exec: {}", raw::exec(&own_program(), &image_of(shape), &environment));
}

/// Announces itself, waits for SIGTERM and announces that. What comes later finds TERM blocked.
pub fn report_term(role: &str) {
    raw::block_all_signals();
    announce(role);
    raw::wait_for_signal(libc::SIGTERM);
    announce("term");
}

/// Nobody can end a chain of forks from outside, should the supervisor fail to: it ends with the test's folder.
fn leave_with_the_test() {
    if !Path::new(mail().0).exists() {
        raw::leave_now(0);
    }
}

/// Every 5 ms a copy goes on and the original leaves: no list of processes is ever up to date.
pub fn fork_chain() -> ! {
    raw::ignore(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP]);
    announce("fork-chain");
    loop {
        thread::sleep(Duration::from_millis(5));
        leave_with_the_test();
        if raw::fork() != 0 {
            raw::leave_now(0);
        }
    }
}

/// The same, and every copy opens a session of its own.
pub fn session_chain() -> ! {
    raw::ignore(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP]);
    announce("session-chain");
    loop {
        leave_with_the_test();
        if raw::fork() != 0 {
            raw::leave_now(0);
        }
        raw::setsid();
        thread::sleep(Duration::from_millis(5));
    }
}

/// The main thread has ended, another works on: /proc shows a zombie that is alive.
pub fn without_main_thread() -> ! {
    thread::spawn(|| {
        let state = || fs::read_to_string("/proc/self/stat").unwrap_or_default();
        while !state().rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')) {
            thread::yield_now();
        }
        announce("threads-only");
        raw::pause_for_ever()
    });
    // SAFETY: ends this thread only, without unwinding; nothing of it is used by the other.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
    unreachable!("the main thread has ended")
}

/// As a database starts: the starter forks a postmaster into its own session and leaves; workers of the postmaster
/// open sessions of their own and overwrite their environment to show a status in `ps`.
pub fn postgres() -> ! {
    branch(|| {
        raw::setsid();
        for _ in 0..2 {
            branch(|| {
                raw::setsid();
                overwrite_environment();
                raw::ignore(&[libc::SIGTERM]);
                announce("backend");
                raw::pause_for_ever()
            });
        }
        announce("postmaster");
        raw::pause_for_ever()
    });
    raw::leave_now(0)
}

/// Wipes the strings the kernel shows in /proc/PID/environ.
fn overwrite_environment() {
    let (begin, end) = environment_bounds();
    // SAFETY: the kernel's own bounds of memory that is ours to write; nothing reads the environment afterwards.
    unsafe { std::ptr::write_bytes(begin as *mut u8, 0, end - begin) };
}

/// Where the strings of the environment begin and end: fields 50 and 51 of proc_pid_stat(5).
fn environment_bounds() -> (usize, usize) {
    let line = fs::read("/proc/self/stat").expect("own stat");
    let text = String::from_utf8_lossy(&line).into_owned();
    let fields: Vec<&str> = text.rsplit(") ").next().expect("fields").split_ascii_whitespace().collect();
    (fields[47].parse().expect("begin"), fields[48].parse().expect("end"))
}
