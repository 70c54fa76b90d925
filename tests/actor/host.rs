//! What a host has and does beside the library: descriptors, handlers and masks, its own waiting, its own measuring.

use crate::owner::{Answer, Failure, number};
use hermes_spawn::{Command, Stdio};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

/// `None`: not one of these.
pub fn perform(words: &[&str]) -> Option<Answer> {
    Some(match words {
        // Close-on-exec, as a careful host opens its files; `passed` is the child's business then.
        ["open", path] => File::open(path).map(|file| json!(file.into_raw_fd())).map_err(Failure::from),
        // A writer that the kernel holds against whoever executes the file.
        ["open-to-write", path] => {
            fs::OpenOptions::new().append(true).open(path).map(|file| json!(file.into_raw_fd())).map_err(Failure::from)
        }
        ["close", fd] => number(fd).map(|fd| {
            crate::raw::close(fd);
            Value::Null
        }),
        // As a careless host does: inheritable, without end.
        ["open-many", count] => number(count).and_then(open_many),
        // Neither this process nor what it starts may have more.
        ["limit-files", most] => number(most).and_then(|most| {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            // SAFETY: a limit on our own stack.
            match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
                0 => Ok(Value::Null),
                _ => Err(std::io::Error::last_os_error().into()),
            }
        }),
        // The host waits for a child by itself: its raw status, or the errno.
        ["reap", pid] => number(pid).map(|pid: i32| {
            let mut status = 0;
            // SAFETY: the status is ours.
            let reaped = unsafe { libc::waitpid(pid, &mut status, 0) };
            let errno = (reaped == -1).then(|| std::io::Error::last_os_error().raw_os_error());
            json!({ "pid": reaped, "status": status, "errno": errno })
        }),
        ["catch", signal] => number(signal).map(|signal| {
            let handler: extern "C" fn(i32) = ignore_it;
            // SAFETY: a handler that does nothing.
            unsafe { libc::signal(signal, handler as libc::sighandler_t) };
            Value::Null
        }),
        // In the thread that carries out the commands.
        ["block", signal] => number(signal).map(|signal| {
            // SAFETY: a set on our own stack.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::sigaddset(&mut set, signal);
                libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            }
            Value::Null
        }),
        // `spawn-times COUNT`: microseconds of each of so many spawns.
        ["spawn-times", count] => number(count).and_then(spawn_times),
        // `fresh-scripts THREADS ROUNDS FOLDER`: each writes a script, closes it and spawns it, at once.
        ["fresh-scripts", threads, rounds, folder] => fresh_scripts(threads, rounds, folder),
        _ => return None,
    })
}

extern "C" fn ignore_it(_: i32) {}

fn open_many(count: u64) -> Answer {
    let most = libc::rlimit { rlim_cur: count + 1000, rlim_max: count.max(4096) + 1000 };
    // SAFETY: a limit on our own stack; descriptors of our own, kept for ever.
    unsafe {
        if libc::setrlimit(libc::RLIMIT_NOFILE, &most) != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        let first = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
        let last = (1..count).fold(first, |_, _| libc::dup(first));
        Ok(json!({ "first": first, "last": last }))
    }
}

fn spawn_times(count: u32) -> Answer {
    let mut command = Command::new("/bin/true");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut times = Vec::new();
    for _ in 0..count {
        let begin = Instant::now();
        let child = command.spawn_owned()?;
        times.push(begin.elapsed().as_micros() as u64);
        child.wait()?;
    }
    Ok(json!(times))
}

fn fresh_scripts(threads: &str, rounds: &str, folder: &str) -> Answer {
    let rounds: u32 = number(rounds)?;
    let write_and_run = |path: String| -> Result<(), Failure> {
        for _ in 0..rounds {
            let mut script = File::create(&path)?;
            script.write_all(b"#!/bin/sh\nexit 7\n")?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            drop(script);
            let status = Command::new(&path).stdin(Stdio::null()).spawn_owned()?.wait()?;
            if status != hermes_spawn::ExitStatus::Exited(7) {
                return Err(Failure::Other(format!("{path}: {status:?}")));
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let begin = |n| scope.spawn(move || write_and_run(format!("{folder}/script-{n}")));
        let running: Vec<_> = (0..number(threads)?).map(begin).collect::<Vec<_>>();
        for thread in running {
            thread.join().map_err(|_| Failure::Other("a thread panicked".into()))??;
        }
        Ok(Value::Null)
    })
}
