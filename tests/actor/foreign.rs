//! What the library has no part in: children started by the host's own means, memory, and a look at oneself.

use crate::{raw, shapes};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Starts a shape that the library knows nothing of: the leader of a group of its own, as an SDK or a browser harness
/// would start it. Standard input is `/dev/null`, so that it holds no pipe of the test.
pub fn start(tag: &str, shape: &[&str], own_session: bool) -> std::io::Result<i32> {
    let mut command = Command::new(shapes::own_program());
    command.args(["child", crate::announce::mail().0, tag]).args(shape).stdin(Stdio::null()).stdout(Stdio::null());
    if own_session {
        // SAFETY: setsid is one system call.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                Ok(())
            })
        };
    } else {
        command.process_group(0);
    }
    // Dropping the handle neither stops nor reaps: the host forgets it, as hosts do.
    Ok(command.spawn()?.id() as i32)
}

/// Allocates and touches this much memory, for ever.
pub fn touch(mebibytes: usize) {
    let mut block = vec![0u8; mebibytes << 20];
    for page in block.chunks_mut(4096) {
        page[0] = 1;
    }
    std::mem::forget(block);
}

/// A copy without exec that holds whatever it inherited, and lives: a multiprocessing worker, a prefork server.
pub fn fork_worker(tag: &str) -> i32 {
    let pid = raw::fork();
    if pid == 0 {
        crate::announce::announce_as(tag, "worker");
        raw::pause_for_ever();
    }
    pid
}

/// How this process stands in the world: descriptors, signals, directory, environment, terminal. (A Rust program has
/// SIGPIPE ignored and SIGSEGV handled by its own start-up: what a child is given is better asked of `cat
/// /proc/self/status`.)
pub fn own_world() -> Value {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let signals: BTreeMap<&str, &str> = status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.starts_with("Sig") || name.starts_with("Shd"))
        .map(|(name, value)| (name, value.trim()))
        .collect();
    // SAFETY: asks for the foreground group of whatever terminal is on descriptor 0.
    let foreground = unsafe { libc::tcgetpgrp(0) };
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    json!({
        "cwd": std::env::current_dir().ok(),
        "fds": descriptors(),
        "non_blocking": (0..3).filter(|&fd| is_non_blocking(fd)).collect::<Vec<i32>>(),
        "signals": signals,
        "environment": environment,
        "foreground": foreground,
    })
}

/// Open descriptors: number to link.
pub fn descriptors() -> BTreeMap<i32, String> {
    let entries = fs::read_dir("/proc/self/fd").expect("own descriptors");
    let numbers: Vec<i32> = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect();
    // The folder's own descriptor is closed by now and has no link any more.
    let link = |fd: &i32| fs::read_link(format!("/proc/self/fd/{fd}")).ok();
    numbers.iter().filter_map(|fd| Some((*fd, link(fd)?.to_string_lossy().into_owned()))).collect()
}

fn is_non_blocking(fd: i32) -> bool {
    // SAFETY: asks for flags.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags != -1 && flags & libc::O_NONBLOCK != 0
}
