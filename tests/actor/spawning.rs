//! Spawning through the library, and what can be done with a child afterwards.

use crate::announce::mail;
use crate::owner::{Answer, Failure, milliseconds, number};
use crate::shapes::{own_program, unescape};
use hermes_spawn::{Child, Command, ExitStatus, Stdio};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex};

static CHILDREN: Mutex<BTreeMap<i32, Arc<Child>>> = Mutex::new(BTreeMap::new());

/// The parent's ends of a child's pipes.
#[derive(Default)]
struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

static PIPES: Mutex<BTreeMap<i32, Pipes>> = Mutex::new(BTreeMap::new());

/// `spawn OPTIONS -- SHAPE`, or with `program=PATH` the program's own arguments instead of a shape.
pub fn spawn(words: &[&str]) -> Answer {
    let cut = words.iter().position(|&w| w == "--").unwrap_or(words.len());
    let (options, shape) = (&words[..cut], words.get(cut + 1..).unwrap_or_default());
    let mut command = command(options, shape)?;
    let mut child = command.spawn_owned()?;
    let pid = child.pid();
    let pipes = Pipes { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() };
    PIPES.lock().expect("pipes").insert(pid, pipes);
    let answer = json!({ "pid": pid, "pgid": child.pgid() });
    CHILDREN.lock().expect("children").insert(pid, Arc::new(child));
    Ok(answer)
}

fn command(options: &[&str], shape: &[&str]) -> Result<Command, Failure> {
    let value = |name: &str| options.iter().find_map(|o| o.strip_prefix(name)?.strip_prefix('='));
    let text = |word: &str| OsString::from_vec(unescape(word));
    let mut command = match value("program") {
        Some(program) => {
            let mut command = Command::new(text(program));
            command.args(shape.iter().map(|word| text(word)));
            command
        }
        None => {
            let mut actor = Command::new(own_program());
            actor.args(["child", mail().0, value("tag").unwrap_or("untagged")]);
            // The owner's own streams are the test's line to it; a child has no business there unless it is asked for.
            actor.stdin(Stdio::null()).stdout(Stdio::null());
            actor.args(shape);
            actor
        }
    };
    for option in options {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "tag" | "program" => &mut command,
            "group_only" => command.group_only(true),
            "keep_session" => command.keep_session(true),
            "controlling_tty" => command.controlling_tty(true),
            "cwd" => command.cwd(text(value)),
            "family" => command.family(value),
            "stdin" => command.stdin(stdio(value, false)?),
            "stdout" => command.stdout(stdio(value, true)?),
            "stderr" => command.stderr(stdio(value, true)?),
            "env_clear" => command.env_clear(),
            "env_remove" => command.env_remove(text(value)),
            "env" => {
                let (key, value) = value.split_once('=').unwrap_or((value, ""));
                command.env(text(key), text(value))
            }
            // SAFETY: the test says that this descriptor is open, and the command is used before it is closed.
            "pass" => command.pass_fd(unsafe { BorrowedFd::borrow_raw(number(value)?) }),
            _ => return Err(Failure::Other(format!("spawn: {option}"))),
        };
    }
    Ok(command)
}

fn stdio(value: &str, to_write: bool) -> Result<Stdio, Failure> {
    Ok(match value {
        "inherit" => Stdio::inherit(),
        "null" => Stdio::null(),
        "piped" => Stdio::piped(),
        path if to_write => Stdio::from(std::os::fd::OwnedFd::from(File::create(path)?)),
        path => Stdio::from(std::os::fd::OwnedFd::from(File::open(path)?)),
    })
}

fn child(word: &str) -> Result<Arc<Child>, Failure> {
    let children = CHILDREN.lock().expect("children");
    children.get(&number(word)?).cloned().ok_or_else(|| Failure::Other(format!("no child {word}")))
}

/// What a handle is for.
pub fn on_child(words: &[&str]) -> Answer {
    match words {
        ["wait", pid] => Ok(status_value(Some(child(pid)?.wait()?))),
        ["wait", pid, ms] => Ok(status_value(child(pid)?.wait_timeout(milliseconds(ms)?)?)),
        ["try-wait", pid] => Ok(status_value(child(pid)?.try_wait()?)),
        ["signal", pid, signal] => Ok(child(pid)?.signal(number(signal)?).map(|()| Value::Null)?),
        ["signal-leader", pid, signal] => Ok(child(pid)?.signal_leader(number(signal)?).map(|()| Value::Null)?),
        ["stop", pid, grace_ms] => Ok(child(pid)?.stop(milliseconds(grace_ms)?).map(|()| Value::Null)?),
        ["exit-fd", pid] => {
            let mut record = Vec::new();
            File::from(child(pid)?.exit_fd()?).read_to_end(&mut record)?;
            let word = |at: usize| record.get(at..at + 4).map(|b| i32::from_ne_bytes(b.try_into().expect("four")));
            let fields = json!({ "size": word(0), "kind": word(4), "code": word(8), "core_dumped": word(12) });
            Ok(json!({ "bytes": record.len(), "record": fields }))
        }
        ["drop", pid] => {
            CHILDREN.lock().expect("children").remove(&number(pid)?);
            PIPES.lock().expect("pipes").remove(&number(pid)?);
            Ok(Value::Null)
        }
        _ => Err(Failure::Other(format!("no such command: {words:?}"))),
    }
}

/// `{"exited": 3}`, `{"signalled": 9, "core_dumped": false}`, `"unknown"`; null while it runs.
pub fn status_value(status: Option<ExitStatus>) -> Value {
    match status {
        None => Value::Null,
        Some(ExitStatus::Exited(code)) => json!({ "exited": code }),
        Some(ExitStatus::Signalled { signal, core_dumped }) => {
            json!({ "signalled": signal, "core_dumped": core_dumped })
        }
        Some(ExitStatus::Unknown) => json!("unknown"),
        #[allow(unreachable_patterns, reason = "the enum may grow")]
        Some(_) => json!("new"),
    }
}

/// The parent's ends of the pipes. Text is one word.
pub fn on_pipe(words: &[&str]) -> Answer {
    let take = |pid: &str| -> Result<Pipes, Failure> {
        Ok(PIPES.lock().expect("pipes").remove(&number(pid)?).unwrap_or_default())
    };
    let put = |pid: &str, pipes: Pipes| -> Answer {
        PIPES.lock().expect("pipes").insert(number(pid)?, pipes);
        Ok(Value::Null)
    };
    let missing = || Failure::Other("not piped".into());
    match words {
        ["read-stdout", pid] => {
            let mut text = Vec::new();
            let mut pipes = take(pid)?;
            pipes.stdout.take().ok_or_else(missing)?.read_to_end(&mut text)?;
            put(pid, pipes)?;
            Ok(json!(String::from_utf8_lossy(&text)))
        }
        ["read-stderr", pid] => {
            let mut text = Vec::new();
            let mut pipes = take(pid)?;
            pipes.stderr.take().ok_or_else(missing)?.read_to_end(&mut text)?;
            put(pid, pipes)?;
            Ok(json!(String::from_utf8_lossy(&text)))
        }
        ["write-stdin", pid, text] => {
            let mut pipes = take(pid)?;
            pipes.stdin.as_mut().ok_or_else(missing)?.write_all(text.as_bytes())?;
            put(pid, pipes)
        }
        ["close-stdin", pid] => {
            let mut pipes = take(pid)?;
            pipes.stdin = None;
            put(pid, pipes)
        }
        _ => Err(Failure::Other(format!("no such command: {words:?}"))),
    }
}
