//! Functions that run between fork and exec: do they leave the session?

use super::super::code::{Code, children};
use super::super::scope::Bound;
use super::super::value::{Answer, any};
use super::leaves;
use super::values::Reader;
use tree_sitter::Node;

/// A function that calls a function that calls ..., so many times.
const DEEPEST: usize = 6;

/// What a value of preexec_fn does.
pub fn hook<'t>(reader: &Reader<'_, 't>, node: Node<'t>) -> Answer {
    hook_within(reader, node, 0)
}

fn hook_within<'t>(reader: &Reader<'_, 't>, node: Node<'t>, depth: usize) -> Answer {
    if depth > DEEPEST {
        return Answer::CannotTell;
    }
    if reader.path(node).is_some_and(|path| leaves(&path).is_some()) {
        return Answer::Yes;
    }
    match node.kind() {
        "none" => Answer::No,
        "lambda" => body(reader, node.child_by_field_name("body"), depth),
        "parenthesized_expression" => {
            children(node).first().map_or(Answer::CannotTell, |node| hook_within(reader, *node, depth + 1))
        }
        "conditional_expression" => match children(node)[..] {
            [yes, _, no] => any([yes, no].into_iter().map(|node| hook_within(reader, node, depth + 1))),
            _ => Answer::CannotTell,
        },
        "boolean_operator" => any(children(node).into_iter().map(|node| hook_within(reader, node, depth + 1))),
        "identifier" => named(reader, reader.code.of(node), node, depth),
        // A method of this file, a name of `self`.
        "attribute" => match named(reader, reader.code.of(node), node, depth) {
            Answer::CannotTell => named(reader, reader.code.field(node, "attribute"), node, depth),
            answer => answer,
        },
        _ => Answer::CannotTell,
    }
}

fn named<'t>(reader: &Reader<'_, 't>, name: &str, node: Node<'t>, depth: usize) -> Answer {
    let bound = reader.scopes.of(name, node.start_byte());
    if bound.is_empty() {
        return Answer::CannotTell;
    }
    any(bound.into_iter().map(|bound| match bound {
        Bound::Function(function) => body(reader, function.child_by_field_name("body"), depth),
        Bound::To(value) if *value != node => hook_within(reader, *value, depth + 1),
        _ => Answer::CannotTell,
    }))
}

/// Does this code leave the session or group, itself or through functions of this file?
fn body<'t>(reader: &Reader<'_, 't>, body: Option<Node<'t>>, depth: usize) -> Answer {
    let Some(body) = body else { return Answer::CannotTell };
    if depth > DEEPEST {
        return Answer::No;
    }
    let code: Code = reader.code;
    let mut answer = Answer::No;
    code.walk(body, |node| {
        if answer == Answer::Yes {
            return false;
        }
        if let Some(function) = node.child_by_field_name("function").filter(|_| node.kind() == "call") {
            let calls_one = reader.path(function).is_some_and(|path| leaves(&path).is_some());
            let own = match function.kind() {
                "identifier" => reader.scopes.of(code.of(function), node.start_byte()),
                "attribute" => reader.scopes.of(code.field(function, "attribute"), node.start_byte()),
                _ => Vec::new(),
            };
            let through = own.into_iter().any(|bound| match bound {
                Bound::Function(own) => self::body(reader, own.child_by_field_name("body"), depth + 1) == Answer::Yes,
                _ => false,
            });
            if calls_one || through {
                answer = Answer::Yes;
            }
        }
        true
    });
    answer
}
