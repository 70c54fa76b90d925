//! Reads Python's expressions: what a name, a call's keyword or an argument list can be.

use super::super::code::{Code, children};
use super::super::scope::{Bound, Scopes};
use super::super::value::{Budget, Entry, HOLE, Table, Value};
use tree_sitter::Node;

pub struct Reader<'a, 't> {
    pub code: Code<'t>,
    pub scopes: &'a Scopes<'t>,
    pub budget: Budget,
}

/// Constants made of constants are followed so far.
const DEEPEST: usize = 12;

impl<'t> Reader<'_, 't> {
    /// The full name of an expression: `sp.Popen` after `import subprocess as sp` is `subprocess.Popen`.
    pub fn path(&self, node: Node<'t>) -> Option<String> {
        self.budget.renew();
        self.path_within(node, 0)
    }

    fn path_within(&self, node: Node<'t>, depth: usize) -> Option<String> {
        if depth > DEEPEST || !self.budget.spend() {
            return None;
        }
        match node.kind() {
            "identifier" => self.name(node, depth),
            "attribute" => {
                // `self.x = os.setsid` and the like.
                let whole = self.code.of(node);
                if let [Bound::To(value)] = self.scopes.of(whole, node.start_byte())[..] {
                    return self.path_within(*value, depth + 1);
                }
                let object = self.path_within(node.child_by_field_name("object")?, depth + 1)?;
                Some(canonical(format!("{object}.{}", self.code.field(node, "attribute"))))
            }
            "parenthesized_expression" => self.path_within(children(node).into_iter().next()?, depth + 1),
            "call" => self.reflected(node, depth),
            _ => None,
        }
    }

    fn name(&self, node: Node<'t>, depth: usize) -> Option<String> {
        let name = self.code.of(node);
        let bound = self.scopes.of(name, node.start_byte());
        for bound in &bound {
            match bound {
                Bound::Import(full) => return Some(canonical(full.clone())),
                Bound::To(value) if *value != node => {
                    if let Some(path) = self.path_within(*value, depth + 1) {
                        return Some(path);
                    }
                }
                _ => {}
            }
        }
        if bound.is_empty() {
            let from = self.scopes.wildcards.iter().find(|module| exports(module, name));
            return Some(from.map_or(name.to_owned(), |module| format!("{module}.{name}")));
        }
        None
    }

    /// `getattr(os, "setsid")`, `__import__("os")`, `functools.partial(f, ...)`: the name behind them.
    fn reflected(&self, call: Node<'t>, depth: usize) -> Option<String> {
        let function = self.path_within(call.child_by_field_name("function")?, depth + 1)?;
        let arguments = children(call.child_by_field_name("arguments")?);
        let text = |index: usize| match self.value_within(*arguments.get(index)?, depth + 1) {
            Value::Text(text) => Some(text),
            _ => None,
        };
        match function.as_str() {
            "getattr" => Some(canonical(format!("{}.{}", self.path_within(*arguments.first()?, depth + 1)?, text(1)?))),
            "__import__" | "importlib.import_module" => text(0),
            "functools.partial" => self.path_within(*arguments.first()?, depth + 1),
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
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "none" => Value::Nothing,
            "integer" => number(self.code.of(node)).map_or(Value::Unknown, Value::Number),
            "string" => self.string(node, depth),
            "concatenated_string" => Value::Text(children(node).into_iter().map(|part| inner(part).word()).collect()),
            "list" | "tuple" | "set" => Value::List(self.items(node, depth)),
            "dictionary" => Value::Table(self.table(node, depth)),
            "parenthesized_expression" => children(node).first().map_or(Value::Unknown, |node| inner(*node)),
            "conditional_expression" => match children(node)[..] {
                [yes, _, no] => Value::one_of(vec![inner(yes), inner(no)]),
                _ => Value::Unknown,
            },
            "boolean_operator" => match (node.child_by_field_name("left"), node.child_by_field_name("right")) {
                (Some(left), Some(right)) => Value::one_of(vec![inner(left), inner(right)]),
                _ => Value::Unknown,
            },
            "not_operator" => Value::Unknown,
            "binary_operator" => self.operator(node, depth),
            "identifier" => self.variable(node, depth),
            "attribute" => match self.scopes.of(self.code.of(node), node.start_byte())[..] {
                [Bound::To(value)] => inner(*value),
                _ => self.path(node).map_or(Value::Unknown, Value::Name),
            },
            "call" => self.call(node, depth),
            "named_expression" => node.child_by_field_name("value").map_or(Value::Unknown, inner),
            _ => Value::Unknown,
        }
    }

    fn string(&self, node: Node<'t>, depth: usize) -> Value {
        let mut text = String::new();
        for part in children(node) {
            match part.kind() {
                "string_content" => text.push_str(&unescape(self.code.of(part))),
                "interpolation" => match part.child_by_field_name("expression") {
                    Some(expression) => text.push_str(&self.value_within(expression, depth + 1).word()),
                    None => text.push(HOLE),
                },
                _ => {}
            }
        }
        Value::Text(text)
    }

    fn items(&self, node: Node<'t>, depth: usize) -> Vec<Value> {
        let mut items = Vec::new();
        for item in children(node) {
            match item.kind() {
                "list_splat" => match children(item).first().map(|list| self.value_within(*list, depth + 1)) {
                    Some(Value::List(more)) => items.extend(more),
                    _ => items.push(Value::Unknown),
                },
                _ => items.push(self.value_within(item, depth + 1)),
            }
        }
        items
    }

    fn table(&self, node: Node<'t>, depth: usize) -> Table {
        let mut table = Table::default();
        for pair in children(node) {
            match (pair.kind(), pair.child_by_field_name("key"), pair.child_by_field_name("value")) {
                ("pair", Some(key), Some(value)) => match self.value_within(key, depth + 1) {
                    Value::Text(key) => {
                        let value = self.value_within(value, depth + 1);
                        table.entries.push(Entry { key, value, at: pair.start_byte() });
                    }
                    _ => table.open = true,
                },
                ("dictionary_splat", ..) => {
                    merge(&mut table, children(pair).first().map(|node| self.value_within(*node, depth + 1)))
                }
                _ => table.open = true,
            }
        }
        table
    }

    /// Keywords of a call, those from `**options` among them.
    pub fn keywords(&self, arguments: Node<'t>) -> Table {
        self.budget.renew();
        self.keywords_within(arguments, 0)
    }

    fn keywords_within(&self, arguments: Node<'t>, depth: usize) -> Table {
        let mut table = Table::default();
        for argument in children(arguments) {
            match (argument.kind(), argument.child_by_field_name("value")) {
                ("keyword_argument", Some(value)) => table.entries.push(Entry {
                    key: self.code.field(argument, "name").to_owned(),
                    value: self.value_within(value, depth + 1),
                    at: argument.start_byte(),
                }),
                ("dictionary_splat", _) => {
                    let splat = children(argument).first().map(|node| self.value_within(*node, depth + 1));
                    merge(&mut table, splat);
                }
                _ => {}
            }
        }
        table
    }

    fn operator(&self, node: Node<'t>, depth: usize) -> Value {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
            return Value::Unknown;
        };
        let (left, right) = (self.value_within(left, depth + 1), self.value_within(right, depth + 1));
        match (self.code.field(node, "operator"), left, right) {
            ("|", Value::Table(mut table), other) => {
                merge(&mut table, Some(other));
                Value::Table(table)
            }
            ("|", left, right) => left.or(right),
            ("+", left, right) => left.plus(right),
            ("%", Value::Text(text), _) => Value::Text(with_holes(&text)),
            _ => Value::Unknown,
        }
    }

    fn variable(&self, node: Node<'t>, depth: usize) -> Value {
        let name = self.code.of(node);
        let bound = self.scopes.of(name, node.start_byte());
        if bound.is_empty() {
            return self.path_within(node, depth).map_or(Value::Unknown, Value::Name);
        }
        let mut values = Vec::new();
        let mut added = Table::default();
        for bound in bound {
            match bound {
                Bound::To(value) if *value != node => values.push(self.value_within(*value, depth + 1)),
                Bound::More(value) => values.push(self.value_within(*value, depth + 1)),
                Bound::Import(full) => values.push(Value::Name(canonical(full.clone()))),
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
            // Of a dictionary that is not known, what is added here is.
            values.push(Value::Table(Table { entries: added.entries, open: true }));
        }
        Value::one_of(values)
    }

    fn call(&self, node: Node<'t>, depth: usize) -> Value {
        let (Some(function), Some(arguments)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return Value::Unknown;
        };
        // `"...".format(...)`, `" ".join([...])`.
        if let (Some(object), method) = (function.child_by_field_name("object"), self.code.field(function, "attribute"))
        {
            match (method, self.value_within(object, depth + 1)) {
                ("format", Value::Text(text)) => return Value::Text(with_holes(&text)),
                ("join", Value::Text(between)) => {
                    let items = children(arguments).first().map(|list| self.value_within(*list, depth + 1));
                    return match items {
                        Some(list @ Value::List(_)) => Value::Text(list.words().join(&between)),
                        _ => Value::Unknown,
                    };
                }
                ("copy", table @ Value::Table(_)) => return table,
                _ => {}
            }
        }
        match self.path_within(function, depth + 1).as_deref() {
            Some("dict") => {
                let mut table = self.keywords_within(arguments, depth + 1);
                if let Some(base) = children(arguments)
                    .first()
                    .filter(|node| node.kind() != "keyword_argument" && node.kind() != "dictionary_splat")
                {
                    merge(&mut table, Some(self.value_within(*base, depth + 1)));
                }
                Value::Table(table)
            }
            Some("bool" | "str" | "int" | "list" | "shlex.split") => {
                let value = children(arguments).first().map(|node| self.value_within(*node, depth + 1));
                match value {
                    Some(Value::Text(text)) if self.code.of(function).ends_with("split") => {
                        Value::List(text.split_whitespace().map(|word| Value::Text(word.to_owned())).collect())
                    }
                    value => value.unwrap_or(Value::Unknown),
                }
            }
            // `getattr(subprocess, "CREATE_NO_WINDOW", 0)`.
            Some("getattr") => self.reflected(node, depth).map_or(Value::Unknown, Value::Name),
            _ => Value::Unknown,
        }
    }
}

