//! The one error of the library, with a stable code.

use std::fmt;

/// What went wrong, as a number that never changes its meaning (the C ABI's `int32_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum ErrorCode {
    /// An argument, or a call at the wrong time; the message names it and its value.
    InvalidArgument = -1,
    /// A system call failed; errno says how, the step which.
    Os = -2,
    /// A group that must never be signalled: ours, an ancestor's, 0, 1, negative.
    UnsafeGroup = -3,
    /// No such process group.
    NoSuchGroup = -4,
    /// The group belongs to another user.
    Permission = -5,
    /// The child could not be started; step, errno and path say why. No child exists.
    Spawn = -6,
    /// No supervisor can be started on this machine; the reason is in the message. No child exists.
    Supervisor = -7,
    /// All 65,536 slots are taken, or this process has started 2^27 children.
    RosterFull = -8,
    /// The time given was over.
    Timeout = -9,
    /// It is no longer the process it was: a recycled number.
    Identity = -13,
    /// Nothing by that name or handle.
    NotFound = -14,
    /// `stop` left something that cannot be ended; the message says what.
    StillAlive = -15,
    /// This kernel, or this mode, cannot do it.
    Unsupported = -16,
    /// A defect of the library: the call panicked. What it was about is poisoned; supervision goes on.
    Panic = -17,
    /// A call on this handle has panicked before; it can only be freed.
    Poisoned = -18,
}

impl ErrorCode {
    /// The name that other languages use, `HERMES_ERR_...`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorCode::InvalidArgument => "HERMES_ERR_INVALID_ARGUMENT",
            ErrorCode::Os => "HERMES_ERR_OS",
            ErrorCode::UnsafeGroup => "HERMES_ERR_UNSAFE_GROUP",
            ErrorCode::NoSuchGroup => "HERMES_ERR_NO_SUCH_GROUP",
            ErrorCode::Permission => "HERMES_ERR_PERMISSION",
            ErrorCode::Spawn => "HERMES_ERR_SPAWN",
            ErrorCode::Supervisor => "HERMES_ERR_SUPERVISOR",
            ErrorCode::RosterFull => "HERMES_ERR_ROSTER_FULL",
            ErrorCode::Timeout => "HERMES_ERR_TIMEOUT",
            ErrorCode::Identity => "HERMES_ERR_IDENTITY",
            ErrorCode::NotFound => "HERMES_ERR_NOT_FOUND",
            ErrorCode::StillAlive => "HERMES_ERR_STILL_ALIVE",
            ErrorCode::Unsupported => "HERMES_ERR_UNSUPPORTED",
            ErrorCode::Panic => "HERMES_ERR_PANIC",
            ErrorCode::Poisoned => "HERMES_ERR_POISONED",
        }
    }
}

/// An error: its code, the step that failed, the errno if a system call did, and a sentence that names the thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: ErrorCode,
    errno: Option<i32>,
    step: &'static str,
    message: String,
}

/// The result of every fallible call.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(code: ErrorCode, step: &'static str, message: impl Into<String>) -> Error {
        Error { code, errno: None, step, message: message.into() }
    }

    pub(crate) fn os(step: &'static str, errno: i32) -> Error {
        Error::with_errno(ErrorCode::Os, step, errno, step)
    }

    /// `what: No such file or directory (ENOENT)`
    pub(crate) fn with_errno(code: ErrorCode, step: &'static str, errno: i32, what: impl fmt::Display) -> Error {
        let message = format!("{what}: {}", describe_errno(errno));
        Error { code, errno: Some(errno), step, message }
    }

    /// With what whoever reads it can do about it.
    pub(crate) fn way_out(mut self, hint: &str) -> Error {
        self.message = format!("{}; {hint}", self.message);
        self
    }

    pub(crate) fn invalid(step: &'static str, message: impl Into<String>) -> Error {
        Error::new(ErrorCode::InvalidArgument, step, message)
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The errno of the system call that failed, if one did.
    pub fn errno(&self) -> Option<i32> {
        self.errno
    }

    /// What was being done: `execve`, `chdir`, `own_process_groups`...
    pub fn step(&self) -> &'static str {
        self.step
    }

    /// A sentence that names the thing and the reason.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// `No such file or directory (errno 2)`.
fn describe_errno(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_string();
    format!("{text} (errno {errno})")
}
