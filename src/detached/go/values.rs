//! Reads Go's names and expressions.

use super::super::code::{Code, Functions, children};
use super::super::scope::{Bound, Scopes};
use super::super::text;
use super::super::value::{Budget, HOLE, Value};
use std::ops::Range;
use tree_sitter::Node;

pub fn bindings<'t>(code: Code<'t>) -> Scopes<'t> {
    let mut scopes = Scopes::default();
    let mut functions = Functions::of(code, &["function_declaration", "method_declaration", "func_literal"]);
    code.walk(code.root, |node| {
        let scope = functions.around(node);
        let whole = code.root.byte_range();
        match node.kind() {
            "import_spec" => {
                let module = code.field(node, "path").trim_matches(['"', '`']);
                match code.field(node, "name") {
                    "." => scopes.wildcards.push(module.to_owned()),
                    "" => scopes.bind(
                        module.rsplit('/').next().unwrap_or(module),
                        whole,
                        Bound::Import(module.to_owned()),
                    ),
                    alias => scopes.bind(alias, whole, Bound::Import(module.to_owned())),
                }
            }
            "short_var_declaration" | "assignment_statement" => {
                if let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    pairs(code, children(left), children(right), scope.clone(), &mut scopes);
                }
            }
            "const_spec" | "var_spec" => {
                let mut cursor = node.walk();
                let names: Vec<Node> =
                    node.children_by_field_name("name", &mut cursor).filter(Node::is_named).collect();
                if let Some(values) = node.child_by_field_name("value") {
                    pairs(code, names, children(values), scope.clone(), &mut scopes);
                }
            }
            "parameter_declaration" if scope != whole => scopes.bind(code.field(node, "name"), scope, Bound::Opaque),
            "function_declaration" => scopes.bind(code.field(node, "name"), whole, Bound::Function(node)),
            "range_clause" => {
                for name in node.child_by_field_name("left").map(children).unwrap_or_default() {
                    scopes.bind(code.of(name), scope.clone(), Bound::Opaque);
                }
            }
            _ => {}
        }
        true
    });
    scopes
}

fn pairs<'t>(
    code: Code<'t>,
    names: Vec<Node<'t>>,
    values: Vec<Node<'t>>,
    scope: Range<usize>,
    scopes: &mut Scopes<'t>,
) {
    let paired = names.len() == values.len();
    for (index, name) in names.into_iter().enumerate() {
        let to = if paired { Bound::To(values[index]) } else { Bound::Opaque };
        scopes.bind(code.of(name), scope.clone(), to);
    }
}

pub struct Reader<'a, 't> {
    pub code: Code<'t>,
    pub scopes: &'a Scopes<'t>,
    pub budget: Budget,
}

/// Constants made of constants are followed so far.
const DEEPEST: usize = 12;

impl<'t> Reader<'_, 't> {
    /// `exec.Command` under any import name is `os/exec.Command`.
    pub fn path(&self, node: Node<'t>) -> Option<String> {
        match node.kind() {
            "identifier" => match self.scopes.of(self.code.of(node), node.start_byte())[..] {
                [] => self.scopes.wildcards.first().map(|module| format!("{module}.{}", self.code.of(node))),
                [Bound::To(value)] if *value != node && value.kind() == "selector_expression" => self.path(*value),
                _ => None,
            },
            "selector_expression" => {
                let operand = node.child_by_field_name("operand")?;
                let field = self.code.field(node, "field");
                match self.scopes.of(self.code.of(operand), node.start_byte())[..] {
                    [Bound::Import(module), ..] => Some(format!("{module}.{field}")),
                    [] if operand.kind() == "identifier" => Some(format!("{}.{field}", self.code.of(operand))),
                    _ => None,
                }
            }
            "parenthesized_expression" => self.path(children(node).into_iter().next()?),
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
        match node.kind() {
            "true" | "false" => Value::Bool(node.kind() == "true"),
            "nil" => Value::Nothing,
            "int_literal" => text::number(self.code.of(node)).map_or(Value::Unknown, Value::Number),
            "interpreted_string_literal" => Value::Text(text::unescape(self.code.of(node).trim_matches('"'))),
            "raw_string_literal" => Value::Text(self.code.of(node).trim_matches('`').to_owned()),
            "parenthesized_expression" | "literal_element" => {
                children(node).first().map_or(Value::Unknown, |node| inner(*node))
            }
            "composite_literal" => {
                let items = node.child_by_field_name("body").map(children).unwrap_or_default();
                Value::List(items.into_iter().map(inner).collect())
            }
            "binary_expression" => match (node.child_by_field_name("left"), node.child_by_field_name("right")) {
                (Some(left), Some(right)) => match self.code.field(node, "operator") {
                    "+" => inner(left).plus(inner(right)),
                    "|" => inner(left).or(inner(right)),
                    _ => Value::Unknown,
                },
                _ => Value::Unknown,
            },
            "selector_expression" => self.path(node).map_or(Value::Unknown, Value::Name),
            "identifier" => {
                let bound = self.scopes.of(self.code.of(node), node.start_byte());
                Value::one_of(
                    bound
                        .into_iter()
                        .map(|bound| match bound {
                            Bound::To(value) if *value != node => inner(*value),
                            _ => Value::Unknown,
                        })
                        .collect(),
                )
            }
            // `fmt.Sprintf("nohup %s &", program)`, a conversion `uint32(0x8)`.
            "call_expression" => {
                let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
                match (self.code.field(node, "function"), arguments.first()) {
                    (function, Some(format)) if function.ends_with(".Sprintf") => match inner(*format) {
                        Value::Text(text) => Value::Text(with_holes(&text)),
                        _ => Value::Unknown,
                    },
                    ("uint32" | "string", Some(value)) => inner(*value),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    /// One argument of a call as words: `list...` is many.
    pub fn arguments(&self, node: Node<'t>) -> Vec<String> {
        let list = if node.kind() == "variadic_argument" { children(node).first().copied() } else { Some(node) };
        match list.map(|list| self.value(list)) {
            Some(list @ Value::List(_)) => list.words(),
            Some(value) => vec![value.word()],
            None => vec![HOLE.to_string()],
        }
    }
}

fn with_holes(format: &str) -> String {
    let mut result = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        match c {
            '%' => match rest.find(|c| c.is_alphabetic() || *c == '%') {
                Some('%') => result.push('%'),
                _ => result.push(HOLE),
            },
            c => result.push(c),
        }
    }
    result
}
