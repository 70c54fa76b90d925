//! The controlling terminal: whose foreground group it has, and its modes (tcsetpgrp(3), termios(3)).
//!
//! SIGTTOU is blocked in this program, so it may move the foreground group while it is itself in the background.

use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, isatty, tcgetpgrp, tcsetpgrp};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

pub struct Terminal {
    tty: File,
    /// The child gets the terminal whenever we are in the foreground: from the start, or since it asked for it.
    child_wants_it: bool,
    /// The child's group has it now.
    handed: bool,
    modes_before: Option<Termios>,
    modes_of_child: Option<Termios>,
}

impl Terminal {
    /// `None`: this session has no terminal.
    pub fn of_this_session() -> Option<Terminal> {
        let tty = OpenOptions::new().read(true).write(true).custom_flags(nix::libc::O_NOCTTY).open("/dev/tty").ok()?;
        // Part of a pipeline: the other parts may need the terminal (`run -- make | less`) and want to hear ^C, so
        // the child gets it only when it asks, by a read or a change of modes that stops it.
        let child_wants_it = is_terminal(io::stdin()) && is_terminal(io::stdout());
        Some(Terminal { tty, child_wants_it, handed: false, modes_before: None, modes_of_child: None })
    }

    /// Whether the child is to take the terminal itself, before it runs its first instruction: a tcsetpgrp of ours
    /// after the start would come too late for a program that reads at once.
    pub fn hand_over_at_start(&mut self) -> bool {
        // The terminal on descriptor 0 can be another one than the session's: then it is just a file.
        let on_stdin = tcgetpgrp(io::stdin()).is_ok();
        if self.child_wants_it && on_stdin && self.is_ours() {
            self.modes_before = tcgetattr(&self.tty).ok();
            self.handed = true;
        }
        self.handed
    }

    /// Whether our own group is in the foreground. Only then the terminal is ours to give.
    pub fn is_ours(&self) -> bool {
        tcgetpgrp(&self.tty) == Ok(getpgrp())
    }

    pub fn is_handed(&self) -> bool {
        self.handed
    }

    /// The child was stopped because it used the terminal from the background.
    pub fn child_asks(&mut self) {
        self.child_wants_it = true;
    }

    /// Gives the terminal to the child's group if the child wants it and it is ours to give.
    pub fn give(&mut self, group: i32) {
        // While we were stopped by a SIGSTOP of our own, the shell took the terminal without our doing.
        self.handed &= tcgetpgrp(&self.tty) == Ok(Pid::from_raw(group));
        if self.handed || !self.child_wants_it || !self.is_ours() {
            return;
        }
        self.modes_before = tcgetattr(&self.tty).ok();
        if let Some(modes) = self.modes_of_child.take() {
            let _ = tcsetattr(&self.tty, SetArg::TCSADRAIN, &modes);
        }
        self.handed = tcsetpgrp(&self.tty, Pid::from_raw(group)).is_ok();
    }

    /// Makes our group the foreground group again, if the child had it. The modes stay as they are.
    pub fn take_back(&mut self) {
        if self.handed {
            self.handed = false;
            let _ = tcsetpgrp(&self.tty, getpgrp());
        }
    }

    /// The child has stopped: its modes are kept for [`Terminal::give`], and those it found are set again.
    pub fn take_back_for_a_while(&mut self) {
        if self.handed {
            self.modes_of_child = tcgetattr(&self.tty).ok();
            self.take_back_from_the_dead();
        }
    }

    /// The child was killed, perhaps with echo off: the modes it found are set again. A child that ends by itself is
    /// believed to have meant what it did (`stty` is a command too); shells make the same difference.
    pub fn take_back_from_the_dead(&mut self) {
        if self.handed {
            self.take_back();
            if let Some(modes) = &self.modes_before {
                let _ = tcsetattr(&self.tty, SetArg::TCSADRAIN, modes);
            }
        }
    }
}

fn is_terminal(fd: impl std::os::fd::AsFd) -> bool {
    isatty(fd).unwrap_or(false)
}
