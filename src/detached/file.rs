//! One file: read, parsed, looked at, its markers set against its findings.

use super::finding::{Found, Placed, Problem};
use super::language::Language;
use super::marker::{self, Marker};
use super::parse::{Parsed, parse};
use super::rules::{self, Rule};
use super::{c, go, javascript, python, rust, shell};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What one file gave.
#[derive(Debug, Default)]
pub struct Looked {
    pub findings: Vec<Placed>,
    pub problem: Option<Problem>,
    pub lines: usize,
}

pub fn look(path: &Path, language: Language, with_tests: bool) -> Looked {
    let name = path.display().to_string();
    let problem = |line, column, what: String| Problem { path: name.clone(), line, column, what };
    let text = match fs::read(path).map_err(|error| error.to_string()).and_then(decoded) {
        Ok(text) => text,
        Err(what) => {
            return Looked { problem: Some(problem(0, 0, format!("cannot be read: {what}"))), ..Looked::default() };
        }
    };
    let lines = Lines::of(&text);
    let Some(parsed) = parse(&text, language) else {
        let what = format!("cannot be parsed: the grammar of {} does not load", language.name());
        return Looked { problem: Some(problem(0, 0, what)), ..Looked::default() };
    };
    let broken = parsed.broken.map(|at| {
        let (line, column) = lines.place(&text, at);
        problem(
            line,
            column,
            format!("cannot be parsed as {}; what stands in it may not have been seen", language.name()),
        )
    });
    let placed = |rule: &'static Rule, at: usize, also: &[usize], what: String, certain: bool| {
        let (line, column) = lines.place(&text, at);
        let lines = also.iter().map(|at| lines.place(&text, *at).0).chain([line]).collect();
        Placed { path: name.clone(), line, column, lines, rule, what, certain }
    };
    let mut found = Found::default();
    let may_hold_one = language.may_hold_one(&text);
    for variant in parsed.variants.iter().filter(|_| may_hold_one) {
        detect(parsed.language, variant.code(), with_tests, &mut found);
    }
    let mut findings: Vec<Placed> =
        found.0.into_iter().map(|found| placed(found.rule, found.at, &found.also, found.what, found.certain)).collect();
    for (at, marker) in markers(&parsed) {
        let rule = match marker {
            Marker::NoReason => Some(&rules::MARKER_NO_REASON),
            Marker::Misspelt => Some(&rules::MARKER_MISSPELT),
            Marker::Good => {
                let line = lines.place(&text, at).0;
                let before = findings.len();
                findings.retain(|finding| !finding.lines.contains(&line) && !finding.lines.contains(&(line + 1)));
                (findings.len() == before).then_some(&rules::MARKER_UNUSED)
            }
        };
        if let Some(rule) = rule {
            late(&mut findings, placed(rule, at, &[], said(rule), true));
        }
    }
    findings.sort_by_key(|finding| (finding.line, finding.column));
    Looked { findings, problem: broken, lines: text.lines().count() }
}

/// A finding about a marker is not taken away by the next marker.
fn late(findings: &mut Vec<Placed>, mut finding: Placed) {
    finding.lines = BTreeSet::new();
    findings.push(finding);
}

fn said(rule: &Rule) -> String {
    let what = match rule.id {
        "marker-unused" => "this marker covers no finding on its line or the line below",
        "marker-without-reason" => "this marker has no reason",
        _ => "this is nearly a marker",
    };
    what.to_owned()
}

fn detect(language: Language, code: super::code::Code, with_tests: bool, found: &mut Found) {
    match language {
        Language::Python => python::check(code, found),
        Language::JavaScript | Language::TypeScript | Language::Tsx => javascript::check(code, found),
        Language::Rust => rust::check(code, with_tests, found),
        Language::C | Language::Header | Language::Cpp => c::check(code, found),
        Language::Shell => shell::check(code, found),
        Language::Go => go::check(code, found),
    }
}

/// Each once, whichever way through the preprocessor it is seen on.
fn markers(parsed: &Parsed) -> Vec<(usize, Marker)> {
    let mut markers: Vec<(usize, Marker)> = Vec::new();
    for variant in &parsed.variants {
        if variant.text.contains("det") || variant.text.contains("Det") {
            marker::all(variant.code(), |at, marker| {
                if !markers.iter().any(|(known, _)| *known == at) {
                    markers.push((at, marker));
                }
            });
        }
    }
    markers
}

/// UTF-8; else Latin-1, in which every byte is a letter. UTF-16 by its mark.
fn decoded(mut bytes: Vec<u8>) -> Result<String, String> {
    if let [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] = &bytes[..] {
        let unit = if bytes[0] == 0xFF { u16::from_le_bytes } else { u16::from_be_bytes };
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        return String::from_utf16(&units).map_err(|error| error.to_string());
    }
    if bytes.contains(&0) {
        return Err("it is not text: it holds NUL bytes".into());
    }
    // A lone CR ends a line in Python and JavaScript and in every editor, but in no grammar.
    for at in 0..bytes.len() {
        if bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
            bytes[at] = b'\n';
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text)),
        Err(error) => Ok(error.into_bytes().into_iter().map(char::from).collect()),
    }
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Line and column, both from 1.
    fn place(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.0.partition_point(|start| *start <= at);
        let start = self.0[line - 1];
        (line, text.get(start..at).map_or(1, |before| before.chars().count() + 1))
    }
}
