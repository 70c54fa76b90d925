//! `hermes_spawn_owned`.

use std::ffi::{OsStr, c_char};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use super::call::{call, hermes_error};
use super::handle::{self, hermes_child};
use super::record::{self, Record};
use super::text;
use crate::error::{Error, ErrorCode, Result};
use crate::{Command, Stdio};

const STEP: &str = "hermes_spawn_owned";

/// The caller's own stream; closed if the caller has it closed.
pub const HERMES_STDIO_INHERIT: i32 = -1;
/// `/dev/null`.
pub const HERMES_STDIO_NULL: i32 = -2;
/// A pipe, whose other end is `hermes_child_stdin_fd` and so on.
pub const HERMES_STDIO_PIPE: i32 = -3;
/// Standard error only: wherever standard output goes.
pub const HERMES_STDIO_TO_STDOUT: i32 = -4;

/// Only the process group is owned: what leaves it is not searched for.
pub const HERMES_SPAWN_GROUP_ONLY: u32 = 1;
/// Stay in the caller's session, in a process group of its own.
pub const HERMES_SPAWN_KEEP_SESSION: u32 = 2;
/// The terminal on the child's standard input becomes its controlling terminal (with `HERMES_SPAWN_KEEP_SESSION`: its
/// group becomes the terminal's foreground group).
pub const HERMES_SPAWN_CONTROLLING_TTY: u32 = 4;

const KNOWN_FLAGS: u32 = HERMES_SPAWN_GROUP_ONLY | HERMES_SPAWN_KEEP_SESSION | HERMES_SPAWN_CONTROLLING_TTY;

/// What to start, and how. Begin with `HERMES_SPAWN_OPTIONS_INIT`: a stream of 0 would mean descriptor 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hermes_spawn_options {
    /// `sizeof(hermes_spawn_options)`.
    pub size: u32,
    /// `HERMES_SPAWN_*`, or 0.
    pub flags: u32,
    /// Path, or a name to be looked up in the child's `PATH`. NULL: `argv[0]`.
    pub program: *const c_char,
    /// NULL-terminated, at least one element.
    pub argv: *const *const c_char,
    /// NULL-terminated `NAME=value` strings: the child's whole environment. NULL: the caller's. `HERMES_SPAWN` is set by
    /// the library in either case.
    pub envp: *const *const c_char,
    /// The child's working directory. NULL: the caller's.
    pub cwd: *const c_char,
    /// Where the child's standard input comes from: `HERMES_STDIO_*`, or a descriptor of the caller's (borrowed).
    pub stdin_fd: i32,
    /// Where its standard output goes.
    pub stdout_fd: i32,
    /// Where its standard error goes.
    pub stderr_fd: i32,
    /// Number of `pass_fds`.
    pub pass_fd_count: u32,
    /// Descriptors the child gets under the same numbers (borrowed); all others are closed. NULL if there are none.
    pub pass_fds: *const i32,
    /// What kind of thing this is, for people (`browser`, `mcp-server`...); nothing shows it yet. NULL: nothing.
    pub family: *const c_char,
    /// Milliseconds to wait at most for what passes by itself: a supervisor that is being started or replaced
    /// (`HERMES_ERR_SUPERVISOR` with ETIMEDOUT when they are over), a program that is open for writing
    /// (`HERMES_ERR_SPAWN`, ETXTBSY). For an event loop, which can try again later. 0: 10 s, 3 s and 300 ms.
    pub wait_limit_ms: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), size first, integers and pointers.
unsafe impl Record for hermes_spawn_options {
    const SMALLEST: u32 = 72;
    const NAME: &'static str = "hermes_spawn_options";
}

/// Starts a child that this process owns, and returns once its program was executed.
///
/// Memory: `*out` is a new handle, to be freed with `hermes_child_free`; it is written on success only. All that
/// `options` points to is read during the call only; descriptors in it stay the caller's.
/// Threads: any.
/// Fork: in a forked copy the child is the copy's.
/// Errors, each of which leaves no child: `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_SPAWN` (step and errno say why),
/// `HERMES_ERR_SUPERVISOR` (nothing could watch over it), `HERMES_ERR_ROSTER_FULL`, `HERMES_ERR_OS`.
///
/// # Safety
/// `options` as the head of the header says; `out` is valid for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_spawn_owned(
    options: *const hermes_spawn_options,
    out: *mut *mut hermes_child,
    err: *mut hermes_error,
) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe {
        call(err, || {
            let out = text::out(out, "out", STEP)?;
            *out = handle::open(command(&record::read(options, STEP)?)?.spawn_owned()?);
            Ok(())
        })
    }
}

