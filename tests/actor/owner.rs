//! The owner's part: one command a line, one JSON line as the answer, `{"ok": ...}` or `{"err": {...}}`.
//!
//! The end of its input makes it leave in good order, so an owner whose test was killed does not stay behind.

use crate::announce::{self, start_ticks};
use crate::{deeds, foreign, host, raw, spawning, storms};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

/// What a command can end in.
pub enum Failure {
    Library(hermes_spawn::Error),
    /// The test asked for something that cannot be done; code 0.
    Other(String),
}

impl From<hermes_spawn::Error> for Failure {
    fn from(error: hermes_spawn::Error) -> Failure {
        Failure::Library(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Other(error.to_string())
    }
}

pub type Answer = Result<Value, Failure>;

static JOBS: Mutex<BTreeMap<usize, JoinHandle<Answer>>> = Mutex::new(BTreeMap::new());

pub fn serve(mail: &str, via: Option<&str>) -> ! {
    announce::set_mail(mail, "owner");
    let (commands, mut answers) = match via {
        Some(path) => {
            let socket = UnixStream::connect(path).expect("the test's socket");
            let both = OwnedFd::from(socket.try_clone().expect("dup"));
            (File::from(both), File::from(OwnedFd::from(socket)))
        }
        // The streams themselves and no copies: a command may close everything from 3 on.
        // SAFETY: nothing else in this program reads or writes them, or closes them before its end.
        None => unsafe { (File::from_raw_fd(0), File::from_raw_fd(1)) },
    };
    say(&mut answers, greeting());
    for line in BufReader::new(commands).lines() {
        let Ok(line) = line else { break };
        let words: Vec<&str> = line.split_whitespace().collect();
        say(&mut answers, perform(&words));
    }
    std::process::exit(0)
}

fn greeting() -> Answer {
    Ok(json!({ "pid": raw::ids().0, "start": start_ticks() }))
}

fn say(answers: &mut File, answer: Answer) {
    let line = match answer {
        Ok(value) => json!({ "ok": value }),
        Err(Failure::Library(e)) => json!({ "err": {
            "code": e.code() as i32, "name": e.code().name(), "errno": e.errno(), "step": e.step(), "message": e.message(),
        } }),
        Err(Failure::Other(message)) => json!({ "err": { "code": 0, "message": message } }),
    };
    let _ = answers.write_all(format!("{line}\n").as_bytes());
}

/// Carries out one command.
pub fn perform(words: &[&str]) -> Answer {
    match words {
        ["configure", settings @ ..] => configure(settings),
        ["status"] => status(),
        ["spawn", rest @ ..] => spawning::spawn(rest),
        ["own", groups @ ..] => Ok(hermes_spawn::own_process_groups(&numbers(groups)?).map(|()| Value::Null)?),
        ["release", groups @ ..] => Ok(hermes_spawn::release_process_groups(&numbers(groups)?).map(|()| Value::Null)?),
        ["once-empty", group] => {
            Ok(hermes_spawn::release_process_group_once_empty(number(group)?).map(|()| Value::Null)?)
        }
        ["foreign", option, "--", shape @ ..] => {
            let tag = option.strip_prefix("tag=").ok_or_else(|| Failure::Other("foreign tag=T -- SHAPE".into()))?;
            Ok(json!({ "pid": foreign::start(tag, shape, false)? }))
        }
        ["fork-worker", tag] => Ok(json!({ "pid": foreign::fork_worker(tag) })),
        // In another thread, which then ends.
        ["thread", rest @ ..] => {
            let line = rest.join(" ");
            let thread = std::thread::spawn(move || perform(&line.split_whitespace().collect::<Vec<_>>()));
            thread.join().map_err(|_| Failure::Other("the thread panicked".into()))?
        }
        // In the background; `join` waits for the answer.
        ["bg", rest @ ..] => {
            let line = rest.join(" ");
            let thread = std::thread::spawn(move || perform(&line.split_whitespace().collect::<Vec<_>>()));
            let mut jobs = JOBS.lock().expect("jobs");
            let id = jobs.keys().last().map_or(0, |last| last + 1);
            jobs.insert(id, thread);
            Ok(json!(id))
        }
        ["join", id] => {
            let job = JOBS.lock().expect("jobs").remove(&number(id)?);
            let job = job.ok_or_else(|| Failure::Other(format!("no job {id}")))?;
            job.join().map_err(|_| Failure::Other("the job panicked".into()))?
        }
        ["storm" | "crowd" | "rounds" | "stop-storm" | "idle-race" | "foreign-storm", ..] => storms::perform(words),
        ["wait" | "try-wait" | "signal" | "signal-leader" | "stop" | "exit-fd" | "drop", ..] => {
            spawning::on_child(words)
        }
        ["read-stdout" | "read-stderr" | "write-stdin" | "close-stdin", ..] => spawning::on_pipe(words),
        _ => host::perform(words).unwrap_or_else(|| deeds::perform(words)),
    }
}

pub fn number<T: std::str::FromStr>(word: &str) -> Result<T, Failure> {
    word.parse().map_err(|_| Failure::Other(format!("not a number here: {word}")))
}

fn numbers(words: &[&str]) -> Result<Vec<i32>, Failure> {
    words.iter().map(|word| number(word)).collect()
}

pub fn milliseconds(word: &str) -> Result<Duration, Failure> {
    Ok(Duration::from_millis(number(word)?))
}

fn configure(settings: &[&str]) -> Answer {
    let mut config = hermes_spawn::Config::new();
    for setting in settings {
        config = match setting.split_once('=') {
            Some(("grace", ms)) => config.grace(milliseconds(ms)?),
            Some(("idle", ms)) => config.idle(milliseconds(ms)?),
            Some(("home", path)) => config.home(path),
            Some(("threads", yes)) => config.threads(yes == "1"),
            _ => return Err(Failure::Other(format!("configure: {setting}"))),
        };
    }
    Ok(hermes_spawn::configure(config).map(|()| Value::Null)?)
}

fn status() -> Answer {
    let status = hermes_spawn::status()?;
    let guarantees: BTreeMap<&str, Value> =
        status.guarantees.iter().map(|g| (g.name, json!({ "value": g.value, "why": g.why }))).collect();
    Ok(json!({
        "supervisor_pid": status.supervisor_pid,
        "supervisor_generation": status.supervisor_generation,
        "slots_in_use": status.slots_in_use,
        "grace_ms": status.grace.as_millis() as u64,
        "idle_ms": status.idle.as_millis() as u64,
        "weak_groups": status.weak_groups,
        "guarantees": guarantees,
        "last_supervisor_error": status.last_supervisor_error,
        "home": status.home,
    }))
}
