//! Reads the expressions of JavaScript and TypeScript.

use super::super::code::{Code, children};
use super::super::scope::{Bound, Scopes};
use super::super::text;
use super::super::value::{Budget, Entry, HOLE, Table, Value};
use super::names::module_name;
use tree_sitter::Node;

pub struct Reader<'a, 't> {
    pub code: Code<'t>,
    pub scopes: &'a Scopes<'t>,
    pub budget: Budget,
}

/// Constants made of constants are followed so far.
const DEEPEST: usize = 12;

impl<'t> Reader<'_, 't> {
    /// The full name of an expression: `cp.spawn` after `const cp = require('node:child_process')` is
    /// `child_process.spawn`.
    pub fn path(&self, node: Node<'t>) -> Option<String> {
        self.budget.renew();
        self.path_within(node, 0)
    }

    fn path_within(&self, node: Node<'t>, depth: usize) -> Option<String> {
        if depth > DEEPEST || !self.budget.spend() {
            return None;
        }
        match node.kind() {
            "identifier" => {
                let name = self.code.of(node);
                let bound = self.scopes.of(name, node.start_byte());
                if bound.is_empty() {
                    return Some(name.to_owned());
                }
                bound.into_iter().find_map(|bound| self.path_of(bound, node, depth))
            }
            "member_expression" => {
                let whole = self.scopes.of(self.code.of(node), node.start_byte());
                if let Some(path) = whole.into_iter().find_map(|bound| self.path_of(bound, node, depth)) {
                    return Some(path);
                }
                let object = self.path_within(node.child_by_field_name("object")?, depth + 1)?;
                Some(joined(&object, self.code.field(node, "property")))
            }
            "this" => Some("this".to_owned()),
            "call_expression" => self.path_of_call(node, depth),
            "await_expression"
            | "parenthesized_expression"
            | "as_expression"
            | "non_null_expression"
            | "satisfies_expression" => self.path_within(children(node).into_iter().next()?, depth + 1),
            _ => None,
        }
    }

    fn path_of(&self, bound: &Bound<'t>, from: Node<'t>, depth: usize) -> Option<String> {
        match bound {
            Bound::Import(full) => Some(full.clone()),
            Bound::To(value) if *value != from => self.path_within(*value, depth + 1),
            Bound::PartOf(value, key) => Some(joined(&self.path_within(*value, depth + 1)?, key)),
            _ => None,
        }
    }

    /// `require('x')`, `import('x')`, `promisify(exec)`.
    fn path_of_call(&self, call: Node<'t>, depth: usize) -> Option<String> {
        let function = call.child_by_field_name("function")?;
        let argument = children(call.child_by_field_name("arguments")?).into_iter().next()?;
        match self.code.of(function) {
            "require" | "import" | "createRequire" | "process.getBuiltinModule" => {
                (argument.kind() == "string").then(|| module_name(self.code.of(argument)))
            }
            name if name.ends_with("promisify") => self.path_within(argument, depth + 1),
            name if name.ends_with(".bind") => self.path_within(function.child_by_field_name("object")?, depth + 1),
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
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" | "undefined" => Value::Nothing,
            "number" => text::number(self.code.of(node)).map_or(Value::Unknown, Value::Number),
            "string" => {
                let quoted = self.code.of(node);
                Value::Text(text::unescape(&quoted[1..quoted.len().max(2) - 1]))
            }
            "template_string" => self.template(node, depth),
            "array" => Value::List(children(node).into_iter().flat_map(|item| self.item(item, depth)).collect()),
            "object" => Value::Table(self.table(node, depth)),
            "ternary_expression" => Value::one_of(vec![field("consequence"), field("alternative")]),
            "unary_expression" if self.code.field(node, "operator") == "!" => match field("argument") {
                Value::Number(number) => Value::Bool(number == 0),
                Value::Bool(value) => Value::Bool(!value),
                _ => Value::Unknown,
            },
            "binary_expression" => match self.code.field(node, "operator") {
                "+" => field("left").plus(field("right")),
                "||" | "??" | "&&" => Value::one_of(vec![field("left"), field("right")]),
                _ => Value::Unknown,
            },
            "identifier" | "shorthand_property_identifier" | "member_expression" => self.variable(node, depth),
            "call_expression" => self.call(node, depth),
            "parenthesized_expression" | "as_expression" | "satisfies_expression" | "non_null_expression" => {
                children(node).first().map_or(Value::Unknown, |node| inner(*node))
            }
            _ => Value::Unknown,
        }
    }

    fn template(&self, node: Node<'t>, depth: usize) -> Value {
        let mut result = String::new();
        let mut at = node.start_byte() + 1;
        for part in children(node).into_iter().filter(|part| part.kind() == "template_substitution") {
            result.push_str(&text::unescape(self.code.text.get(at..part.start_byte()).unwrap_or("")));
            let value = children(part).first().map(|node| self.value_within(*node, depth + 1));
            result.push_str(&value.map_or(HOLE.to_string(), |value| value.word()));
            at = part.end_byte();
        }
        result.push_str(&text::unescape(self.code.text.get(at..node.end_byte() - 1).unwrap_or("")));
        Value::Text(result)
    }

    fn item(&self, item: Node<'t>, depth: usize) -> Vec<Value> {
        if item.kind() != "spread_element" {
            return vec![self.value_within(item, depth + 1)];
        }
        match children(item).first().map(|list| self.value_within(*list, depth + 1)) {
            Some(Value::List(items)) => items,
            _ => vec![Value::Unknown],
        }
    }

    fn table(&self, node: Node<'t>, depth: usize) -> Table {
        let mut table = Table::default();
        for part in children(node) {
            match part.kind() {
                "pair" => {
                    let key = part.child_by_field_name("key");
                    if key.is_some_and(|key| key.kind() == "computed_property_name") {
                        table.open = true;
                        continue;
                    }
                    let key = self.code.field(part, "key").trim_matches(['\'', '"']).to_owned();
                    let value = part
                        .child_by_field_name("value")
                        .map_or(Value::Unknown, |node| self.value_within(node, depth + 1));
                    table.entries.push(Entry { key, value, at: part.start_byte() });
                }
                "shorthand_property_identifier" => {
                    let (key, value) = (self.code.of(part).to_owned(), self.value_within(part, depth + 1));
                    table.entries.push(Entry { key, value, at: part.start_byte() });
                }
                "spread_element" => {
                    merge(
                        &mut table,
                        children(part).first().map_or(Value::Unknown, |node| self.value_within(*node, depth + 1)),
                    );
                }
                "method_definition" => {}
                _ => table.open = true,
            }
        }
        table
    }

    fn variable(&self, node: Node<'t>, depth: usize) -> Value {
        let name = self.code.of(node);
        let bound = self.scopes.of(name, node.start_byte());
        if bound.is_empty() {
            return if name == "undefined" { Value::Nothing } else { Value::Unknown };
        }
        let mut values = Vec::new();
        let mut added = Table { open: true, ..Table::default() };
        for bound in bound {
            match bound {
                Bound::To(value) if *value != node => values.push(self.value_within(*value, depth + 1)),
                Bound::PartOf(value, key) => values.push(match self.value_within(*value, depth + 1) {
                    Value::Table(table) => table
                        .entries
                        .into_iter()
                        .rfind(|entry| entry.key == *key)
                        .map_or(Value::Unknown, |entry| entry.value),
                    _ => Value::Unknown,
                }),
                Bound::Entry(key, value) => added.entries.push(Entry {
                    key: key.clone(),
                    value: self.value_within(*value, depth + 1),
                    at: value.start_byte(),
                }),
                _ => values.push(Value::Unknown),
            }
        }
        for value in &mut values {
            if let Value::Table(table) = value {
                table.entries.extend(added.entries.iter().cloned());
            }
        }
        if !added.entries.is_empty() && !values.iter().any(|value| matches!(value, Value::Table(_))) {
            values.push(Value::Table(added));
        }
        Value::one_of(values)
    }

    /// `['a', 'b'].join(' ')`, `Object.assign({}, a, b)`, `Boolean(x)`.
    fn call(&self, node: Node<'t>, depth: usize) -> Value {
        let (Some(function), Some(arguments)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return Value::Unknown;
        };
        let arguments: Vec<Value> =
            children(arguments).into_iter().map(|node| self.value_within(node, depth + 1)).collect();
        match self.code.of(function) {
            "Object.assign" | "Object.freeze" => {
                let mut table = Table::default();
                arguments.into_iter().for_each(|value| merge(&mut table, value));
                Value::Table(table)
            }
            "Boolean" | "String" => arguments.into_iter().next().unwrap_or(Value::Unknown),
            _ => match (self.code.field(function, "property"), function.child_by_field_name("object")) {
                ("join", Some(list)) => match self.value_within(list, depth + 1) {
                    list @ Value::List(_) => {
                        let between = arguments.first().and_then(Value::text).unwrap_or(",");
                        Value::Text(list.words().join(between))
                    }
                    _ => Value::Unknown,
                },
                ("concat", Some(list)) => {
                    arguments.into_iter().fold(self.value_within(list, depth + 1), |list, more| list.plus(more))
                }
                _ => Value::Unknown,
            },
        }
    }
}

pub fn merge(table: &mut Table, other: Value) {
    match other {
        Value::Table(other) => {
            table.open |= other.open;
            table.entries.extend(other.entries);
        }
        Value::OneOf(values) => values.into_iter().for_each(|value| merge(table, value)),
        Value::Nothing | Value::Bool(false) => {}
        _ => table.open = true,
    }
}

/// A default export is the module.
fn joined(object: &str, property: &str) -> String {
    if property == "default" { object.to_owned() } else { format!("{object}.{property}") }
}
