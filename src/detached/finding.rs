//! What a run has found, and what it could not look at.

use super::rules::Rule;
use super::value::Answer;
use std::collections::BTreeSet;

#[derive(Debug)]
pub struct Finding {
    pub rule: &'static Rule,
    /// As an offset in the file's text.
    pub at: usize,
    /// Offsets of the other places that make it a finding: where its call begins, the constant it takes.
    pub also: Vec<usize>,
    /// What stands there.
    pub what: String,
    /// False: it depends on a value that is not in this file.
    pub certain: bool,
}

/// A finding with its place in the file.
#[derive(Debug)]
pub struct Placed {
    pub path: String,
    /// Both count from 1, columns in characters.
    pub line: usize,
    pub column: usize,
    /// All lines that make it a finding, its own among them.
    pub lines: BTreeSet<usize>,
    pub rule: &'static Rule,
    pub what: String,
    pub certain: bool,
}

impl Placed {
    /// What, why it matters, what to write instead: in one line.
    pub fn message(&self) -> String {
        let Rule { why, instead, .. } = self.rule;
        let doubt = if self.certain { "" } else { "cannot tell: " };
        format!("{doubt}{}; {why}; {instead}", self.what)
    }
}

/// A file that could not be read or parsed.
#[derive(Debug)]
pub struct Problem {
    pub path: String,
    /// 0: the file as a whole.
    pub line: usize,
    pub column: usize,
    pub what: String,
}

#[derive(Debug, Default)]
pub struct Report {
    pub findings: Vec<Placed>,
    pub problems: Vec<Problem>,
    /// Files and lines that were looked at.
    pub files: usize,
    pub lines: usize,
}

/// Collects what a language finds in one file.
#[derive(Debug, Default)]
pub struct Found(pub Vec<Finding>);

impl Found {
    pub fn add(&mut self, rule: &'static Rule, at: usize, what: impl Into<String>) -> &mut Finding {
        self.push(rule, at, what.into(), true)
    }

    pub fn cannot_tell(&mut self, rule: &'static Rule, at: usize, what: impl Into<String>) -> &mut Finding {
        self.push(rule, at, what.into(), false)
    }

    /// A finding, a finding in doubt, or none. `call` is where the call begins.
    pub fn answer(&mut self, answer: Answer, rule: &'static Rule, at: usize, call: usize, what: impl Into<String>) {
        match answer {
            Answer::Yes => self.add(rule, at, what).also.push(call),
            Answer::CannotTell => self.cannot_tell(rule, at, what).also.push(call),
            Answer::No => {}
        }
    }

    fn push(&mut self, rule: &'static Rule, at: usize, what: String, certain: bool) -> &mut Finding {
        // One call can be met twice, as a command and as a reference; it is one finding.
        if let Some(index) = self.0.iter().position(|known| known.rule == rule && known.at == at) {
            return &mut self.0[index];
        }
        self.0.push(Finding { rule, at, also: Vec::new(), what, certain });
        self.0.last_mut().expect("just pushed")
    }
}
