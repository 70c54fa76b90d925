//! The environment of a child: ours with the changes that were asked for, as `execve` wants it.
//!
//! One buffer for all of it, since there are dozens of variables and a spawn takes less time than a hundred
//! allocations.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::ptr::null;

use super::command::{Command, EnvChange};
use crate::error::Result;
use crate::mark::PREFIX;

/// Enough for most: growing means copying.
const USUAL_BYTES: usize = 4096;
const USUAL_LINES: usize = 64;

/// `NAME=VALUE` lines, each with its NUL, without the mark.
pub(super) struct Environment {
    text: Vec<u8>,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl Environment {
    /// This process's own environment with `changes`, the last word on a variable being the one that counts.
    pub(super) fn of(changes: &[EnvChange]) -> Result<Environment> {
        let mut asked: BTreeMap<&OsStr, Option<&OsStr>> = BTreeMap::new();
        let mut inherit = true;
        for change in changes {
            match change {
                EnvChange::Set(name, value) => {
                    check(name, value)?;
                    asked.insert(name, Some(value));
                }
                EnvChange::Remove(name) => drop(asked.insert(name, None)),
                EnvChange::Clear => {
                    asked.clear();
                    inherit = false;
                }
            }
        }
        // The mark of this process, if it has one, is not its child's.
        asked.insert(OsStr::from_bytes(&PREFIX[..PREFIX.len() - 1]), None);
        let mut env = Environment { text: Vec::with_capacity(USUAL_BYTES), lines: Vec::with_capacity(USUAL_LINES) };
        if inherit {
            for (name, value) in std::env::vars_os().filter(|(name, _)| !asked.contains_key(name.as_os_str())) {
                env.push(&name, &value);
            }
        }
        for (name, value) in asked {
            if let Some(value) = value {
                env.push(name, value);
            }
        }
        Ok(env)
    }

    fn push(&mut self, name: &OsStr, value: &OsStr) {
        self.lines.push(self.text.len());
        for part in [name.as_bytes(), b"=", value.as_bytes(), b"\0"] {
            self.text.extend_from_slice(part);
        }
    }

    pub(super) fn value_of(&self, name: &str) -> Option<&OsStr> {
        self.lines.iter().find_map(|&begin| {
            let line = &self.text[begin..];
            let value = line.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            let end = value.iter().position(|&byte| byte == 0)?;
            Some(OsStr::from_bytes(&value[..end]))
        })
    }

    /// NULL-terminated, with `first` before all others. Good for as long as both live.
    pub(super) fn pointers(&self, first: &CStr) -> Vec<*const c_char> {
        let lines = self.lines.iter().map(|&begin| self.text[begin..].as_ptr().cast());
        [first.as_ptr()].into_iter().chain(lines).chain([null()]).collect()
    }
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
