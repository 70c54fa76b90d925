//! What the program says when it cannot do what it was asked: what failed, at which step, and the way out.

use std::fmt;

/// The promise does not hold, or the request was refused.
pub const REFUSED: u8 = 1;
/// The command line is not one of ours.
pub const USAGE: u8 = 2;
/// The program could not find out or could not begin: I/O, no supervisor, no such process.
pub const COULD_NOT_LOOK: u8 = 3;
/// As a shell says it: found, but it cannot be executed.
pub const NOT_EXECUTABLE: u8 = 126;
/// As a shell says it: not found.
pub const NOT_FOUND: u8 = 127;
/// Added to the number of the signal that ended a command.
pub const SIGNALLED: u8 = 128;

/// One or two lines on stderr and an exit code.
#[derive(Debug)]
pub struct Failure {
    pub exit: u8,
    message: String,
    way_out: Option<String>,
}

impl Failure {
    pub fn new(exit: u8, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), way_out: None }
    }

    /// What the reader can do about it, on a line of its own.
    pub fn way_out(mut self, hint: impl Into<String>) -> Failure {
        self.way_out = Some(hint.into());
        self
    }

    /// `step: reason`, for a call of ours that failed.
    pub fn step(step: &str, reason: impl fmt::Display) -> Failure {
        Failure::new(COULD_NOT_LOOK, format!("{step}: {reason}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hermes-spawn: {}", self.message)?;
        match &self.way_out {
            Some(hint) => write!(f, "\n              {hint}"),
            None => Ok(()),
        }
    }
}
