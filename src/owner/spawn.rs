//! Starting an owned child: slot, supervisor, clone, commit, in this order.
//!
//! The slot is taken first and the kernel writes the pid into it, so there is no instant at which the death of this
//! process leaves a child that the supervisor does not know.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::child::{Child, Pipes};
use super::command::{Command, Source};
use super::environment::Environment;
use super::leader::Leader;
use super::runtime::Runtime;
use super::way_out::way_out;
use crate::error::{Error, ErrorCode, Result};
use crate::mark::{Mark, PREFIX, VALUE_BYTES};
use crate::roster::{State, flags};
use crate::sys::child::{Failure, Plan, Step, Stream};
use crate::sys::clone;
use crate::sys::{fd, time};

const STEP: &str = "spawn_owned";

/// A program that another thread of ours still has open for writing in a child between fork and exec is busy for
/// microseconds (ETXTBSY); one that really is being written is reported after this long.
const BUSY_LIMIT: Duration = Duration::from_millis(300);
const BUSY_PAUSE: Duration = Duration::from_millis(1);

pub(super) fn spawn_owned(command: &Command) -> Result<Child> {
    let words = Words::of(command)?;
    let runtime = Runtime::current()?;
    let mut streams = Streams::of(command)?;
    let own_flags = flags::SPAWNED | if command.group_only { flags::GROUP_ONLY } else { 0 };
    let tenancy = runtime.take_slot(State::Starting, own_flags, STEP)?;
    let (slot, word) = (tenancy.slot, tenancy.word);
    if let Err(error) = runtime.ensure_supervised(command.wait_limit) {
        slot.abandon(word);
        runtime.freed(slot);
        return Err(error);
    }
    let mark = mark(runtime, word.serial());
    let environment = words.env.block(&mark);
    let argv: Vec<*const c_char> = words.argv.iter().map(|s| s.as_ptr()).chain([null()]).collect();
    let programs: Vec<&CStr> = words.programs.iter().map(CString::as_c_str).collect();
    let mut pass = command.pass.clone();
    pass.retain(|&fd| fd > 2);
    pass.sort_unstable();
    pass.dedup();
    let identity = runtime.children_can_identify_themselves().then_some(&slot.identity);
    let plan = Plan {
        argv: &argv,
        environment: &environment,
        programs: &programs,
        cwd: words.cwd.as_deref(),
        stdio: streams.plan,
        pass: &pass,
        keep: &pass,
        new_session: !command.keep_session,
        terminal: command.controlling_tty,
        identity,
    };
    let before = time::boottime_ns();
    slot.since.store(before, Ordering::SeqCst);
    let pid = match start(runtime, &plan, tenancy, BUSY_LIMIT.min(command.wait_limit)) {
        Ok(pid) => pid,
        Err(failure) => {
            slot.abandon(word);
            runtime.freed(slot);
            return Err(explain(command, &words, &pass, &failure));
        }
    };
    let after = time::boottime_ns();
    slot.since.store(after, Ordering::SeqCst);
    forget_recycled_ancestor(runtime, pid);
    if command.group_only {
        runtime.roster.let_go(word.serial());
    }
    let tenancy = super::roster::Tenancy { slot, word: slot.commit(word) };
    runtime.ring_soon();
    let inode = identity.map_or(0, |identity| identity.load(Ordering::SeqCst));
    let leader = Arc::new(Leader::new(pid, [before, after], inode));
    Ok(Child::new(runtime, tenancy, leader, std::mem::take(&mut streams.pipes)))
}

fn start(
    runtime: &Runtime,
    plan: &Plan,
    tenancy: super::roster::Tenancy,
    busy_limit: Duration,
) -> std::result::Result<i32, Failure> {
    let begun = Instant::now();
    loop {
        match clone::spawn(plan, &tenancy.slot.pid, runtime.memory) {
            Err(Failure { step: Step::Exec, errno: libc::ETXTBSY, .. }) if begun.elapsed() < busy_limit => {
                // The number of the child that failed must not be taken for the next one's.
                tenancy.slot.pid.store(0, Ordering::SeqCst);
                std::thread::sleep(BUSY_PAUSE);
            }
            result => return result,
        }
    }
}

