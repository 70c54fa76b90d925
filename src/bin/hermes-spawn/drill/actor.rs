//! The parts that the program plays in its own drill: `hermes-spawn drill-actor ROLE`, hidden from the help.
//!
//! Each actor announces itself with one line of JSON on its stdout, a pipe that all of them inherit, so whoever
//! watches waits for events and never sleeps; and the end of that pipe means that all of them are gone.

use super::scene::{ACTORS, Actor, CONTROL, OWNER, SHELL, SUPERVISOR, Then, WORKER};
use super::{ACTOR_COMMAND, GRACE};
use crate::failure::{COULD_NOT_LOOK, Failure};
use hermes_spawn::{Child, Command, Config, Stdio, configure, drill_support, status};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::unistd::{alarm, setsid};
use serde_json::{Value, json};
use std::env;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process;
use std::thread;

/// Whatever goes wrong, even in the library, no actor outlives the drill by more than this.
const LONGEST_LIFE_S: u32 = 120;

#[derive(clap::Args)]
pub struct Args {
    role: String,
}

pub fn play(args: Args) -> Result<u8, Failure> {
    alarm::set(LONGEST_LIFE_S);
    let played = match args.role.as_str() {
        OWNER => owner(),
        CONTROL => control(),
        role => match ACTORS.iter().find(|actor| actor.role == role) {
            Some(actor) => act(actor),
            None => return Err(Failure::new(COULD_NOT_LOOK, format!("{ACTOR_COMMAND}: no such role: {role}"))),
        },
    };
    if let Err(failure) = &played {
        announce(json!({ "role": args.role, "error": failure.to_string() }))?;
    }
    played.map(|()| 0)
}

/// The owner that will be killed.
fn owner() -> Result<(), Failure> {
    configure(Config::new().grace(GRACE)).map_err(|error| Failure::step("configure", error))?;
    announce_pid(OWNER, process::id() as i32)?;

    // `exit $?` after it keeps the shell from replacing itself by the wrapper.
    let chain = &mut Command::new("/bin/sh");
    chain.args(["-c", "\"$@\"; exit $?", "sh"]).arg(program()?).args([ACTOR_COMMAND, "wrapper"]);
    announce_pid(SHELL, spawn(chain, Stdio::null())?.pid())?;
    start("deaf-server", Stdio::null())?;
    start("escapee-starter", Stdio::null())?;
    start("stopped", Stdio::null())?;
    wait(&start("daemon-starter", Stdio::null())?)?;

    let mut leader = start("leader-that-leaves", Stdio::piped())?;
    // The answer comes from the supervisor, so it has taken this group in while its leader was there.
    leader.signal(Signal::SIGCONT as i32).map_err(|error| Failure::step("signal a group", error))?;
    drop(leader.stdin.take());
    wait(&leader)?;

    let worker = drill_support::fork_worker().map_err(|error| Failure::step("fork a worker", error))?;
    announce_pid(WORKER, worker)?;
    announce_supervisor(SUPERVISOR)?;
    stay()
}

/// The owner that must not notice anything.
fn control() -> Result<(), Failure> {
    configure(Config::new().grace(GRACE)).map_err(|error| Failure::step("configure", error))?;
    start("control-server", Stdio::null())?;
    announce_supervisor("control-supervisor")?;
    announce_pid(CONTROL, process::id() as i32)?;
    stay()
}

fn act(actor: &Actor) -> Result<(), Failure> {
    if actor.deaf {
        // Blocked for good is as deaf as ignored, and needs no signal handling of its own.
        let set: SigSet = [Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
        set.thread_block().map_err(|errno| Failure::step("block signals", errno.desc()))?;
    }
    if actor.own_session {
        // detached-spawn: ok - the drill plays what slips away; the supervisor finds it
        setsid().map_err(|errno| Failure::step("setsid", errno.desc()))?;
    }
    // SO_REUSEADDR, which std sets, does not let two listeners share a port.
    let listener = match actor.listens {
        true => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| Failure::step("listen", error))?),
        false => None,
    };
    let port = listener.as_ref().and_then(|listener| listener.local_addr().ok()).map(|address| address.port());
    announce(json!({ "role": actor.role, "pid": process::id(), "port": port }))?;

    // std, not the library: these are the grandchildren that no owner knows of.
    let started = match actor.starts {
        Some(role) => {
            let mut command = process::Command::new(program()?);
            command.args([ACTOR_COMMAND, role]).stdin(process::Stdio::null());
            Some(command.spawn().map_err(|error| Failure::step(role, error))?)
        }
        None => None,
    };
    match (actor.then, started) {
        (Then::Stay, _) => stay(),
        (Then::WaitAndExit, Some(mut child)) => child.wait().map(drop).map_err(|error| Failure::step("wait", error)),
        (Then::WaitAndExit | Then::Exit, _) => Ok(()),
        (Then::ExitWhenTold, _) => {
            io::stdin().read_to_end(&mut Vec::new()).map(drop).map_err(|error| Failure::step("read stdin", error))
        }
        (Then::Stop, _) => {
            raise(Signal::SIGSTOP).map_err(|errno| Failure::step("stop", errno.desc()))?;
            stay()
        }
    }
}

fn start(role: &'static str, stdin: Stdio) -> Result<Child, Failure> {
    spawn(Command::new(program()?).args([ACTOR_COMMAND, role]), stdin)
}

fn spawn(command: &mut Command, stdin: Stdio) -> Result<Child, Failure> {
    command.family("drill").stdin(stdin).stdout(Stdio::inherit()).stderr(Stdio::null());
    command.spawn_owned().map_err(|error| Failure::step("spawn_owned", error))
}

fn wait(child: &Child) -> Result<(), Failure> {
    child.wait().map(drop).map_err(|error| Failure::step("wait", error))
}

/// Not `/proc/self/exe`: the wrapper chain needs a name that means the same to a shell.
pub fn program() -> Result<PathBuf, Failure> {
    env::current_exe().map_err(|error| Failure::step("find this program's own file", error))
}

fn announce_pid(role: &str, pid: i32) -> Result<(), Failure> {
    announce(json!({ "role": role, "pid": pid }))
}

fn announce_supervisor(role: &str) -> Result<(), Failure> {
    let status = status().map_err(|error| Failure::step("status", error))?;
    let guarantees: Vec<Value> = status
        .guarantees
        .iter()
        .map(|guarantee| json!({ "name": guarantee.name, "value": guarantee.value, "why": guarantee.why }))
        .collect();
    announce(json!({ "role": role, "pid": status.supervisor_pid, "guarantees": guarantees }))
}

/// One write of less than PIPE_BUF bytes: lines of several writers do not mix.
fn announce(line: Value) -> Result<(), Failure> {
    let mut stdout = io::stdout();
    stdout
        .write_all(format!("{line}\n").as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::step("announce", error))
}

fn stay() -> ! {
    loop {
        thread::park();
    }
}
