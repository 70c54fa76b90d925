//! The ratchet: finds every call that starts a process outside its parent's life, so that the next one is seen.
//!
//! - `walk.rs`, `diff.rs`: which files and lines.
//! - `language.rs`, `parse.rs`: from a file to a tree; `c/preprocess.rs` for what C's preprocessor hides, `mend.rs` for
//!   what a grammar does not know.
//! - `python/`, `javascript/`, `rust/`, `c/`, `shell/`, `go/`: names, expressions and calls of one language each.
//! - `scope.rs`, `value.rs`, `command.rs`: what all of them share: constants and aliases, what a value can be, command
//!   lines in lists and in strings.
//! - `rules.rs`, `marker.rs`, `finding.rs`, `report/`: what is said.

mod c;
mod code;
mod command;
mod diff;
mod file;
mod finding;
mod go;
mod javascript;
mod language;
mod marker;
mod mend;
mod parse;
mod python;
pub mod report;
mod rules;
mod rust;
mod scope;
mod shell;
mod text;
mod value;
mod walk;

pub use diff::Refused;
pub use finding::Report;
pub use walk::Include;

use file::Looked;
use language::Language;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Looks at all files below `paths`; with `diff`, at what is new since that commit only.
pub fn check(paths: &[PathBuf], include: Include, diff: Option<&str>) -> Result<Report, Refused> {
    let mut report = Report::default();
    let mut paths = paths.to_vec();
    paths.retain(|path| match path.symlink_metadata().and_then(|_| path.metadata()) {
        Ok(_) => true,
        Err(error) => {
            let what = format!("cannot be read: {error}");
            report.problems.push(finding::Problem { path: path.display().to_string(), line: 0, column: 0, what });
            false
        }
    });
    let added = diff.map(|rev| diff::since(rev, &paths)).transpose()?;
    let mut files: Vec<(PathBuf, Language)> = walk::files(&paths, include, &mut report.problems).into_iter().collect();
    if let Some(added) = &added {
        files.retain(|(path, _)| added.touches(path));
    }
    for (looked, (path, _)) in in_parallel(&files, include.tests).into_iter().zip(&files) {
        report.files += 1;
        report.lines += looked.lines;
        report.problems.extend(looked.problem);
        report.findings.extend(looked.findings.into_iter().filter(|finding| match &added {
            Some(added) => finding.lines.iter().chain([&finding.line]).any(|line| added.holds(path, *line)),
            None => true,
        }));
    }
    Ok(report)
}

/// One file at a time on every core, the results in the order of the files.
fn in_parallel(files: &[(PathBuf, Language)], with_tests: bool) -> Vec<Looked> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((index, (path, language))) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, files.get(index)?)))
        {
            done.push((index, file::look(path, *language, with_tests)));
        }
        done
    };
    let workers = thread::available_parallelism().map_or(1, |count| count.get()).min(files.len().max(1));
    let mut done: Vec<(usize, Looked)> = thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, looked)| looked).collect()
}
