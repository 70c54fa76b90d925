//! Python: subprocess, asyncio, os, pty and the daemon libraries.

mod calls;
mod hooks;
mod names;
mod values;

use super::code::{Code, around, children};
use super::finding::Found;
use super::rules;
use super::scope::Bound;
use super::value::{Budget, last};
use calls::Call;
use std::collections::HashSet;
use std::ops::Range;
use tree_sitter::Node;
use values::Reader;

const DAEMONS: &[&str] = &[
    "daemon.DaemonContext",
    "daemon.daemon.DaemonContext",
    "daemon.runner.DaemonRunner",
    "daemonize.Daemonize",
    "daemonocle.Daemon",
    "daemoniker.Daemonizer",
    "pep3143daemon.DaemonContext",
    "zdaemon.zdctl.main",
];

const LEAVING: &[&str] = &["setsid", "setpgid", "setpgrp"];

/// Calls that leave the session or the group, by their full name.
fn leaves(path: &str) -> Option<&'static rules::Rule> {
    match path {
        "os.setsid" => Some(&rules::NEW_SESSION),
        "os.setpgid" | "os.setpgrp" => Some(&rules::PROCESS_GROUP),
        _ => None,
    }
}

pub fn check(code: Code, found: &mut Found) {
    let scopes = names::bindings(code);
    let reader = Reader { code, scopes: &scopes, budget: Budget::default() };
    let leads_to_one = |bound: &Bound| match bound {
        Bound::Import(full) => LEAVING.contains(&last(full)),
        Bound::To(value) => LEAVING.iter().any(|name| code.of(*value).contains(name)),
        _ => false,
    };
    let aliases = scopes.all().filter(|(_, bound)| leads_to_one(bound)).map(|(name, _)| last(name)).collect();
    let mut check = Check { reader: &reader, found, judged: Vec::new(), forks: Vec::new(), execs: false, aliases };
    code.walk(code.root, |node| {
        match node.kind() {
            "call" => check.call(node),
            "pair" => check.pair(node),
            "assignment" => check.assigned(node),
            "identifier" | "attribute" => check.reference(node),
            _ => {}
        }
        true
    });
    if check.execs {
        for fork in std::mem::take(&mut check.forks) {
            check.found.add(&rules::FORK_EXEC, fork, "os.fork() in a file that also calls os.exec*");
        }
    }
}

struct Check<'a, 't> {
    reader: &'a Reader<'a, 't>,
    found: &'a mut Found,
    /// Values of preexec_fn: what is in them has been judged with their call.
    judged: Vec<Range<usize>>,
    forks: Vec<usize>,
    execs: bool,
    /// Names of this file under which setsid and its like go.
    aliases: HashSet<&'a str>,
}

impl<'t> Check<'_, 't> {
    fn call(&mut self, node: Node<'t>) {
        let (Some(function), Some(arguments)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return;
        };
        let path = self.reader.path(function).unwrap_or_default();
        let at = node.start_byte();
        match path.as_str() {
            path if leaves(path).is_some() && !self.is_judged(node) => {
                let rule = leaves(path).expect("just asked");
                self.found.add(rule, at, format!("{path}()"));
            }
            "os.fork" => self.forks.push(at),
            "os.forkpty" | "pty.fork" => {
                self.found.add(&rules::TERMINAL_FORK, at, format!("{path}()"));
            }
            path if DAEMONS.contains(&path) => {
                self.found.add(&rules::DAEMON, at, format!("{path}()"));
            }
            path if path.starts_with("os.exec") => self.execs = true,
            _ => {}
        }
        Call { reader: self.reader, node, function, arguments, path: &path }.check(self.found, &mut self.judged);
    }

    /// An option in a dictionary: wherever it goes, it is meant for a start.
    fn pair(&mut self, node: Node<'t>) {
        let (Some(key), Some(value)) = (node.child_by_field_name("key"), node.child_by_field_name("value")) else {
            return;
        };
        if let Some(key) = names::plain_string(self.reader.code, key) {
            calls::written_option(self.reader, &key, value, node.start_byte(), self.found);
            if key == "preexec_fn" {
                self.judged.push(value.byte_range());
            }
        }
    }

    /// `options["start_new_session"] = True`.
    fn assigned(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return;
        };
        let key = left.child_by_field_name("subscript").and_then(|key| names::plain_string(self.reader.code, key));
        if let Some(key) = key {
            calls::written_option(self.reader, &key, right, right.start_byte(), self.found);
        }
    }

    /// `os.setsid` that is handed on without being called.
    fn reference(&mut self, node: Node<'t>) {
        const HANDED_ON: &[&str] = &[
            "argument_list",
            "keyword_argument",
            "list",
            "tuple",
            "pair",
            "return_statement",
            "conditional_expression",
            "expression_list",
        ];
        let name = last(self.reader.code.of(node));
        if !LEAVING.contains(&name) && !self.aliases.contains(name) {
            return;
        }
        let parent = node.parent();
        let is_value = parent.is_some_and(|parent| {
            HANDED_ON.contains(&parent.kind())
                && parent.child_by_field_name("name") != Some(node)
                && parent.child_by_field_name("key") != Some(node)
        });
        if !is_value || self.is_judged(node) {
            return;
        }
        let path = self.reader.path(node).unwrap_or_default();
        let Some(rule) = leaves(&path) else { return };
        // `getattr(os.setsid, ...)`, `callable(os.setsid)` only look at it.
        let call = around(node, &["call"]).map(|call| self.reader.code.field(call, "function"));
        if !matches!(call, Some("callable" | "getattr" | "hasattr" | "isinstance" | "print")) {
            self.found.add(rule, node.start_byte(), format!("{path} is handed on"));
        }
    }

    fn is_judged(&self, node: Node<'t>) -> bool {
        self.judged.iter().any(|range| range.contains(&node.start_byte()))
    }
}

/// The first positional argument from `index` on, and all after it.
fn positional<'t>(arguments: Node<'t>, index: usize) -> Vec<Node<'t>> {
    let named = ["keyword_argument", "dictionary_splat"];
    children(arguments).into_iter().filter(|node| !named.contains(&node.kind())).skip(index).collect()
}
