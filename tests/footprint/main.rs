//! What the library costs its host, and what the host notices of it: one file a claim.
//!
//! No libtest: claims about threads, signals and allocations need a process that does nothing else, so each plays its
//! owner in a process of its own (this program again, in a role), and they run one after the other; the one that waits
//! for a minute goes on beside them. Arguments are parts of names, as usual.

#![allow(unsafe_code, reason = "raw clone, signal masks and an allocator that counts; each with its reason")]

mod child_side_does_not_allocate;
mod counting;
mod host_notices_nothing;
#[path = "../../benches/limits.rs"]
#[allow(dead_code, reason = "the benchmark uses the rest of it")]
mod limits;
mod outside;
mod roster_side_does_not_allocate;
#[path = "../../benches/core/stage.rs"]
#[allow(dead_code, reason = "as above")]
mod stage;
mod supervisor_is_small_and_sleeps;
#[path = "../../benches/core/sys.rs"]
#[allow(dead_code, reason = "as above")]
mod sys;
mod thousand_rounds_leave_nothing;

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;

use stage::Stage;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

type Claim = fn(&Stage);

/// Nobody looks at a clock in the others, so they may be in each other's way.
const LONG_CLAIM: (&str, Claim) = ("supervisor_is_small_and_sleeps", supervisor_is_small_and_sleeps::claim);

const CLAIMS: &[(&str, Claim)] = &[
    ("roster_side_does_not_allocate", roster_side_does_not_allocate::claim),
    ("child_side_does_not_allocate", child_side_does_not_allocate::claim),
    ("host_notices_nothing", host_notices_nothing::claim),
    ("thousand_rounds_leave_nothing", thousand_rounds_leave_nothing::claim),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--role", role] => return play(role),
        ["--list", ..] => {
            CLAIMS.iter().chain([&LONG_CLAIM]).for_each(|(name, _)| println!("{name}: test"));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let wanted: Vec<&str> = words.into_iter().filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part));
    let all_hold = thread::scope(|scope| {
        let long = is_wanted(LONG_CLAIM.0).then(|| scope.spawn(|| holds(&LONG_CLAIM)));
        let failed = CLAIMS.iter().filter(|(name, _)| is_wanted(name)).filter(|claim| !holds(claim)).count();
        long.is_none_or(|long| long.join().expect("panics are caught")) && failed == 0
    });
    if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn holds((name, claim): &(&str, Claim)) -> bool {
    // The stage is taken down also by a panic, with all that it started.
    let held = catch_unwind(AssertUnwindSafe(|| claim(&Stage::new()))).is_ok();
    println!("test {name} ... {}", if held { "ok" } else { "FAILED" });
    held
}

fn play(role: &str) -> ExitCode {
    match role {
        "roster-side" => roster_side_does_not_allocate::play(),
        "child-side" => child_side_does_not_allocate::play(),
        "host" => host_notices_nothing::play(),
        "rounds" => thousand_rounds_leave_nothing::play(),
        "holder" => supervisor_is_small_and_sleeps::play(),
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

/// A role's answer to the claim.
fn say(line: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("somebody listens");
}

/// A role's next order; it ends when there are no more.
fn next_order() -> Option<String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok().filter(|&length| length > 0)?;
    Some(line.trim_end().to_string())
}

/// Sleeps until it is told otherwise, and not for ever.
fn sleeper() -> hermes_spawn::Command {
    let mut command = hermes_spawn::Command::new("sleep");
    command.arg("600").stdin(hermes_spawn::Stdio::null()).stdout(hermes_spawn::Stdio::null());
    command
}
