//! Many at once: spawning threads, counted rounds, and foreign starts beside the library's own initialisation.

use crate::owner::{Answer, Failure, number};
use crate::spawning::status_value;
use crate::{announce, raw};
use hermes_spawn::{Child, Command, ExitStatus, Stdio};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Children that a storm has started so far.
static STARTED: AtomicU64 = AtomicU64::new(0);

pub fn perform(words: &[&str]) -> Answer {
    match words {
        ["storm", threads] => {
            for _ in 0..number(threads)? {
                std::thread::spawn(storm);
            }
            Ok(json!(null))
        }
        // `rounds FROM COUNT`: spawns, waits, and compares exit codes; answers with the first that was wrong.
        ["rounds", from, count] => {
            let from: u32 = number(from)?;
            for round in from..from + number::<u32>(count)? {
                let code = (round % 256) as i32;
                let status = shell(&format!("exit {code}")).spawn_owned()?.wait()?;
                if status != ExitStatus::Exited(code) {
                    return Err(Failure::Other(format!("round {round}: {}", status_value(Some(status)))));
                }
            }
            Ok(json!(null))
        }
        // `stop-storm THREADS ROUNDS GRACE_MS`: spawn and stop at once.
        ["stop-storm", threads, rounds, grace_ms] => {
            let (rounds, grace): (u32, u64) = (number(rounds)?, number(grace_ms)?);
            let threads: Vec<_> = (0..number(threads)?)
                .map(|_| {
                    std::thread::spawn(move || -> hermes_spawn::Result<()> {
                        for _ in 0..rounds {
                            sleep().spawn_owned()?.stop(Duration::from_millis(grace))?;
                        }
                        Ok(())
                    })
                })
                .collect();
            for thread in threads {
                thread.join().map_err(|_| Failure::Other("a thread panicked".into()))??;
            }
            Ok(json!(null))
        }
        // `crowd COUNT`: so many sleepers, each a group; their pids.
        ["crowd", count] => {
            let mut pids = Vec::new();
            for _ in 0..number(count)? {
                pids.push(sleep().spawn_owned()?.pid());
            }
            Ok(json!(pids))
        }
        ["idle-race", rounds] => idle_race(number(rounds)?),
        // `foreign-storm THREADS MS`: sleepers that inherit whatever is inheritable, started all the while; their pids.
        ["foreign-storm", threads, ms] => {
            let end = Instant::now() + Duration::from_millis(number(ms)?);
            let threads: Vec<_> =
                (0..number(threads)?).map(|_| std::thread::spawn(move || foreign_until(end))).collect();
            let pids: Vec<i32> = threads.into_iter().flat_map(|t| t.join().unwrap_or_default()).collect();
            Ok(json!(pids))
        }
        _ => Err(Failure::Other(format!("no such command: {words:?}"))),
    }
}

/// Spawns for ever, ends what it started a little later, and keeps a few alive at every moment.
fn storm() {
    let mut living: VecDeque<Child> = VecDeque::new();
    loop {
        match sleep().spawn_owned() {
            Ok(child) => living.push_back(child),
            Err(e) => announce::announce_detail_as("storm", "storm-error", json!(e.message())),
        }
        if STARTED.fetch_add(1, Ordering::Relaxed) == 20 {
            announce::announce_as("storm", "storm");
        }
        if living.len() > 3
            && let Some(oldest) = living.pop_front()
        {
            let _ = oldest.signal(libc::SIGKILL);
            let _ = oldest.wait();
        }
    }
}

/// Registers when the supervisor is about to be let go, or has just been: every child must be covered (its supervisor
/// carries out what is asked of it), and none may die of anything but what it is sent.
fn idle_race(rounds: u64) -> Answer {
    let mut until_it_leaves = Duration::ZERO;
    for round in 0..rounds {
        let child = sleep().spawn_owned()?;
        child.signal(libc::SIGCONT)?;
        child.signal(libc::SIGKILL)?;
        match child.wait()? {
            ExitStatus::Signalled { signal: libc::SIGKILL, .. } => {}
            other => return Err(Failure::Other(format!("round {round}: {}", status_value(Some(other))))),
        }
        let freed = Instant::now();
        // How long it stays depends on how busy the machine is: asked anew now and then.
        if round % 20 == 0 {
            while hermes_spawn::status()?.supervisor_pid != 0 {
                std::thread::sleep(Duration::from_micros(100));
            }
            until_it_leaves = freed.elapsed();
        } else {
            // Around that moment, never twice the same: this pause is the case itself.
            std::thread::sleep(until_it_leaves.mul_f64(0.75 + (round * 7919 % 1000) as f64 / 2000.0));
        }
    }
    Ok(json!(hermes_spawn::status()?.supervisor_generation))
}

/// Forks and execs as an old library would: nothing is marked close-on-exec, nothing is closed. At most a hundred a
/// thread, each a shell that says that it has become one by being `sleep` in /proc.
fn foreign_until(end: Instant) -> Vec<i32> {
    let mut pids = Vec::new();
    while Instant::now() < end && pids.len() < 100 {
        let pid = raw::fork();
        if pid == 0 {
            raw::setsid();
            let environment = std::env::var("HERMES_TEST").map(|mark| format!("HERMES_TEST={mark}"));
            let error = raw::exec("/bin/sleep", &["sleep", "600"], &environment.into_iter().collect::<Vec<_>>());
            raw::leave_now(error.raw_os_error().unwrap_or(1));
        }
        pids.push(pid);
    }
    pids
}

fn sleep() -> Command {
    let mut command = Command::new("/bin/sleep");
    command.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::null());
    command
}
