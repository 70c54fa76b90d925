//! An owner to script: the actor program, told one command a line and answering one JSON line to each.

use super::deadline::{SOON, eventually_some};
use super::process::{Process, supervisor_of};
use super::scene::Scene;
use super::sys;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How the test talks with an owner.
#[derive(Default)]
pub struct Launch {
    /// Over a socket of its own, and the standard streams as the command has them: for owners whose standard input is
    /// itself the case, or that are started by another process (`sh -c 'owner & wait'`).
    pub over_socket: bool,
}

/// A child as its owner reports it; it may not be in position yet: ask [`Scene::seat`].
#[derive(Clone, Debug)]
pub struct Started {
    pub pid: i32,
    pub tag: String,
}

impl AsRef<str> for Started {
    fn as_ref(&self) -> &str {
        &self.tag
    }
}

/// An error of the library, as the owner reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub code: i64,
    pub name: String,
    pub errno: Option<i64>,
    pub step: String,
    pub message: String,
}

pub struct Owner {
    process: Process,
    /// What the test itself started: the owner, or a shell before it, or nothing.
    child: Option<Child>,
    commands: Option<File>,
    answers: File,
    unread: Vec<u8>,
}

impl Owner {
    /// Starts it and waits for its greeting.
    pub fn start(scene: &Scene, mut command: Command, launch: Launch) -> Owner {
        let mail = scene.mail_path().display().to_string();
        command.args(["owner", &mail]);
        let (child, commands, answers) = if launch.over_socket {
            let door = Door::open(scene);
            let child = command.arg("--via").arg(&door.path).spawn().expect("start an owner");
            return door.owner(Some(child));
        } else {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("start an owner");
            let commands = OwnedFd::from(child.stdin.take().expect("piped"));
            let answers = OwnedFd::from(child.stdout.take().expect("piped"));
            (child, File::from(commands), File::from(answers))
        };
        Owner::adopt(Some(child), commands, answers)
    }

    /// For an owner that somebody else started: takes its pipes and waits for its greeting.
    pub fn adopt(child: Option<Child>, commands: File, answers: File) -> Owner {
        let process = Process::met(child.as_ref().map_or(0, |child| child.id() as i32), 0);
        let mut owner = Owner { process, child, commands: Some(commands), answers, unread: Vec::new() };
        let greeting = owner.answer().expect("a greeting");
        let number = |name: &str| greeting[name].as_i64().expect("a number");
        owner.process = Process::met(number("pid") as i32, number("start") as u64);
        owner
    }

    pub fn process(&self) -> &Process {
        &self.process
    }

    pub fn pid(&self) -> i32 {
        self.process.pid
    }

    /// Sends a command and waits for the answer.
    #[track_caller]
    pub fn ask(&mut self, command: &str) -> Result<Value, Refusal> {
        self.tell(command);
        self.answer()
    }

    /// As [`Owner::ask`], for what must succeed.
    #[track_caller]
    pub fn must(&mut self, command: &str) -> Value {
        match self.ask(command) {
            Ok(value) => value,
            Err(refusal) => panic!("{command}: {refusal:?}"),
        }
    }

    /// Sends a command and does not wait.
    #[track_caller]
    pub fn tell(&mut self, command: &str) {
        assert!(!command.contains('\n'));
        let commands = self.commands.as_mut().expect("the owner's input is open");
        commands.write_all(format!("{command}\n").as_bytes()).expect("tell the owner");
    }

