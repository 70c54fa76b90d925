//! No descriptor in the host's table, no signal handler, no changed mask or disposition, no SIGCHLD, no child for
//! `waitpid(-1)`: all of it seen from outside, before and after the first use. What the host can notice is two threads,
//! deaf to every signal.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use hermes_spawn::{own_process_groups, release_process_groups};

use crate::outside::{OUR_THREADS, children, descriptors, signals, threads};
use crate::stage::Stage;
use crate::{next_order, say, sleeper};

/// Signals 32 and 33 are glibc's own: it installs a handler with the first thread of any program (and its
/// `posix_spawn` makes the child ignore them before), and no thread may block them.
const GLIBC: u64 = 0b11 << 31;
const KILL_AND_STOP: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);
const CHLD: u64 = 1 << (libc::SIGCHLD - 1);

#[derive(Debug, PartialEq)]
struct Seen {
    descriptors: std::collections::BTreeMap<i32, String>,
    caught: u64,
    ignored: u64,
    blocked: u64,
    children: Vec<i32>,
}

fn look(pid: i32) -> Seen {
    let path = format!("/proc/{pid}/status");
    Seen {
        descriptors: descriptors(pid),
        caught: signals(&path, "SigCgt") & !GLIBC,
        ignored: signals(&path, "SigIgn") & !GLIBC,
        blocked: signals(&path, "SigBlk"),
        children: children(pid),
    }
}

pub fn claim(stage: &Stage) {
    let mut owner = stage.role(&["host"]);
    let pid = owner.pid();
    let status = format!("/proc/{pid}/status");
    assert_eq!(owner.line(), "ready");
    let before = look(pid);
    assert_eq!(threads(pid).len(), 1, "a host with one thread");

    // A group of somebody else's: the library starts its threads and a supervisor, the host has no child.
    let mut stranger = foreign_sleeper();
    assert_eq!(owner.ask(&format!("own {}", stranger.id())), "waitpid -1, errno ECHILD");
    assert_eq!(look(pid), before, "after own");
    assert_eq!(signals(&status, "ShdPnd") & CHLD, 0, "a SIGCHLD came");
    let ours: Vec<(i32, String)> = threads(pid).into_iter().filter(|&(tid, _)| tid != pid).collect();
    let mut names: Vec<&str> = ours.iter().map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, OUR_THREADS);
    for (tid, name) in &ours {
        let blocked = signals(&format!("/proc/{pid}/task/{tid}/status"), "SigBlk");
        assert_eq!(blocked, !(KILL_AND_STOP | GLIBC), "{name} is deaf");
    }

    // A child that never became a program leaves no trace.
    assert_eq!(owner.ask("fail"), "waitpid -1, errno ECHILD");
    assert_eq!(look(pid), before, "after a failed spawn");
    assert_eq!(signals(&status, "ShdPnd") & CHLD, 0, "a SIGCHLD came of a child that never was a program");

    // A child is a child like any other.
    let child: i32 = owner.ask("spawn").parse().expect("a pid");
    assert_eq!(look(pid), Seen { children: vec![child], ..look(pid) }, "after a spawn");
    assert_eq!(Seen { children: vec![], ..look(pid) }, before, "after a spawn");
    // The control: a real child's end is a SIGCHLD, and the look at pending signals sees it.
    assert_eq!(owner.ask("end"), "waitpid -1, errno ECHILD");
    assert_eq!(look(pid), before, "after the child's end");
    assert_eq!(signals(&status, "ShdPnd") & CHLD, CHLD, "the child's end was told as usual");
    let _ = stranger.kill();
    let _ = stranger.wait();
}

fn foreign_sleeper() -> std::process::Child {
    let mut command = Command::new("sleep");
    command.arg("600").stdin(Stdio::null()).stdout(Stdio::null());
    crate::sys::die_with_parent(&mut command, libc::SIGKILL, false).process_group(0).spawn().expect("start a sleeper")
}

pub fn play() {
    block_sigchld();
    say("ready");
    let mut child = None;
    while let Some(order) = next_order() {
        match order.split_once(' ').unwrap_or((&order, "")) {
            ("own", group) => {
                let group = group.parse().expect("a group");
                own_process_groups(&[group]).expect("own");
                release_process_groups(&[group]).expect("release");
                say(wait_any());
            }
            ("fail", _) => {
                hermes_spawn::Command::new("/nonexistent").spawn_owned().expect_err("must fail");
                say(wait_any());
            }
            ("spawn", _) => {
                let started = sleeper().spawn_owned().expect("spawn_owned");
                say(started.pid());
                child = Some(started);
            }
            _ => {
                let child = child.take().expect("a child");
                child.stop(std::time::Duration::from_secs(5)).expect("stop");
                child.wait().expect("wait");
                say(wait_any());
            }
        }
    }
}

/// So that one that comes stays pending, for everybody to see.
fn block_sigchld() {
    // SAFETY: the set is initialised before use; the mask is this thread's own.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// What a host's own loop would find.
fn wait_any() -> String {
    // SAFETY: no status is asked for.
    let pid = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
    let errno = std::io::Error::last_os_error().raw_os_error();
    let name = if errno == Some(libc::ECHILD) { "ECHILD".to_string() } else { format!("{errno:?}") };
    format!("waitpid {pid}, errno {name}")
}
