//! The owners' parts: this program again, told what to be by its arguments and what to do by lines on standard input.
//! The end of its input ends it.

use std::io::{BufRead, Write};
use std::process::{Child, Command, ExitCode, Stdio};

use crate::{recovery, register, spawn, sys};

/// Long enough for any measurement, short enough not to be found a year later.
const SLEEP: (&str, &str) = ("sleep", "900");

pub fn play(words: &[&str]) -> ExitCode {
    let number = |word: &str| word.parse::<usize>().expect("a number");
    match words {
        ["hold", kind, groups, mebibytes] => hold(kind, number(groups), number(mebibytes)),
        ["spawn", mebibytes, rounds] => spawn::alternate(number(mebibytes), number(rounds)),
        ["register", rounds] => register::alternate(number(rounds)),
        _ => {
            eprintln!("no such role: {words:?}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// One line to the measuring process.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("the measuring process listens");
}

/// An owner of `groups` sleeping groups that dies when it is killed. The pids are its first line.
fn hold(kind: &str, groups: usize, mebibytes: usize) {
    let mut owned = Vec::new();
    let mut peers: Vec<Child> = Vec::new();
    for _ in 0..groups {
        match kind {
            "owned" => owned.push(owned_sleeper().spawn_owned().expect("spawn_owned")),
            _ => {
                let mut sleeper = foreign_sleeper();
                peers.push(sys::die_with_parent(&mut sleeper, libc::SIGTERM, true).spawn().expect("spawn"));
            }
        }
    }
    // Last, since std forks for the peers.
    let ballast = touch(mebibytes);
    let pids = owned.iter().map(hermes_spawn::Child::pid).chain(peers.iter().map(|child| child.id() as i32));
    say(&pids.map(|pid| pid.to_string()).collect::<Vec<_>>().join(" "));
    for line in std::io::stdin().lock().lines() {
        match line.as_deref() {
            Ok("supervisor") => say(&supervisor_pid().to_string()),
            Ok("recover") => say(&recovery::recover()),
            _ => break,
        }
    }
    drop(ballast);
}

pub fn supervisor_pid() -> i32 {
    hermes_spawn::status().expect("status").supervisor_pid
}

fn owned_sleeper() -> hermes_spawn::Command {
    let (program, seconds) = SLEEP;
    let mut command = hermes_spawn::Command::new(program);
    command.arg(seconds).stdin(hermes_spawn::Stdio::null()).stdout(hermes_spawn::Stdio::null());
    command
}

pub fn foreign_sleeper() -> Command {
    let (program, seconds) = SLEEP;
    let mut command = Command::new(program);
    command.arg(seconds).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Memory that is really there: every page written to.
pub fn touch(mebibytes: usize) -> Vec<u8> {
    let mut memory = vec![0u8; mebibytes << 20];
    memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    std::hint::black_box(memory)
}
