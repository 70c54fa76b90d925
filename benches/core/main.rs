//! The core, measured: `cargo bench --bench core`.
//!
//! These are ratios of interleaved runs (ours, peer, ours, peer ...), because absolute times of processes mean little
//! from one machine to the next. The table goes to standard output, progress to standard error. A run that exceeds a
//! limit of `benches/limits.rs` by more than a tenth names it and fails.
//!
//! - `cargo bench --bench core -- --short`: fewer rounds, judged only by what is steady on a busy machine. For CI.
//! - `cargo bench --bench core -- spawn death`: only these parts, of `spawn register recovery death helper`.
//!
//! Owners are this same program in a role (`role.rs`), each in a process of its own. Whatever is started carries a mark
//! in its environment and is gone when this program ends, however it ends (`stage.rs`).

mod death;
mod figures;
mod helper;
#[path = "../limits.rs"]
mod limits;
mod machine;
mod recovery;
mod register;
mod report;
mod role;
mod spawn;
mod stage;
mod sys;

use std::process::ExitCode;

use report::Report;
use stage::Stage;

/// How much to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The short form, for CI.
    pub short: bool,
}

impl Effort {
    /// This many rounds in the long run, that many in the short one.
    pub fn rounds(self, long: usize, short: usize) -> usize {
        if self.short { short } else { long }
    }
}

type Part = fn(&Stage, Effort, &mut Report);

const PARTS: &[(&str, Part)] = &[
    ("spawn", spawn::measure),
    ("register", register::measure),
    ("recovery", recovery::measure),
    ("death", death::measure),
    ("helper", helper::measure),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--role", rest @ ..] = words.as_slice() {
        return role::play(rest);
    }
    // Cargo passes `--bench`; without it this was run as a test, and then the short form must do.
    let short = words.contains(&"--short") || !words.contains(&"--bench");
    let wanted: Vec<&str> = words.into_iter().filter(|word| !word.starts_with("--")).collect();
    if let Some(unknown) = wanted.iter().find(|name| PARTS.iter().all(|(part, _)| part != *name)) {
        eprintln!("no such part: {unknown}");
        return ExitCode::from(2);
    }
    let mut report = Report::new(short);
    {
        let stage = Stage::new();
        for (name, measure) in PARTS.iter().filter(|(name, _)| wanted.is_empty() || wanted.contains(name)) {
            eprintln!("measuring: {name}");
            measure(&stage, Effort { short }, &mut report);
        }
    }
    print!("{}", report.table());
    let exceeded = report.exceeded();
    for line in &exceeded {
        eprintln!("LIMIT EXCEEDED: {line}");
    }
    if exceeded.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
