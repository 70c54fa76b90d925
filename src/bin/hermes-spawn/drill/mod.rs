//! `hermes-spawn drill`: the promise, shown on the user's own machine.
//!
//! The program plays all the parts itself, through a hidden command: an owner that starts difficult children
//! ([`actor`]), a control owner beside it, and then kills the first one with SIGKILL and watches ([`watch`]) what
//! happens to each process of the [`scene`].

pub mod actor;
mod progress;
mod report;
mod scene;
mod stage;
mod watch;

use crate::failure::{COULD_NOT_LOOK, Failure, REFUSED};
use crate::signals::Signals;
use nix::sys::signal::Signal;
use progress::Progress;
use report::Report;
use stage::Stage;
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

pub const ACTOR_COMMAND: &str = "drill-actor";

/// Between TERM and KILL, for the owners of the drill: long enough to see who needed the KILL, short enough to wait.
const GRACE: Duration = Duration::from_secs(1);
/// The library's promise is the grace and one second. A machine that is busy elsewhere is not a broken promise.
const GONE_WITHIN: Duration = Duration::from_secs(6);

/// Show on this machine that what an owner started dies with it, however it dies
///
/// Starts a throw-away owner with difficult children (a wrapper chain, a server deaf to TERM, a group whose leader
/// has left, a setsid escapee, a daemon, a stopped process) and a second owner beside it, kills the first one with
/// kill -9, and looks at what became of every process. Takes a few seconds; nothing is left behind.
///
/// Exit code: 0 the promise holds here, 1 it does not, 3 the drill could not be carried out.
#[derive(clap::Args)]
pub struct Args {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn drill(args: Args) -> Result<u8, Failure> {
    let signals = Signals::block(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT])?;
    let mut progress = Progress::new();
    let mut stage = Stage::new(signals);
    let seen = play(&mut stage, &mut progress);
    progress.step("clearing the stage");
    let cleared = stage.clear();
    progress.done();

    let mut report = seen?;
    report.leftovers(cleared);
    let text = if args.json { report.json() } else { report.table() };
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        // `drill | head`: the reader has seen enough, the exit code still tells.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            return Err(Failure::new(COULD_NOT_LOOK, format!("drill: write the result to stdout: {error}")));
        }
        _ => {}
    }
    Ok(if report.holds() { 0 } else { REFUSED })
}

fn play(stage: &mut Stage, progress: &mut Progress) -> Result<Report, Failure> {
    progress.step("starting an owner with difficult children, and a second owner beside it");
    stage.start_owners()?;
    stage.wait_for_everybody(|ready, of| progress.count("waiting for everybody to be ready", ready, of))?;
    stage.look_before()?;
    progress.step(&format!("kill -9 {}: the owner dies", stage.owner_pid()));
    let watched = stage.kill_owner_and_watch(|gone, of| progress.count("watching them go", gone, of))?;
    Ok(Report::new(watched, stage.guarantees()))
}
