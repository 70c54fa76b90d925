//! Annotations of GitHub Actions: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.

use super::super::finding::Report;
use std::fmt::Write;

pub fn report(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        annotate(&mut text, &finding.path, finding.line, finding.column, finding.rule.id, &finding.message());
    }
    for problem in &report.problems {
        annotate(&mut text, &problem.path, problem.line, problem.column, "not-looked-at", &problem.what);
    }
    text
}

fn annotate(text: &mut String, path: &str, line: usize, column: usize, title: &str, message: &str) {
    let place = if line == 0 { String::new() } else { format!(",line={line},col={column}") };
    let title = property(&format!("hermes-spawn: {title}"));
    let _ = writeln!(text, "::error file={}{place},title={title}::{}", property(path), data(message));
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
