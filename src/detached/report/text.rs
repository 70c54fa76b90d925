//! `path:line:col: rule: what; why it matters; what to write instead`.

use super::super::finding::Report;
use super::super::rules;
use std::fmt::Write;

pub fn report(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let (path, line, column, rule) = (&finding.path, finding.line, finding.column, finding.rule.id);
        let _ = writeln!(text, "{path}:{line}:{column}: {rule}: {}", finding.message());
    }
    for problem in &report.problems {
        let place = if problem.line == 0 { String::new() } else { format!(":{}:{}", problem.line, problem.column) };
        let _ = writeln!(text, "{}{place}: {}", problem.path, problem.what);
    }
    text
}

pub fn rules() -> String {
    let mut text = String::new();
    for rule in rules::ALL {
        let _ = writeln!(
            text,
            "{}\n  found:   {}\n  why:     {}\n  instead: {}",
            rule.id, rule.shapes, rule.why, rule.instead
        );
    }
    let _ = writeln!(text, "\nNot found:");
    for miss in rules::MISSES {
        let _ = writeln!(text, "- {miss}");
    }
    text
}