fn merge(table: &mut Table, other: Option<Value>) {
    match other {
        Some(Value::Table(other)) => {
            table.open |= other.open;
            table.entries.extend(other.entries);
        }
        Some(Value::OneOf(values)) => values.into_iter().for_each(|value| merge(table, Some(value))),
        Some(Value::Nothing) => {}
        _ => table.open = true,
    }
}

/// Modules that are another one's under a second name.
fn canonical(path: String) -> String {
    match path.split_once('.') {
        Some(("posix" | "nt", rest)) => format!("os.{rest}"),
        Some(("asyncio", rest)) => format!("asyncio.{}", rest.trim_start_matches("subprocess.")),
        _ => path,
    }
}

fn exports(module: &str, name: &str) -> bool {
    match module {
        "os" | "posix" => matches!(
            name,
            "setsid" | "setpgid" | "setpgrp" | "fork" | "forkpty" | "system" | "popen" | "posix_spawn" | "posix_spawnp"
        ),
        "subprocess" => matches!(
            name,
            "Popen"
                | "run"
                | "call"
                | "check_call"
                | "check_output"
                | "getoutput"
                | "getstatusoutput"
                | "DETACHED_PROCESS"
                | "CREATE_NEW_PROCESS_GROUP"
                | "CREATE_BREAKAWAY_FROM_JOB"
        ),
        "pty" => name == "fork",
        _ => false,
    }
}

/// `%s` and `{name}` are holes.
fn with_holes(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '%' if rest.peek() == Some(&'%') => result.extend(rest.next()),
            '%' => {
                if rest.peek() == Some(&'(') {
                    rest.by_ref().take_while(|c| *c != ')').for_each(drop);
                }
                rest.next();
                result.push(HOLE);
            }
            '{' if rest.peek() == Some(&'{') => result.extend(rest.next()),
            '{' => {
                rest.by_ref().take_while(|c| *c != '}').for_each(drop);
                result.push(HOLE);
            }
            c => result.push(c),
        }
    }
    result
}

fn number(text: &str) -> Option<i64> {
    super::super::text::number(text)
}

fn unescape(text: &str) -> String {
    super::super::text::unescape(text)
}
