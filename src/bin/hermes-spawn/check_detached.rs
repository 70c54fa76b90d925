//! `hermes-spawn check-detached`: keeps starts that outlive their parent out of a code base.

use crate::detached::report::{self, Format};
use crate::detached::{self, Include, Refused};
use crate::failure::{COULD_NOT_LOOK, Failure, REFUSED, USAGE};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// Find calls that start a process outside its parent's life
///
/// Looks at Python, JavaScript, TypeScript, Rust, C, C++, shell and Go. A finding is accepted by a comment on its line
/// or the line above: `detached-spawn: ok - WHY`. Tests, other people's code and what .gitignore hides are left out;
/// a file that is named itself never is.
///
/// Exit code: 0 nothing found, 1 findings, 2 the command line is wrong, 3 something could not be read or parsed.
#[derive(clap::Args)]
pub struct Args {
    /// Files and folders
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Only what is new since this commit: lines of changed files, files that git does not know yet
    #[arg(long, value_name = "REV")]
    diff: Option<String>,
    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Written,
    /// Look at tests too
    #[arg(long)]
    include_tests: bool,
    /// Look at vendored code too (vendor, third_party, node_modules ...)
    #[arg(long)]
    include_vendored: bool,
    /// Look at what .gitignore hides too
    #[arg(long)]
    include_ignored: bool,
    /// Say what is looked for and what is missed, and look at nothing
    #[arg(long)]
    list_rules: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Written {
    Text,
    Json,
    Github,
    Sarif,
}

pub fn check(args: Args) -> Result<u8, Failure> {
    let format = match args.format {
        Written::Text => Format::Text,
        Written::Json => Format::Json,
        Written::Github => Format::Github,
        Written::Sarif => Format::Sarif,
    };
    if args.list_rules {
        say(&report::rules(format))?;
        return Ok(0);
    }
    let include = Include { tests: args.include_tests, vendored: args.include_vendored, ignored: args.include_ignored };
    let report = detached::check(&args.paths, include, args.diff.as_deref()).map_err(|refused| match refused {
        Refused::Usage(what, way_out) => Failure::new(USAGE, what).way_out(way_out),
        Refused::Git(what) => Failure::new(COULD_NOT_LOOK, what),
    })?;
    say(&report::write(&report, format))?;
    Ok(match (report.problems.is_empty(), report.findings.is_empty()) {
        (false, _) => COULD_NOT_LOOK,
        (true, false) => REFUSED,
        (true, true) => 0,
    })
}

/// A reader that has had enough is no failure; a report that did not arrive is.
fn say(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::step("write the report", error)),
        _ => Ok(()),
    }
}
