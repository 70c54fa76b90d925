//! Reads C's and C++'s expressions.

use super::super::code::{Code, children};
use super::super::scope::{Bound, Scopes};
use super::super::text;
use super::super::value::{Budget, Value, last};
use tree_sitter::Node;

pub struct Reader<'a, 't> {
    pub code: Code<'t>,
    pub scopes: &'a Scopes<'t>,
    pub budget: Budget,
}

/// Constants made of constants are followed so far.
const DEEPEST: usize = 12;

impl<'t> Reader<'_, 't> {
    /// The name of what is called: `setsid`, `::setsid` and `std::system` by their last part. Methods have none.
    pub fn function(&self, node: Node<'t>) -> Option<&'t str> {
        let name = match node.kind() {
            "identifier" => self.code.of(node),
            "qualified_identifier" => last(self.code.of(node)),
            "parenthesized_expression" => return self.function(children(node).into_iter().next()?),
            _ => return None,
        };
        match self.scopes.of(name, node.start_byte())[..] {
            [] => Some(name),
            // Its body is looked at where it stands.
            [Bound::Function(_), ..] => None,
            // `#define detach setsid`, `int (*leave)(void) = setsid;`.
            [Bound::Import(text)] => self.code.text.find(text.as_str()).map(|at| &self.code.text[at..at + text.len()]),
            [Bound::To(value)] if *value != node && matches!(value.kind(), "identifier" | "pointer_expression") => {
                Some(self.code.of(*value).trim_start_matches('&'))
            }
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
        let field = |name| node.child_by_field_name(name).map_or(Value::Unknown, inner);
        match node.kind() {
            "number_literal" => text::number(self.code.of(node)).map_or(Value::Unknown, Value::Number),
            "string_literal" | "raw_string_literal" => Value::Text(self.string(node)),
            "concatenated_string" => Value::Text(children(node).into_iter().map(|part| inner(part).word()).collect()),
            "true" | "false" => Value::Bool(node.kind() == "true"),
            "null" | "nullptr" => Value::Nothing,
            "parenthesized_expression" => children(node).first().map_or(Value::Unknown, |node| inner(*node)),
            "cast_expression" => field("value"),
            // static_cast<short>(...).
            "call_expression" if self.code.field(node, "function").contains("_cast<") => {
                let arguments = node.child_by_field_name("arguments");
                arguments.and_then(|all| children(all).first().copied()).map_or(Value::Unknown, inner)
            }
            "compound_literal_expression" => field("value"),
            "initializer_list" => Value::List(children(node).into_iter().map(inner).collect()),
            "conditional_expression" => Value::one_of(vec![field("consequence"), field("alternative")]),
            "binary_expression" => match self.code.field(node, "operator") {
                "|" | "+" | "^" => field("left").or(field("right")),
                _ => Value::Unknown,
            },
            "identifier" | "qualified_identifier" | "field_expression" => {
                self.named(self.code.of(node), node.start_byte(), depth)
            }
            _ => Value::Unknown,
        }
    }

    fn named(&self, name: &str, at: usize, depth: usize) -> Value {
        if depth > DEEPEST || !self.budget.spend() {
            return Value::Unknown;
        }
        let bound = self.scopes.of(name, at);
        if bound.is_empty() {
            // A constant of a header, or a variable that nobody here sets.
            let constant = last(name).chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            return if constant && name != "NULL" { Value::Name(last(name).to_owned()) } else { unset(name) };
        }
        Value::one_of(
            bound
                .into_iter()
                .map(|bound| match bound {
                    Bound::Import(text) => self.macro_text(text, at, depth + 1),
                    Bound::To(value) | Bound::More(value) if value.start_byte() != at => {
                        self.value_within(*value, depth + 1)
                    }
                    _ => Value::Unknown,
                })
                .collect(),
        )
    }

    /// What a `#define`d constant is: a string, a number, names joined by `|`.
    fn macro_text(&self, macro_text: &str, at: usize, depth: usize) -> Value {
        let plain = macro_text.trim();
        if let Some(string) = plain.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            return Value::Text(text::unescape(string));
        }
        let part = |part: &str| {
            let part = part.trim_matches(|c: char| c == '(' || c == ')' || c.is_whitespace());
            match part.starts_with(|c: char| c.is_ascii_digit()) {
                true => text::number(part).map_or(Value::Unknown, Value::Number),
                false if part.chars().all(|c| c.is_alphanumeric() || c == '_') => self.named(part, at, depth + 1),
                false => Value::Unknown,
            }
        };
        plain.split('|').map(part).reduce(Value::or).unwrap_or(Value::Unknown)
    }

    fn string(&self, node: Node<'t>) -> String {
        let written = self.code.of(node);
        let (start, end) = (written.find('"').map_or(0, |at| at + 1), written.rfind('"').unwrap_or(written.len()));
        let inside = written.get(start..end).unwrap_or("");
        if node.kind() == "raw_string_literal" {
            return inside
                .split_once('(')
                .and_then(|(_, rest)| rest.rsplit_once(')'))
                .map_or(inside, |(text, _)| text)
                .to_owned();
        }
        text::unescape(inside)
    }
}

fn unset(name: &str) -> Value {
    if name == "NULL" { Value::Nothing } else { Value::Unknown }
}
