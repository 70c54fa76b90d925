//! `hermes-spawn`: the promise of the library for people at a shell. One file or folder a command.

mod drill;
mod failure;
mod run;
mod signals;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use failure::Failure;
use hermes_spawn::program_support;
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
    #[command(name = drill::ACTOR_COMMAND, hide = true)]
    Actor(drill::actor::Args),
}

fn main() -> ExitCode {
    panic::set_hook(Box::new(|info| say(&format!("hermes-spawn: internal error: {}", one_line(info)))));
    program_support::default_sigchld();
    let done = panic::catch_unwind(|| match Cli::try_parse() {
        Ok(Cli { command: Command::Run(args) }) => run::run(args),
        Ok(Cli { command: Command::Drill(args) }) => drill::drill(args),
        Ok(Cli { command: Command::Actor(args) }) => drill::actor::play(args),
        Err(error) => no_command(&error),
    });
    match done {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(failure)) => {
            say(&failure.to_string());
            ExitCode::from(failure.exit)
        }
        // The hook has said it.
        Err(_) => ExitCode::from(failure::COULD_NOT_LOOK),
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
    let text = error.render().to_string();
    let (wrong, usage) = text.split_once("Usage:").unwrap_or((&text, "hermes-spawn <COMMAND>"));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let usage = words(usage.split("For more").next().unwrap_or(usage));
    Err(Failure::new(failure::USAGE, words(wrong.trim_start_matches("error:")))
        .way_out(format!("usage: {usage}; more: hermes-spawn --help")))
}

/// One line on stderr. A stderr that nobody reads is no reason to stop: what can be told is told by the exit code.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn one_line(info: &panic::PanicHookInfo<'_>) -> String {
    info.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
