//! What to start, and how: the builder.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use super::child::Child;
use super::spawn;
use crate::error::{Error, Result};

/// Where a standard stream of a child comes from or goes to.
#[derive(Debug)]
pub struct Stdio(pub(super) Source);

#[derive(Debug)]
pub(super) enum Source {
    Inherit,
    Null,
    Piped,
    Fd(OwnedFd),
    /// Whatever the child's standard output is.
    Stdout,
}

impl Stdio {
    /// The caller's own stream; closed if the caller has it closed. The default.
    pub fn inherit() -> Stdio {
        Stdio(Source::Inherit)
    }

    /// `/dev/null`.
    pub fn null() -> Stdio {
        Stdio(Source::Null)
    }

    /// A pipe, whose other end the [`Child`] has. The child's end is blocking whatever is done to the other.
    pub fn piped() -> Stdio {
        Stdio(Source::Piped)
    }

    /// For standard error: the same as the child's standard output, as `2>&1` in a shell.
    pub fn to_stdout() -> Stdio {
        Stdio(Source::Stdout)
    }
}

impl From<OwnedFd> for Stdio {
    /// An open file, pipe or socket of the caller's.
    fn from(fd: OwnedFd) -> Stdio {
        Stdio(Source::Fd(fd))
    }
}

impl From<std::fs::File> for Stdio {
    fn from(file: std::fs::File) -> Stdio {
        Stdio(Source::Fd(file.into()))
    }
}

/// One change of the environment, in the order it was asked for.
#[derive(Clone, Debug)]
pub(super) enum EnvChange {
    Set(OsString, OsString),
    Remove(OsString),
    Clear,
}

/// A long-lived child to be started: program, arguments, environment, streams.
///
/// By default it gets a session and process group of its own, the caller's environment, directory and streams, and no
/// other descriptor. Signals that the caller catches are at their default in the child, SIGPIPE and SIGCHLD always;
/// what else the caller ignores stays ignored (as `nohup` expects); no signal is blocked.
///
/// The environment is read where the C library keeps it, as `posix_spawn(3)` does: no other thread may change it while a
/// child is started. `env_clear` and `envs` with a copy of your own do without it.
///
/// ```no_run
/// use hermes_spawn::Command;
///
/// let server = Command::new("python3").args(["-m", "http.server", "0"]).family("dev-server").spawn_owned()?;
/// println!("{} runs, and will not outlive this process", server.pid());
/// # Ok::<(), hermes_spawn::Error>(())
/// ```
#[derive(Debug)]
pub struct Command {
    pub(super) program: OsString,
    pub(super) arg0: Option<OsString>,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<EnvChange>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) stdio: [Stdio; 3],
    pub(super) pass: Vec<i32>,
    pub(super) family: Option<String>,
    pub(super) group_only: bool,
    pub(super) keep_session: bool,
    pub(super) controlling_tty: bool,
    pub(super) wait_limit: Duration,
}

