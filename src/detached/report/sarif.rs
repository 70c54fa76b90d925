//! SARIF 2.1.0: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use super::super::finding::Report;
use super::super::rules;
use serde_json::{Value, json};

pub fn report(report: &Report) -> String {
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            let index = rules::ALL.iter().position(|rule| *rule == finding.rule);
            json!({
                "ruleId": finding.rule.id, "ruleIndex": index, "level": "error",
                "message": {"text": finding.message()},
                "locations": [location(&finding.path, finding.line, finding.column)],
            })
        })
        .collect();
    let problems: Vec<Value> = report
        .problems
        .iter()
        .map(|problem| {
            json!({
                "level": "error", "message": {"text": problem.what},
                "locations": [location(&problem.path, problem.line, problem.column)],
            })
        })
        .collect();
    let rules: Vec<Value> = rules::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id, "shortDescription": {"text": rule.shapes}, "fullDescription": {"text": rule.why},
                "help": {"text": rule.instead}, "defaultConfiguration": {"level": "error"},
            })
        })
        .collect();
    let all = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "hermes-spawn", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.problems.is_empty(), "toolExecutionNotifications": problems,
            }],
            "results": results,
        }],
    });
    format!("{all:#}\n")
}

fn location(path: &str, line: usize, column: usize) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(path)}});
    if line > 0 {
        place["region"] = json!({"startLine": line, "startColumn": column});
    }
    json!({"physicalLocation": place})
}

/// A relative path is a relative reference; an absolute one a file URI.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
