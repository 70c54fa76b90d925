//! `hermes-spawn run`: a command in the foreground, as an owned child, like a shell would run it.

mod job;
mod terminal;

use crate::failure::{COULD_NOT_LOOK, Failure, NOT_EXECUTABLE, NOT_FOUND, USAGE};
use crate::signals::Signals;
use hermes_spawn::{Command, Error, ErrorCode};
use job::Job;
use nix::errno::Errno;
use std::ffi::OsString;
use terminal::Terminal;

macro_rules! usage {
    () => {
        "hermes-spawn run [--family NAME] [--group-only] -- CMD [ARGS]..."
    };
}

/// Run a command in the foreground; it and everything it starts dies with this process
///
/// The command gets the terminal if there is one, ^Z and fg work, and INT, TERM, HUP, QUIT, WINCH, USR1 and USR2 are
/// passed on to its process group. When it ends, what it left running is stopped too: TERM, 3 seconds, KILL.
///
/// Exit code: the command's own, or 128 + the signal that ended it; 127 not found, 126 found but not executable,
/// 3 the command could not be begun, 2 the command line is wrong.
#[derive(clap::Args)]
#[command(override_usage = usage!())]
pub struct Args {
    /// What the command is to its owner (`mcp`, `lsp`, `browser` ...); nothing shows it yet
    #[arg(long, value_name = "NAME")]
    family: Option<String>,
    /// Stop the command's process group only, do not look for what left it
    #[arg(long)]
    group_only: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> Result<u8, Failure> {
    let (program, arguments) = args.command.split_first().expect("clap requires a command");
    let signals = Signals::block(&job::signals())?;
    let mut terminal = Terminal::of_this_session();
    let hand_over = terminal.as_mut().is_some_and(Terminal::hand_over_at_start);

    let mut command = Command::new(program);
    command.args(arguments).group_only(args.group_only);
    // With a terminal in play the child stays in its session, as a shell's job does. Without one it gets a session
    // of its own, which is harder to reach by accident.
    command.keep_session(terminal.is_some()).controlling_tty(hand_over);
    if let Some(family) = &args.family {
        command.family(family);
    }
    match command.spawn_owned() {
        Ok(child) => Job::new(child, signals, terminal).until_exit(),
        Err(error) => {
            // The child may have taken the terminal before its exec failed.
            if let Some(terminal) = &mut terminal {
                terminal.take_back();
            }
            Err(could_not_start(&error))
        }
    }
}

fn could_not_start(error: &Error) -> Failure {
    let errno = error.errno().map(Errno::from_raw);
    let exit = match (error.code(), error.step(), errno) {
        (ErrorCode::InvalidArgument, ..) => USAGE,
        (ErrorCode::Spawn, "execve", Some(Errno::ENOENT)) => NOT_FOUND,
        (ErrorCode::Spawn, "execve", _) => NOT_EXECUTABLE,
        _ => COULD_NOT_LOOK,
    };
    let failure = Failure::new(exit, format!("run: {error}"));
    match (exit, errno) {
        (USAGE, _) => failure.way_out(concat!("usage: ", usage!(), "; more: hermes-spawn run --help")),
        (NOT_FOUND, _) => failure.way_out("no such program on PATH, or its interpreter is missing; is it installed?"),
        (NOT_EXECUTABLE, Some(Errno::EACCES)) => {
            failure.way_out("it exists but may not be executed: see `ls -l` and `mount`")
        }
        (NOT_EXECUTABLE, Some(Errno::ENOEXEC)) => {
            failure.way_out("no #! line and no binary: name its interpreter, `-- sh FILE`")
        }
        _ => failure,
    }
}