impl Command {
    /// A program by path, or by name to be looked up in the `PATH` that the child will have.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        Command {
            program: program.as_ref().into(),
            arg0: None,
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            stdio: [Stdio::inherit(), Stdio::inherit(), Stdio::inherit()],
            pass: Vec::new(),
            family: None,
            group_only: false,
            keep_session: false,
            controlling_tty: false,
            wait_limit: Duration::MAX,
        }
    }

    /// What the program is told as its own name, `argv[0]`. Default: the program as it was given.
    pub fn arg0(&mut self, name: impl AsRef<OsStr>) -> &mut Command {
        self.arg0 = Some(name.as_ref().into());
        self
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Command {
        self.args.push(arg.as_ref().into());
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = S>) -> &mut Command {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().into()));
        self
    }

    /// Sets a variable of the child's environment. `HERMES_SPAWN` is always the library's own.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Command {
        self.env.push(EnvChange::Set(name.as_ref().into(), value.as_ref().into()));
        self
    }

    /// Sets several variables.
    pub fn envs<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, vars: impl IntoIterator<Item = (K, V)>) -> &mut Command {
        vars.into_iter().for_each(|(name, value)| {
            self.env(name, value);
        });
        self
    }

    /// Leaves a variable out.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Command {
        self.env.push(EnvChange::Remove(name.as_ref().into()));
        self
    }

    /// Starts from an empty environment; what was set before is forgotten.
    pub fn env_clear(&mut self) -> &mut Command {
        self.env.push(EnvChange::Clear);
        self
    }

    /// The child's working directory.
    pub fn cwd(&mut self, dir: impl Into<PathBuf>) -> &mut Command {
        self.cwd = Some(dir.into());
        self
    }

    /// The child's standard input.
    pub fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut Command {
        self.stdio[0] = stdin.into();
        self
    }

    /// The child's standard output.
    pub fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut Command {
        self.stdio[1] = stdout.into();
        self
    }

    /// The child's standard error.
    pub fn stderr(&mut self, stderr: impl Into<Stdio>) -> &mut Command {
        self.stdio[2] = stderr.into();
        self
    }

    /// Gives the child this descriptor under the same number. It is borrowed: the caller keeps it open until
    /// [`spawn_owned`](Command::spawn_owned) has returned, which fails with step `fcntl` otherwise.
    pub fn pass_fd(&mut self, fd: BorrowedFd<'_>) -> &mut Command {
        self.pass.push(fd.as_raw_fd());
        self
    }

    /// What kind of thing this is (`browser`, `mcp-server`...): a name for people. Nothing shows it yet: it is meant for
    /// the record of what was started, which is not in this version.
    pub fn family(&mut self, family: impl Into<String>) -> &mut Command {
        self.family = Some(family.into());
        self
    }

    /// Only the process group is the caller's: what leaves it (by `setsid` or a double fork) is not searched for.
    pub fn group_only(&mut self, group_only: bool) -> &mut Command {
        self.group_only = group_only;
        self
    }

    /// Stay in the caller's session, in a process group of its own: for a child that shares the terminal.
    pub fn keep_session(&mut self, keep_session: bool) -> &mut Command {
        self.keep_session = keep_session;
        self
    }

    /// The terminal on the child's standard input becomes its session's controlling terminal; with
    /// [`keep_session`](Command::keep_session), the child's group becomes that terminal's foreground group.
    pub fn controlling_tty(&mut self, controlling_tty: bool) -> &mut Command {
        self.controlling_tty = controlling_tty;
        self
    }

    /// How long [`spawn_owned`](Command::spawn_owned) may wait for what passes by itself: a supervisor that is being
    /// started (10 s at most) or replaced (3 s), a program that somebody has open for writing (ETXTBSY, 300 ms). For an
    /// event loop, which can try again later.
    pub fn wait_limit(&mut self, limit: Duration) -> &mut Command {
        self.wait_limit = limit;
        self
    }

    /// Starts the child and takes responsibility for it: when this process ends, however it ends, the child does.
    ///
    /// Returns once the program was executed. Any thread may call this. The command can be used again; descriptors
    /// given as [`Stdio`] stay with it. In a forked copy of a process that has used the library the child is the copy's,
    /// with a supervisor of its own.
    ///
    /// # Errors
    /// - `InvalidArgument`: an empty program, a NUL byte, a bad variable name.
    /// - `Spawn`: no child exists; [`step`](Error::step) and [`errno`](Error::errno) say why (`execve`, `chdir`, ...).
    /// - `Os`: no child exists, because a pipe could not be made (step `pipe2`).
    /// - `Supervisor`: no child exists, because nothing could watch over it.
    /// - `RosterFull`: 65,536 children are owned already.
    pub fn spawn_owned(&mut self) -> Result<Child> {
        spawn::spawn_owned(self)
    }

    /// NUL bytes and the like, found before anything is done.
    pub(super) fn invalid(what: &str, value: &OsStr, why: &str) -> Error {
        Error::invalid("spawn_owned", format!("{what} {value:?} {why}"))
    }
}