/// # Safety
/// The pointers and descriptors in `options` as documented there.
unsafe fn command(options: &hermes_spawn_options) -> Result<Command> {
    if options.reserved != 0 {
        return Err(Error::invalid(STEP, format!("reserved is {}, and must be 0", options.reserved)));
    }
    let unknown = options.flags & !KNOWN_FLAGS;
    if unknown != 0 {
        return Err(Error::invalid(STEP, format!("flags {unknown:#x} are not known to this version")));
    }
    // SAFETY: the caller's promise.
    let (argv, envp, program, cwd, family, pass) = unsafe {
        (
            text::array(options.argv, "argv", STEP)?.unwrap_or_default(),
            text::array(options.envp, "envp", STEP)?,
            text::optional(options.program),
            text::optional(options.cwd),
            text::optional_text(options.family),
            text::numbers(options.pass_fds, options.pass_fd_count as usize, "pass_fds", STEP)?,
        )
    };
    let Some((&name, args)) = argv.split_first() else {
        return Err(Error::invalid(STEP, "argv is empty: it must hold the program's name at least"));
    };
    let mut command = Command::new(program.unwrap_or(name));
    command.arg0(name).args(args);
    if let Some(envp) = envp {
        command.env_clear();
        for line in envp {
            let (name, value) = variable(line)?;
            command.env(name, value);
        }
    }
    if let Some(cwd) = cwd {
        command.cwd(cwd);
    }
    if let Some(family) = family {
        command.family(family);
    }
    // SAFETY: the caller's promise.
    unsafe {
        command.stdin(stream("stdin_fd", options.stdin_fd)?);
        command.stdout(stream("stdout_fd", options.stdout_fd)?);
        command.stderr(stream("stderr_fd", options.stderr_fd)?);
        for &fd in pass {
            command.pass_fd(borrow("pass_fds", fd)?);
        }
    }
    if options.wait_limit_ms > 0 {
        command.wait_limit(Duration::from_millis(options.wait_limit_ms.into()));
    }
    let has = |flag| options.flags & flag != 0;
    command.group_only(has(HERMES_SPAWN_GROUP_ONLY));
    command.keep_session(has(HERMES_SPAWN_KEEP_SESSION));
    command.controlling_tty(has(HERMES_SPAWN_CONTROLLING_TTY));
    Ok(command)
}

fn variable(line: &OsStr) -> Result<(&OsStr, &OsStr)> {
    let bytes = line.as_bytes();
    match bytes.iter().position(|&c| c == b'=') {
        Some(at) if at > 0 => Ok((OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..]))),
        _ => Err(Error::invalid(STEP, format!("{line:?} in envp is not NAME=value"))),
    }
}

/// # Safety
/// A descriptor is open during the call.
unsafe fn stream(name: &str, fd: i32) -> Result<Stdio> {
    match fd {
        HERMES_STDIO_INHERIT => Ok(Stdio::inherit()),
        HERMES_STDIO_NULL => Ok(Stdio::null()),
        HERMES_STDIO_PIPE => Ok(Stdio::piped()),
        HERMES_STDIO_TO_STDOUT => Ok(Stdio::to_stdout()),
        _ => {
            // SAFETY: the caller's promise. A duplicate of ours lives as long as the command.
            let owned = unsafe { borrow(name, fd)? }.try_clone_to_owned();
            let failed = |error: std::io::Error| {
                let errno = error.raw_os_error().unwrap_or(libc::EBADF);
                Error::with_errno(ErrorCode::Os, "dup", errno, format!("{name} {fd}"))
            };
            owned.map(Stdio::from).map_err(failed)
        }
    }
}

/// # Safety
/// The descriptor stays open while the result is used.
unsafe fn borrow<'a>(name: &str, fd: i32) -> Result<BorrowedFd<'a>> {
    if fd < 0 {
        return Err(Error::invalid(STEP, format!("{name} {fd} is neither a descriptor nor one of HERMES_STDIO_*")));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}