/// Our child got the number of a recorded ancestor's group: that group is gone, and the record with it.
fn forget_recycled_ancestor(runtime: &Runtime, pid: i32) {
    for entry in &runtime.roster.header.forbidden {
        if entry.load(Ordering::Relaxed) == pid {
            let _ = entry.compare_exchange(pid, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
    }
}

fn mark(runtime: &Runtime, serial: u32) -> CString {
    let id = &runtime.roster.header.owner_id;
    let mark = Mark { owner_id: [id[0].load(Ordering::SeqCst), id[1].load(Ordering::SeqCst)], serial };
    let mut value = [0; VALUE_BYTES];
    let length = mark.write(&mut value);
    CString::new([PREFIX, &value[..length]].concat()).unwrap_or_default()
}

/// Program, arguments, environment and directory as the kernel takes them.
struct Words<'a> {
    programs: Vec<CString>,
    argv: Vec<CString>,
    env: Environment<'a>,
    cwd: Option<CString>,
}

impl<'a> Words<'a> {
    fn of(command: &'a Command) -> Result<Words<'a>> {
        if command.program.is_empty() {
            return Err(Command::invalid("the program", &command.program, "is empty"));
        }
        let env = Environment::of(&command.env)?;
        let name = command.arg0.as_ref().unwrap_or(&command.program);
        let mut argv = vec![c_string("the program's name", name)?];
        for arg in &command.args {
            argv.push(c_string("argument", arg)?);
        }
        let cwd = command.cwd.as_ref().map(|dir| c_string("the directory", dir.as_os_str())).transpose()?;
        let programs = candidates(&command.program, &env)?;
        Ok(Words { programs, argv, env, cwd })
    }
}

fn c_string(what: &str, value: &OsStr) -> Result<CString> {
    CString::new(value.as_bytes()).map_err(|_| Command::invalid(what, value, "contains a NUL byte"))
}

/// The paths to try, as `execvp(3)` does: a name with a slash is a path.
fn candidates(program: &OsStr, env: &Environment) -> Result<Vec<CString>> {
    if program.as_bytes().contains(&b'/') {
        return Ok(vec![c_string("the program", program)?]);
    }
    let path = env.value_of("PATH").unwrap_or(OsStr::new("/bin:/usr/bin"));
    let in_dir = |dir: std::path::PathBuf| c_string("the program", dir.join(program).as_os_str());
    std::env::split_paths(path)
        .map(|dir| if dir.as_os_str().is_empty() { Path::new(".").to_path_buf() } else { dir })
        .map(in_dir)
        .collect()
}

/// The child's streams, and the caller's ends of its pipes.
struct Streams {
    plan: [Stream; 3],
    pipes: Pipes,
    /// The child's ends: closed here once the child has them.
    _ends: Vec<OwnedFd>,
}

impl Streams {
    fn of(command: &Command) -> Result<Streams> {
        let made = |errno| Error::with_errno(ErrorCode::Os, "pipe2", errno, "make a pipe for the child");
        let mut streams = Streams { plan: [Stream::Inherit; 3], pipes: [None, None, None], _ends: Vec::new() };
        for (target, stdio) in command.stdio.iter().enumerate() {
            streams.plan[target] = match &stdio.0 {
                Source::Inherit => Stream::Inherit,
                Source::Null => Stream::Null,
                Source::Fd(fd) => Stream::Fd(fd.as_fd().as_raw_fd()),
                Source::Stdout if target == 2 => match streams.plan[1] {
                    Stream::Inherit => Stream::Fd(1),
                    same => same,
                },
                Source::Stdout => {
                    let told = "only standard error can go where standard output goes";
                    return Err(Error::invalid(STEP, told));
                }
                Source::Piped => {
                    let (reader, writer) = fd::pipe().map_err(made)?;
                    let (child, ours) = if target == 0 { (reader, writer) } else { (writer, reader) };
                    let number = child.as_raw_fd();
                    streams.pipes[target] = Some(ours);
                    streams._ends.push(child);
                    Stream::Fd(number)
                }
            };
        }
        Ok(streams)
    }
}

/// The step, the path and the reason in one sentence.
fn explain(command: &Command, words: &Words, pass: &[i32], failure: &Failure) -> Error {
    let step = failure.step.name();
    let program = words.programs.get(failure.index).map(|path| OsStr::from_bytes(path.to_bytes()));
    let what = match failure.step {
        Step::Exec if words.programs.len() > 1 && failure.errno == libc::ENOENT => {
            format!("execve {}: in none of the directories of PATH", command.program.display())
        }
        Step::Exec => {
            let path = Path::new(program.unwrap_or(&command.program));
            match missing_interpreter(path, failure.errno) {
                Some(interpreter) => format!("execve {}: its interpreter {interpreter} does not run", path.display()),
                None => format!("execve {}", path.display()),
            }
        }
        Step::Cwd => format!("chdir {}", command.cwd.as_deref().unwrap_or(Path::new("")).display()),
        Step::Stdio => format!("dup2 onto descriptor {}", failure.index),
        Step::PassFd => format!("pass descriptor {}", pass.get(failure.index).copied().unwrap_or(-1)),
        Step::Session => "leave the caller's process group".into(),
        Step::Terminal => "take the terminal on descriptor 0".into(),
        Step::CloseOthers => "close the caller's other descriptors".into(),
        Step::Clone => "make a process".into(),
    };
    let error = Error::with_errno(ErrorCode::Spawn, step, failure.errno, what);
    if failure.step == Step::Clone { error.way_out(way_out(step, failure.errno)) } else { error }
}

/// "No such file" for a script that is there means its `#!` line.
fn missing_interpreter(path: &Path, errno: i32) -> Option<String> {
    if errno != libc::ENOENT && errno != libc::EACCES || !path.is_file() {
        return None;
    }
    let mut first = [0u8; 256];
    let length = std::io::Read::read(&mut std::fs::File::open(path).ok()?, &mut first).ok()?;
    let line = first[..length].strip_prefix(b"#!")?.split(|&c| c == b'\n').next()?;
    let interpreter = String::from_utf8_lossy(line).split_whitespace().next()?.to_string();
    (errno == libc::ENOENT || !Path::new(&interpreter).exists()).then_some(interpreter)
}
