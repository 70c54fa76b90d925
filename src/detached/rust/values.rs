//! Reads Rust's expressions.

use super::super::code::{Code, children};
use super::super::scope::{Bound, Scopes};
use super::super::text;
use super::super::value::{Budget, HOLE, Value};
use tree_sitter::Node;

pub struct Reader<'a, 't> {
    pub code: Code<'t>,
    pub scopes: &'a Scopes<'t>,
    pub budget: Budget,
}

/// Constants made of constants are followed so far.
const DEEPEST: usize = 12;

impl<'t> Reader<'_, 't> {
    /// The full path of a function or constant: `detach` after `use libc::setsid as detach` is `libc::setsid`.
    pub fn path(&self, node: Node<'t>) -> Option<String> {
        match node.kind() {
            "identifier" => {
                let name = self.code.of(node);
                match self.scopes.of(name, node.start_byte())[..] {
                    [] => Some(name.to_owned()),
                    [Bound::Import(full), ..] => Some(full.clone()),
                    [Bound::To(value)]
                        if *value != node
                            && matches!(value.kind(), "identifier" | "scoped_identifier")
                            && value.start_byte() < node.start_byte() =>
                    {
                        self.path(*value)
                    }
                    _ => None,
                }
            }
            "scoped_identifier" | "scoped_type_identifier" => {
                let written = self.code.of(node);
                let (first, rest) = written.split_once("::")?;
                let bound = self.scopes.of(first, node.start_byte());
                match bound.first() {
                    Some(Bound::Import(full)) => Some(format!("{full}::{rest}")),
                    _ => Some(written.trim_start_matches("::").to_owned()),
                }
            }
            "generic_function" => self.path(node.child_by_field_name("function")?),
            _ => None,
        }
    }

    pub fn value(&self, node: Node<'t>) -> Value {
        self.budget.renew();
        self.value_within(node, 0)
    }

    fn value_within(&self, node: Node<'t>, depth: usize) -> Value {
        if depth > DEEPEST || !self.budget.spend() {
            return Value::Unknown;
        }
        let inner = |node| self.value_within(node, depth + 1);
        let first = || children(node).first().map_or(Value::Unknown, |node| inner(*node));
        match node.kind() {
            "boolean_literal" => Value::Bool(self.code.of(node) == "true"),
            "integer_literal" => text::number(self.code.of(node)).map_or(Value::Unknown, Value::Number),
            "string_literal" | "raw_string_literal" => Value::Text(self.string(node)),
            "array_expression" => Value::List(children(node).into_iter().map(inner).collect()),
            "reference_expression" => node.child_by_field_name("value").map_or(Value::Unknown, inner),
            "parenthesized_expression" | "type_cast_expression" | "unsafe_block" | "block" => first(),
            "binary_expression" => match (node.child_by_field_name("left"), node.child_by_field_name("right")) {
                (Some(left), Some(right)) if self.code.field(node, "operator") == "|" => inner(left).or(inner(right)),
                (Some(left), Some(right)) if self.code.field(node, "operator") == "+" => inner(left).plus(inner(right)),
                _ => Value::Unknown,
            },
            "if_expression" => {
                let branches = ["consequence", "alternative"].map(|name| node.child_by_field_name(name));
                Value::one_of(branches.into_iter().flatten().map(inner).collect())
            }
            "else_clause" => first(),
            "identifier" => {
                let bound = self.scopes.of(self.code.of(node), node.start_byte());
                if bound.is_empty() {
                    return Value::Name(self.code.of(node).to_owned());
                }
                Value::one_of(
                    bound
                        .into_iter()
                        .map(|bound| match bound {
                            Bound::To(value) if *value != node => inner(*value),
                            Bound::Import(full) => Value::Name(full.clone()),
                            _ => Value::Unknown,
                        })
                        .collect(),
                )
            }
            "scoped_identifier" => self.path(node).map_or(Value::Unknown, Value::Name),
            "macro_invocation" => self.format(node),
            // `"x".to_string()`, `String::from("x")`, `FLAGS.0`, `a.bits()`.
            "call_expression" => {
                let Some(function) = node.child_by_field_name("function") else { return Value::Unknown };
                match self.code.field(function, "field") {
                    "to_string" | "to_owned" | "into" | "as_str" | "clone" | "bits" | "as_ref" => {
                        function.child_by_field_name("value").map_or(Value::Unknown, inner)
                    }
                    _ if matches!(self.code.of(function), "String::from" | "OsString::from" | "OsStr::new") => {
                        let arguments = node.child_by_field_name("arguments");
                        arguments.and_then(|all| children(all).first().copied()).map_or(Value::Unknown, inner)
                    }
                    _ => Value::Unknown,
                }
            }
            "field_expression" => node.child_by_field_name("value").map_or(Value::Unknown, inner),
            _ => Value::Unknown,
        }
    }

    fn string(&self, node: Node<'t>) -> String {
        let raw = node.kind() == "raw_string_literal";
        let written = self.code.of(node).trim_start_matches(['b', 'c', 'r']).trim_matches('#');
        let inside = written.get(1..written.len().max(2) - 1).unwrap_or("");
        if raw { inside.to_owned() } else { text::unescape(inside) }
    }

    /// `format!("nohup {} &", program)`, `concat!`, `vec![...]`.
    fn format(&self, node: Node<'t>) -> Value {
        let Some(tokens) = children(node).into_iter().find(|part| part.kind() == "token_tree") else {
            return Value::Unknown;
        };
        let is_string = |node: &Node| matches!(node.kind(), "string_literal" | "raw_string_literal");
        match self.code.field(node, "macro") {
            "format" | "format_args" => match children(tokens).into_iter().find(is_string) {
                Some(format) => Value::Text(with_holes(&self.string(format))),
                None => Value::Unknown,
            },
            "concat" => Value::Text(
                children(tokens).iter().filter(|node| is_string(node)).map(|node| self.string(*node)).collect(),
            ),
            "vec" => Value::List(
                children(tokens)
                    .into_iter()
                    .map(|node| if is_string(&node) { Value::Text(self.string(node)) } else { Value::Unknown })
                    .collect(),
            ),
            _ => Value::Unknown,
        }
    }
}

fn with_holes(format: &str) -> String {
    let mut result = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' | '}' if rest.peek() == Some(&c) => result.extend(rest.next()),
            '{' => {
                rest.by_ref().take_while(|c| *c != '}').for_each(drop);
                result.push(HOLE);
            }
            c => result.push(c),
        }
    }
    result
}
