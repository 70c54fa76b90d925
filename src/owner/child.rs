//! A child that this process owns.

use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::leader::{ExitStatus, Leader};
use super::mailbox::Answer;
use super::roster::Tenancy;
use super::runtime::{Runtime, Tie};
use super::single;
use super::stop::Stopping;
use crate::error::{Error, ErrorCode, Result};
use crate::identity;
use crate::roster::request::{self, Request};
use crate::sys::process;

/// The caller's ends of a child's pipes.
pub(super) type Pipes = [Option<OwnedFd>; 3];

/// How often a timed wait looks for itself.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// An owned child: its leader, and the group that the leader began.
///
/// Dropping the handle stops nothing: the child stays owned and dies with this process at the latest. All methods may
/// be called from any thread, at once. In a forked copy of this process every method that acts answers
/// `InvalidArgument`: the child is the parent's.
pub struct Child {
    pub(super) runtime: &'static Runtime,
    pub(super) tenancy: Tenancy,
    pub(super) leader: Arc<Leader>,
    watched: AtomicBool,
    pub(super) stopping: Mutex<Option<Stopping>>,
    /// The write end of the child's standard input, if it was piped. Closing it is the child's end of input.
    pub stdin: Option<ChildStdin>,
    /// The read end of the child's standard output, if it was piped.
    pub stdout: Option<ChildStdout>,
    /// The read end of the child's standard error, if it was piped.
    pub stderr: Option<ChildStderr>,
}

impl Child {
    pub(super) fn new(runtime: &'static Runtime, tenancy: Tenancy, leader: Arc<Leader>, pipes: Pipes) -> Child {
        let [stdin, stdout, stderr] = pipes;
        Child {
            runtime,
            tenancy,
            leader,
            watched: AtomicBool::new(false),
            stopping: Mutex::new(None),
            stdin: stdin.map(ChildStdin::from),
            stdout: stdout.map(ChildStdout::from),
            stderr: stderr.map(ChildStderr::from),
        }
    }

    /// The leader's process id.
    pub fn pid(&self) -> i32 {
        self.leader.pid
    }

    /// The process group; the same number, since the leader began it.
    pub fn pgid(&self) -> i32 {
        self.leader.pid
    }

    /// Waits for the leader's end, however long. A group that is then empty is let go; one that is not stays covered
    /// until it is.
    ///
    /// # Errors
    /// `InvalidArgument` in a forked copy. `Os`: the kernel refuses `waitid`. A status that somebody else took is
    /// [`ExitStatus::Unknown`], no error.
    pub fn wait(&self) -> Result<ExitStatus> {
        self.check_mine("wait")?;
        let status = self.leader.collect_blocking()?;
        self.leader_has_ended();
        Ok(status)
    }

