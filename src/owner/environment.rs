//! The environment of a child: ours with the changes that were asked for.
//!
//! What is inherited is passed on where it stands: a process has dozens of variables, and copying them would take a
//! tenth of a spawn.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;

use super::command::{Command, EnvChange};
use crate::error::Result;
use crate::mark::PREFIX;
use crate::sys::environ::{self, Block};

/// The name of the mark: that of this process, if it has one, is not its child's.
const MARK: &[u8] = PREFIX.split_at(PREFIX.len() - 1).0;

pub(super) struct Environment<'a> {
    /// What the child gets beside the mark.
    set: Vec<CString>,
    inherits: bool,
    /// What it does not inherit: the mark, what is set, what is removed.
    asked: Vec<&'a [u8]>,
}

impl<'a> Environment<'a> {
    /// This process's own environment with `changes`, the last word on a variable being the one that counts.
    pub(super) fn of(changes: &'a [EnvChange]) -> Result<Environment<'a>> {
        let mut asked: BTreeMap<&OsStr, Option<&OsStr>> = BTreeMap::new();
        let mut inherits = true;
        for change in changes {
            match change {
                EnvChange::Set(name, value) => {
                    check(name, value)?;
                    asked.insert(name, Some(value));
                }
                EnvChange::Remove(name) => drop(asked.insert(name, None)),
                EnvChange::Clear => {
                    asked.clear();
                    inherits = false;
                }
            }
        }
        asked.remove(OsStr::from_bytes(MARK));
        let set = asked.iter().filter_map(|(name, value)| Some(line(name, (*value)?))).collect();
        let asked = [MARK].into_iter().chain(asked.keys().map(|name| name.as_bytes())).collect();
        Ok(Environment { set, inherits, asked })
    }

    /// The value a variable will have.
    pub(super) fn value_of(&self, name: &str) -> Option<&OsStr> {
        let set = self.set.iter().find_map(|line| line.to_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        match set {
            Some(value) => Some(OsStr::from_bytes(value)),
            None if self.inherits && !self.asked.contains(&name.as_bytes()) => environ::value_of(OsStr::new(name)),
            None => None,
        }
    }

    /// The mark stands before all others: whoever reads the environment finds it at once.
    pub(super) fn block(&'a self, mark: &'a CStr) -> Block<'a> {
        Block::new(mark, &self.set, self.inherits.then_some(&self.asked))
    }
}

/// `check` has seen both.
fn line(name: &OsStr, value: &OsStr) -> CString {
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).unwrap_or_default()
}

fn check(name: &OsStr, value: &OsStr) -> Result<()> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        return Err(Command::invalid("environment variable name", name, "is empty or contains '='"));
    }
    match [name, value].into_iter().find(|text| text.as_bytes().contains(&0)) {
        Some(text) => Err(Command::invalid("environment variable", text, "contains a NUL byte")),
        None => Ok(()),
    }
}
