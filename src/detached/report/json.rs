//! For machines, `"schema": 1`.

use super::super::finding::Report;
use super::super::rules;
use serde_json::{Value, json};

pub fn report(report: &Report) -> String {
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "path": finding.path, "line": finding.line, "column": finding.column, "rule": finding.rule.id,
                "certain": finding.certain, "what": finding.what, "why": finding.rule.why, "instead": finding.rule.instead,
            })
        })
        .collect();
    let problems: Vec<Value> = report
        .problems
        .iter()
        .map(|problem| json!({"path": problem.path, "line": problem.line, "column": problem.column, "what": problem.what}))
        .collect();
    let all =
        json!({"schema": 1, "files": report.files, "lines": report.lines, "findings": findings, "problems": problems});
    format!("{all:#}\n")
}

pub fn rules() -> String {
    let rules: Vec<Value> = rules::ALL
        .iter()
        .map(|rule| json!({"rule": rule.id, "found": rule.shapes, "why": rule.why, "instead": rule.instead}))
        .collect();
    format!("{:#}\n", json!({"schema": 1, "rules": rules, "misses": rules::MISSES}))
}
