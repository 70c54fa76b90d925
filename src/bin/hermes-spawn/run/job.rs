//! The life of the command: one poll loop over signals and the child's end.

use super::terminal::Terminal;
use crate::failure::{COULD_NOT_LOOK, Failure, SIGNALLED};
use crate::signals::{self, Signals};
use hermes_spawn::{Child, ExitStatus};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, killpg, raise};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp};
use std::os::fd::AsFd;

/// Passed on to the child's group. TSTP is among them: it comes to us when the child does not have the terminal.
const PASSED_ON: [Signal; 9] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGWINCH,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGTSTP,
    Signal::SIGCONT,
];

/// What the job wants to hear of. CHLD tells that the child stopped; TTOU must be blocked to handle the terminal.
pub fn signals() -> Vec<Signal> {
    let mut wanted = signals::not_ignored(&PASSED_ON);
    wanted.extend([Signal::SIGCHLD, Signal::SIGTTOU]);
    wanted
}

pub struct Job {
    child: Child,
    signals: Signals,
    terminal: Option<Terminal>,
}

impl Job {
    pub fn new(child: Child, signals: Signals, terminal: Option<Terminal>) -> Job {
        Job { child, signals, terminal }
    }

    /// Serves the child until it has ended; the exit code.
    pub fn until_exit(mut self) -> Result<u8, Failure> {
        let exit = self.child.exit_fd().map_err(|error| Failure::step("run: watch the command", error))?;
        loop {
            let mut fds =
                [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN), PollFd::new(exit.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(Failure::step("run: poll", errno.desc())),
            }
            let ended = fds[1].any().unwrap_or(false);
            while let Some(signal) = self.signals.next() {
                self.on_signal(signal);
            }
            if ended {
                let status = self.child.wait().map_err(|error| Failure::step("run: wait for the command", error))?;
                return self.finish(status);
            }
        }
    }

    fn on_signal(&mut self, signal: Signal) {
        match signal {
            Signal::SIGCHLD => self.look_for_stop(),
            Signal::SIGTTOU => {}
            // `fg` has made us the foreground group, `bg` has not; either way the child goes on.
            Signal::SIGCONT => self.go_on(),
            other => self.pass_on(other),
        }
    }

    /// An error means that nothing is left to signal, which the exit descriptor tells next.
    fn pass_on(&self, signal: Signal) {
        let _ = self.child.signal(signal as i32);
    }

    /// Without WEXITED: the exit status stays where the library fetches it.
    fn look_for_stop(&mut self) {
        let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
        if let Ok(WaitStatus::Stopped(_, signal)) = waitid(Id::Pid(Pid::from_raw(self.child.pid())), flags) {
            self.on_stop(signal);
        }
    }

    fn on_stop(&mut self, signal: Signal) {
        // Without a terminal there is no job control above us: whoever stopped the child will continue the child, and
        // would never think of continuing us.
        let Some(terminal) = &mut self.terminal else { return };
        if matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU) {
            terminal.child_asks();
            if terminal.is_ours() {
                return self.go_on();
            }
        }
        terminal.take_back_for_a_while();
        stop_with(signal);
        // What was sent to us while we stood still (`kill %1`) reaches the child before CONT does: a child that goes on
        // first may ask for the terminal, and stop with us once more.
        while let Some(signal) = self.signals.next() {
            if !matches!(signal, Signal::SIGCHLD | Signal::SIGCONT) {
                self.on_signal(signal);
            }
        }
        self.go_on();
        self.look_for_stop();
    }

    fn go_on(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.give(self.child.pgid());
        }
        self.pass_on(Signal::SIGCONT);
    }

    fn finish(&mut self, status: ExitStatus) -> Result<u8, Failure> {
        let had_terminal = self.terminal.as_ref().is_some_and(Terminal::is_handed);
        match status {
            ExitStatus::Exited(code) => {
                self.terminal.iter_mut().for_each(Terminal::take_back);
                Ok(code as u8)
            }
            ExitStatus::Signalled { signal, .. } => {
                self.terminal.iter_mut().for_each(Terminal::take_back_from_the_dead);
                if had_terminal && signal == Signal::SIGINT as i32 {
                    interrupt_own_group();
                }
                Ok(SIGNALLED.saturating_add(signal as u8))
            }
            ExitStatus::Unknown => {
                self.terminal.iter_mut().for_each(Terminal::take_back);
                Err(Failure::new(COULD_NOT_LOOK, "run: the command has ended, but its exit status is unknown")
                    .way_out("something else reaps the children of hermes-spawn: is a tracer or debugger around it?"))
            }
        }
    }
}

/// Stops us as the child was stopped, and returns when we are continued.
///
/// A stop that came from the terminal stops the whole foreground group, so ours gets it: a subshell or a script that
/// waits for us stops with us, else the shell above would see a job that still runs. SIGSTOP is sent to single
/// processes. If our group is orphaned (nobody above does job control) the kernel ignores the stop and this returns
/// at once: the child goes on.
fn stop_with(signal: Signal) {
    if signal == Signal::SIGSTOP {
        let _ = raise(Signal::SIGSTOP);
    } else {
        take_unblocked(signal, || {
            let _ = killpg(getpgrp(), signal);
        });
    }
    // The CONT that woke us is answered by the caller.
    signals::forget_pending(Signal::SIGCONT);
}

/// ^C went to the child's group alone, and the child died of it. A script or loop that waits for us must hear it too,
/// as it would have without us: else `while true; do hermes-spawn run -- x; done` could not be left.
fn interrupt_own_group() {
    take_unblocked(Signal::SIGINT, || {
        let _ = killpg(getpgrp(), Signal::SIGINT);
    });
}

/// Delivers `signal` to this process within the call, however it is blocked otherwise.
fn take_unblocked(signal: Signal, send: impl FnOnce()) {
    let set: SigSet = [signal].into_iter().collect();
    let before = SigSet::thread_get_mask().unwrap_or_else(|_| SigSet::empty());
    let _ = set.thread_unblock();
    send();
    if before.contains(signal) {
        let _ = set.thread_block();
    }
}