    /// The answer to the oldest command that was not answered yet.
    #[track_caller]
    pub fn answer(&mut self) -> Result<Value, Refusal> {
        let line = match self.line_by(sys::after(SOON * 3)) {
            Some(line) => line,
            None => panic!("the owner (pid {}) does not answer", self.process.pid),
        };
        let answer: Value = serde_json::from_slice(&line).expect("one JSON line");
        if let Some(value) = answer.get("ok") {
            return Ok(value.clone());
        }
        let error = &answer["err"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_string();
        Err(Refusal {
            code: error["code"].as_i64().expect("an error has a code"),
            name: text("name"),
            errno: error["errno"].as_i64(),
            step: text("step"),
            message: text("message"),
        })
    }

    /// One line, or `None` at its end or at the deadline.
    pub fn line_by(&mut self, deadline: Instant) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.unread.iter().position(|&c| c == b'\n') {
                return Some(self.unread.drain(..=end).collect());
            }
            if sys::poll_readable(&[self.answers.as_raw_fd()], deadline).is_empty() {
                return None;
            }
            let mut bytes = [0; 4096];
            match self.answers.read(&mut bytes) {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.unread.extend_from_slice(&bytes[..length]),
            }
        }
    }

    /// Spawns an owned child of this shape.
    #[track_caller]
    pub fn spawn(&mut self, shape: &str) -> Started {
        self.spawn_with("", shape)
    }

    /// With options of the command `spawn`: `group_only`, `keep_session`, `stdin=null`...
    #[track_caller]
    pub fn spawn_with(&mut self, options: &str, shape: &str) -> Started {
        let tag = sys::random_name();
        let answer = self.must(&format!("spawn tag={tag} {options} -- {shape}"));
        Started { pid: answer["pid"].as_i64().expect("a pid") as i32, tag }
    }

    /// Starts a child that the library knows nothing of, in a group of its own.
    #[track_caller]
    pub fn foreign(&mut self, shape: &str) -> Started {
        let tag = sys::random_name();
        let answer = self.must(&format!("foreign tag={tag} -- {shape}"));
        Started { pid: answer["pid"].as_i64().expect("a pid") as i32, tag }
    }

    /// Its supervisor, seen from outside.
    #[track_caller]
    pub fn supervisor(&self) -> Process {
        eventually_some(SOON, "a supervisor of this owner in /proc", || supervisor_of(self.pid()))
    }

    /// SIGKILL. Returns the moment of the signal, from which deadlines count.
    #[track_caller]
    pub fn kill(&mut self) -> Instant {
        self.end_by(|process| process.signal(libc::SIGKILL).expect("kill the owner"))
    }

    /// Whatever ends it: returns the moment at which that was done, when the owner has been reaped.
    #[track_caller]
    pub fn end_by(&mut self, deed: impl FnOnce(&Process)) -> Instant {
        let moment = Instant::now();
        deed(&self.process);
        self.reap();
        moment
    }

    /// Waits for its end and reaps what the test started.
    #[track_caller]
    pub fn reap(&mut self) -> ExitStatus {
        self.process.assert_gone_by(sys::after(SOON), "the owner");
        let status = self.child.as_mut().and_then(|child| child.wait().ok());
        status.unwrap_or(ExitStatus::from_raw(0))
    }

    /// Closes its input, which tells it to leave in good order.
    pub fn close_input(&mut self) {
        if let Some(commands) = self.commands.take() {
            // A socket has a second descriptor, for the answers, and would stay open. To a pipe this is an error.
            // SAFETY: a descriptor that is ours until it is dropped.
            unsafe { libc::shutdown(commands.as_raw_fd(), libc::SHUT_WR) };
        }
    }

    /// Takes note that this owner goes on as another process (after `daemonise`).
    pub fn moved_to(&mut self, process: Process) {
        self.process = process;
    }
}

impl Drop for Owner {
    /// Its children are the scene's to end, not its supervisor's: that may be what is broken.
    fn drop(&mut self) {
        let _ = self.process.signal(libc::SIGKILL);
        self.process.gone_by(sys::after(Duration::from_secs(5)));
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A socket on which an owner will be waited for: one that is started by another owner, say.
pub struct Door {
    pub path: PathBuf,
    listener: UnixListener,
}

impl Door {
    pub fn open(scene: &Scene) -> Door {
        let path = scene.folder().join(scene.fresh_tag());
        let listener = UnixListener::bind(&path).expect("the owner's socket");
        // The owner may run as another user. Who else can come here is the folder's to say.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("chmod");
        Door { path, listener }
    }

    /// Waits for the owner that was told to come here (`--via PATH`).
    #[track_caller]
    pub fn owner(self, child: Option<Child>) -> Owner {
        let ready = sys::poll_readable(&[self.listener.as_raw_fd()], sys::after(SOON));
        assert!(!ready.is_empty(), "the owner never connected");
        let socket = OwnedFd::from(self.listener.accept().expect("accept").0);
        Owner::adopt(child, File::from(socket.try_clone().expect("dup")), File::from(socket))
    }
}