    /// Like [`wait`](Child::wait), for at most `timeout`. `None`: it still runs.
    ///
    /// # Errors
    /// As for [`wait`](Child::wait). Without the library's threads `Os`, too, if no pidfd can be opened or polled.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Option<ExitStatus>> {
        if let Some(status) = self.try_wait()? {
            return Ok(Some(status));
        }
        let Some(deadline) = Instant::now().checked_add(timeout) else { return self.wait().map(Some) };
        match &self.runtime.tie {
            Tie::Threads { .. } => {
                if !self.watched.swap(true, Ordering::SeqCst) {
                    self.runtime.watch_end(&self.leader);
                }
                // In slices, should the watcher have been killed: then nobody tells the end.
                while !self.leader.await_end(deadline.min(Instant::now() + LOOK_AGAIN)) {
                    if Instant::now() >= deadline || self.leader.collect()?.is_some() {
                        break;
                    }
                }
            }
            Tie::Single { .. } => drop(single::await_end(self.leader.pid, deadline)?),
        }
        self.try_wait()
    }

    /// How the leader ended, if it has. Never waits.
    ///
    /// # Errors
    /// As for [`wait`](Child::wait).
    pub fn try_wait(&self) -> Result<Option<ExitStatus>> {
        self.check_mine("try_wait")?;
        let status = self.leader.collect()?;
        if status.is_some() {
            self.leader_has_ended();
        }
        Ok(status)
    }

    /// Sends a signal to the whole group (and to the leader, should it have left the group), by way of the supervisor,
    /// which knows the group by more than its number.
    ///
    /// # Errors
    /// `InvalidArgument`: no signal 1 to 64. `NoSuchGroup`: the group has ended. `NotFound`: it was released.
    /// `Permission`: no member may be signalled. `Supervisor`: there is none to do it.
    pub fn signal(&self, signal: i32) -> Result<()> {
        const STEP: &str = "signal";
        self.check_mine(STEP)?;
        check_signal(signal, STEP)?;
        match self.ask(Request::Signal(signal), Duration::ZERO, STEP)? {
            Answer::Done => Ok(()),
            Answer::Gone => Err(self.not_ours(STEP)),
            Answer::Failed(code) => Err(self.refusal(code, STEP)),
        }
    }

    /// Sends a signal to the leader alone, as `kill(pid, signal)` would, but never to another process that got its
    /// number.
    ///
    /// # Errors
    /// `InvalidArgument`: no signal 1 to 64. `NotFound`: the leader has ended. `Permission`: it runs as another user.
    /// `Os`: the kernel refuses it for another reason.
    pub fn signal_leader(&self, signal: i32) -> Result<()> {
        const STEP: &str = "signal_leader";
        self.check_mine(STEP)?;
        check_signal(signal, STEP)?;
        let leader = self.leader.pid;
        self.leader.signal(signal).map_err(|errno| match errno {
            libc::ESRCH => Error::new(ErrorCode::NotFound, STEP, format!("process {leader} has ended")),
            libc::EPERM => Error::with_errno(ErrorCode::Permission, STEP, errno, format!("signal process {leader}")),
            _ => Error::with_errno(ErrorCode::Os, STEP, errno, format!("signal process {leader}")),
        })
    }

    /// A new descriptor (CLOEXEC, the caller's to close) that becomes readable when the leader has ended: one record of
    /// 16 bytes, `u32 size; i32 kind; i32 code; u32 core_dumped` in native byte order, then end of file. Kinds: 0
    /// exited, 1 signalled, 2 unknown. The library reaps the leader for it; [`wait`](Child::wait) still tells the
    /// status.
    ///
    /// # Errors
    /// `Unsupported` without threads: there is nobody to write the record. `Os`: no pipe can be made. `Timeout`: the
    /// watcher thread, which makes it, was killed.
    pub fn exit_fd(&self) -> Result<OwnedFd> {
        const STEP: &str = "exit_fd";
        self.check_mine(STEP)?;
        match self.runtime.tie {
            Tie::Threads { watcher_tid, .. } => self.runtime.exit_pipe(&self.leader, watcher_tid),
            Tie::Single { .. } => {
                let told = "an exit descriptor needs the library's threads, and this process runs without";
                Err(Error::new(ErrorCode::Unsupported, STEP, told))
            }
        }
    }

    pub(super) fn ask(&self, ask: Request, limit: Duration, step: &'static str) -> Result<Answer> {
        if self.tenancy.held().is_none() {
            return Ok(Answer::Gone);
        }
        self.runtime.ensure_supervised(Duration::MAX)?;
        // A leader that nobody reaps makes every question for its group be answered by a zombie, and whether anything
        // else lives must then be read from all of /proc.
        self.runtime.ask(self.tenancy, ask, limit, step, || drop(self.leader.collect()))
    }

    /// Lets an empty group go. Members that are left stay covered; the supervisor frees the slot when they are gone.
    fn leader_has_ended(&self) {
        if self.tenancy.held().is_some() {
            self.runtime.let_go_once_empty(self.tenancy, !self.group_exists());
        }
    }

    /// By its number, which is pinned while a member or the zombie of the leader is left; when it is not, a stranger may
    /// have it, and then the supervisor, which knows better, is asked.
    fn group_exists(&self) -> bool {
        process::probe_group(self.leader.pid) != Err(libc::ESRCH)
    }

    pub(super) fn check_mine(&self, step: &'static str) -> Result<()> {
        if self.runtime.is_mine() {
            return Ok(());
        }
        let told = format!(
            "child {} belongs to process {}, of which this one is a forked copy; only the original can use it",
            self.leader.pid, self.runtime.pid
        );
        Err(Error::invalid(step, told))
    }

    /// Let go while it lived. The mark of a child that was started `group_only` is let go from the beginning, and a
    /// zombie that nobody has reaped yet is no life.
    pub(super) fn was_released(&self) -> bool {
        self.runtime.roster.is_let_go(self.tenancy.word.serial())
            && self.group_exists()
            && identity::group_has_living_member(self.leader.pid)
    }

    pub(super) fn not_ours(&self, step: &'static str) -> Error {
        let group = self.leader.pid;
        if self.was_released() {
            return Error::new(ErrorCode::NotFound, step, format!("group {group} was released and is no longer ours"));
        }
        Error::new(ErrorCode::NoSuchGroup, step, format!("group {group} has ended"))
    }

    pub(super) fn refusal(&self, code: u32, step: &'static str) -> Error {
        let group = self.leader.pid;
        let left = ErrorCode::StillAlive;
        match code {
            request::STUCK => {
                Error::new(left, step, format!("group {group}: a process survives KILL (it waits in the kernel)"))
            }
            request::EPERM_LEFT => {
                Error::new(left, step, format!("group {group}: a member runs as another user and cannot be signalled"))
            }
            request::RECYCLED => Error::new(
                ErrorCode::Identity,
                step,
                format!("group number {group} now belongs to somebody else; nothing was signalled"),
            ),
            request::REFUSED => {
                Error::new(ErrorCode::UnsafeGroup, step, format!("group {group} must never be signalled"))
            }
            errno if errno == libc::ESRCH as u32 => self.not_ours(step),
            errno if errno == libc::EPERM as u32 => {
                let what = format!("signal group {group}");
                Error::with_errno(ErrorCode::Permission, step, libc::EPERM, what)
            }
            errno => Error::with_errno(ErrorCode::Os, step, errno as i32, format!("signal group {group}")),
        }
    }
}

fn check_signal(signal: i32, step: &'static str) -> Result<()> {
    if (1..=64).contains(&signal) {
        return Ok(());
    }
    Err(Error::invalid(step, format!("{signal} is no signal: 1 to 64")))
}

impl Drop for Child {
    fn drop(&mut self) {
        // A zombie nobody can wait for any more would stay for the life of the host. In a forked copy the child is not
        // ours to reap.
        if self.runtime.is_mine() && self.leader.status().is_none() {
            match &self.runtime.tie {
                Tie::Threads { .. } => self.runtime.reap_later(&self.leader),
                Tie::Single { single, .. } => single.reap_later(&self.leader),
            }
        }
    }
}

impl std::fmt::Debug for Child {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Child")
            .field("pid", &self.leader.pid)
            .field("status", &self.leader.status())
            .finish_non_exhaustive()
    }
}
