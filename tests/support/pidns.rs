//! A private pid namespace for one test: the test program starts itself again as the second process of a namespace
//! whose first process reaps. Inside, no process of the machine can be seen or signalled, and pids can be chosen.

use super::sys;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{io, ptr};

const INSIDE: &str = "HERMES_TEST_INSIDE_PIDNS";

/// What the namespace's first process does with orphans.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Init {
    Reaps,
    /// As in many containers: whatever is orphaned stays a zombie.
    LeavesZombies,
}

/// For the first line of a test: `if pidns::outside(pidns::test_name!(), Init::Reaps) { return; }`. Runs the same test
/// inside, fails as it fails, and is true; inside it is false at once.
pub fn outside(test: &str, init: Init) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let test = test.split_once("::").map_or(test, |(_crate, path)| path);
    let mut command = Command::new(std::env::current_exe().expect("own path"));
    // Not by its path: a folder's name must not make it look like somebody else to `pkill -f`.
    command.arg0("test-inside").args(["--exact", test, "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
    unsafe { command.pre_exec(move || enter(init)) };
    let output = command.output().expect("start the test inside a namespace");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{test}, inside a pid namespace, {}:\n{text}", output.status);
    assert!(text.contains("1 passed"), "no such test inside: {test}\n{text}");
    // What it has to report is heard where a test outside would be heard.
    eprint!("{text}");
    let skipped = text.lines().find(|line| line.starts_with("SKIPPED"));
    if let Some(line) = skipped {
        super::announce_skip(line);
    }
    true
}

/// Name of the function in which this stands, as the test harness knows it.
#[macro_export]
macro_rules! test_name {
    () => {{
        fn here() {}
        std::any::type_name_of_val(&here).trim_end_matches("::here")
    }};
}

/// In the fork: makes the namespace, becomes its first process in a fork, and returns in a fork of that.
fn enter(init: Init) -> io::Result<()> {
    // SAFETY: system calls with plain integers and literals; this copy has one thread.
    unsafe {
        sys::check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        sys::check(libc::unshare(libc::CLONE_NEWPID | libc::CLONE_NEWNS))?;
        let first = sys::check(libc::fork())? as i32;
        if first != 0 {
            libc::_exit(exit_code_of(first));
        }
        sys::check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        sys::check(libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), private, ptr::null()))?;
        sys::check(libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), 0, ptr::null()))?;
        let second = sys::check(libc::fork())? as i32;
        if second == 0 {
            return Ok(());
        }
        if init == Init::LeavesZombies {
            libc::_exit(exit_code_of(second));
        }
        loop {
            let mut status = 0;
            let pid = libc::waitpid(-1, &mut status, libc::__WALL);
            if pid == second {
                libc::_exit(code(status));
            }
        }
    }
}

fn exit_code_of(pid: i32) -> i32 {
    sys::wait_pid(pid, 0).ok().flatten().map_or(125, code)
}

fn code(status: i32) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}
