//! `hermes-spawn`: the promise of the library for people at a shell. One file or folder a command.

#[cfg(feature = "detached")]
mod check_detached;
// A part of the program alone: no build of the library holds it or its parsers.
#[cfg(feature = "detached")]
#[path = "../../detached/mod.rs"]
mod detached;
mod drill;
mod failure;
mod run;
mod signals;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use failure::Failure;
use hermes_spawn::program_support;
use std::ffi::OsString;
use std::io::Write;
use std::panic;
use std::process::ExitCode;

/// Long-lived children that die with their owner, however it dies.
#[derive(Parser)]
#[command(name = "hermes-spawn", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Drill(drill::Args),
    #[cfg(feature = "detached")]
    CheckDetached(check_detached::Args),
    #[command(name = drill::ACTOR_COMMAND, hide = true)]
    Actor(drill::actor::Args),
}

fn main() -> ExitCode {
    program_support::default_sigchld();
    let code = reported(|| match Cli::try_parse() {
        Ok(Cli { command: Command::Run(args) }) => run::run(args),
        Ok(Cli { command: Command::Drill(args) }) => drill::drill(args),
        #[cfg(feature = "detached")]
        Ok(Cli { command: Command::CheckDetached(args) }) => check_detached::check(args),
        Ok(Cli { command: Command::Actor(args) }) => drill::actor::play(args),
        Err(error) => no_command(&error),
    });
    ExitCode::from(code)
}

/// The exit code of a command. A failure is said in two lines, a defect of ours in one.
fn reported(command: impl FnOnce() -> Result<u8, Failure> + panic::UnwindSafe) -> u8 {
    panic::set_hook(Box::new(|info| say(&format!("hermes-spawn: internal error: {}", one_line(info)))));
    match panic::catch_unwind(command) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            say(&failure.to_string());
            failure.exit
        }
        // The hook has said it.
        Err(_) => failure::COULD_NOT_LOOK,
    }
}

/// Help and version are answers; everything else is a usage error, said in two lines: what, and how it is called.
fn no_command(error: &clap::Error) -> Result<u8, Failure> {
    let nothing_given = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if nothing_given || !error.use_stderr() {
        // A reader that has gone does not want it.
        let _ = error.print();
        return Ok(if nothing_given { failure::USAGE } else { 0 });
    }
    if error.kind() == ErrorKind::InvalidUtf8 {
        return Err(no_text(std::env::args_os()));
    }
    let text = error.render().to_string();
    let (wrong, usage) = text.split_once("Usage:").unwrap_or((&text, "hermes-spawn <COMMAND>"));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let usage = words(usage.split("For more").next().unwrap_or(usage));
    Err(Failure::new(failure::USAGE, words(wrong.trim_start_matches("error:")))
        .way_out(format!("usage: {usage}; more: hermes-spawn --help")))
}

/// Names the argument that is not UTF-8. The command itself and its arguments may hold any bytes.
fn no_text(arguments: impl Iterator<Item = OsString>) -> Failure {
    let mut before = OsString::new();
    for argument in arguments {
        if argument.to_str().is_none() {
            let place = if before == "--family" { "the value of --family" } else { "argument" };
            return Failure::new(failure::USAGE, format!("{place} {argument:?} is not UTF-8"))
                .way_out("usage: hermes-spawn <COMMAND>; more: hermes-spawn --help");
        }
        before = argument;
    }
    Failure::new(failure::USAGE, "an argument is not UTF-8")
}

/// One line on stderr. A stderr that nobody reads is no reason to stop: what can be told is told by the exit code.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn one_line(info: &panic::PanicHookInfo<'_>) -> String {
    info.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::reported;
    use std::process::Command;

    const PLAY: &str = "HERMES_TEST_DEFECT";

    /// No command line leads to a defect that we know of, so one is made.
    #[test]
    fn a_defect_is_one_line_and_exit_3_also_where_backtraces_are_asked_for() {
        if std::env::var_os(PLAY).is_some() {
            std::process::exit(reported(|| panic!("in\nlines")).into());
        }
        let mut play = Command::new(std::env::current_exe().expect("this program"));
        play.args(["--nocapture", "a_defect_is_one_line"]).env(PLAY, "1").env("RUST_BACKTRACE", "1");
        let output = play.output().expect("start this program");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("hermes-spawn: internal error: ") && said.ends_with("in lines\n"), "{said}");
    }
}
