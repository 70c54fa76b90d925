//! Shell scripts, and the strings of other languages that a shell is given.

mod words;

use super::code::Code;
use super::command::{self, Hit};
use super::finding::Found;
use super::rules;
use super::scope::{Bound, Scopes};
use std::cell::RefCell;
use tree_sitter::{Node, Parser};
use words::Words;

pub fn check(code: Code, found: &mut Found) {
    look(code, 0, |node, hit| {
        let finding = match hit.certain {
            true => found.add(hit.rule, node.start_byte(), hit.what),
            false => found.cannot_tell(hit.rule, node.start_byte(), hit.what),
        };
        // A job is marked where it ends or where it begins.
        if let Some(before) = node.prev_named_sibling().filter(|_| node.kind() == "&") {
            finding.also.push(before.start_byte());
        }
    });
}

/// The first finding in a string for a shell.
pub fn first_in(text: &str, depth: usize) -> Option<Hit> {
    thread_local! {
        static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
    }
    // Taken, not borrowed: a string can hold `sh -c` with another string.
    let mut parser = PARSER.take().or_else(|| {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        Some(parser)
    })?;
    let tree = parser.parse(text, None);
    PARSER.set(Some(parser));
    let tree = tree?;
    let mut first: Option<Hit> = None;
    look(Code { text, root: tree.root_node() }, depth, |_, hit| {
        if !first.as_ref().is_some_and(|first| first.certain || !hit.certain) {
            first = Some(hit);
        }
    });
    first
}

fn look<'t>(code: Code<'t>, depth: usize, mut hit: impl FnMut(Node<'t>, Hit)) {
    let scopes = assignments(code);
    let words = Words { code, scopes: &scopes };
    code.walk(code.root, |node| {
        match node.kind() {
            "command" => {
                if let Some(found) = command::argv_within(&words.of_command(node), depth) {
                    hit(node, found);
                }
            }
            "&" if is_job(node) => {
                let what = "a command is left in the background by `&`".into();
                hit(node, Hit { rule: &rules::BACKGROUND, what, certain: true });
            }
            _ => {}
        }
        true
    });
}

/// `&` that ends a command, not the one of `$((a & b))` or of a pattern.
fn is_job(node: Node) -> bool {
    let outer = node.parent().map_or("", |outer| outer.kind());
    !outer.contains("expression") && !outer.contains("arithmetic") && !outer.contains("expansion")
}

fn assignments<'t>(code: Code<'t>) -> Scopes<'t> {
    let mut scopes = Scopes::default();
    let whole = code.root.byte_range();
    code.walk(code.root, |node| {
        match node.kind() {
            "variable_assignment" => {
                let name = code.field(node, "name");
                match node.child_by_field_name("value") {
                    Some(value) if code.of(node)[name.len()..].starts_with("=") => {
                        scopes.bind(name, whole.clone(), Bound::To(value));
                    }
                    _ => scopes.bind(name, whole.clone(), Bound::Opaque),
                }
            }
            "for_statement" => scopes.bind(code.field(node, "variable"), whole.clone(), Bound::Opaque),
            _ => {}
        }
        true
    });
    scopes
}
