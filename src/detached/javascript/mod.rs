//! JavaScript and TypeScript: child_process and the packages around it, Bun, Deno.

mod names;
mod values;

use super::code::{Code, children, short};
use super::command::{self, Hit};
use super::finding::Found;
use super::rules;
use super::scope::Bound;
use super::value::{Answer, Budget, Table, Value, last};
use tree_sitter::Node;
use values::{Reader, merge};

const MODULES: &[&str] = &[
    "child_process",
    "execa",
    "cross-spawn",
    "Bun",
    "Deno",
    "zx",
    "nano-spawn",
    "tinyexec",
    "foreground-child",
    "@npmcli/promise-spawn",
];
const STARTS: &[&str] = &[
    "spawn",
    "spawnSync",
    "fork",
    "exec",
    "execSync",
    "execFile",
    "execFileSync",
    "execa",
    "execaSync",
    "execaCommand",
    "Command",
    "crossSpawn",
];
/// Their first argument is for a shell, whatever the options say.
const FOR_A_SHELL: &[&str] = &["exec", "execSync", "execaCommand"];
/// Node gives `detached` on from the options of every start but these two.
const ALWAYS_ATTACHED: &[&str] = &["exec", "execFile"];
/// Ours: what they start is owned, and its unref is the event loop's business only.
const OURS: &[&str] = &["spawnOwned"];
/// Keys that only the options of a start have: such an object is one, wherever it goes.
const OF_A_START: &[&str] = &["stdio", "windowsHide", "windowsVerbatimArguments", "argv0", "shell"];

pub fn check(code: Code, found: &mut Found) {
    let scopes = names::bindings(code);
    let reader = Reader { code, scopes: &scopes, budget: Budget::default() };
    code.walk(code.root, |node| {
        match node.kind() {
            "call_expression" => {
                unref(&reader, node, found);
                start(&reader, node, "function", found);
            }
            "new_expression" => start(&reader, node, "constructor", found),
            "object" => loose_options(&reader, node, found),
            "assignment_expression" => loose_assignment(&reader, node, found),
            _ => {}
        }
        true
    });
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// From a module that starts processes.
    Known,
    /// By its name.
    Likely,
}

fn is_start<'t>(reader: &Reader<'_, 't>, function: Node<'t>) -> Option<(Start, String)> {
    let written = reader.code.of(function);
    let path = reader.path(function).unwrap_or_default();
    let name = if path.is_empty() { last(written) } else { last(&path) };
    if OURS.contains(&name) || OURS.contains(&last(written)) {
        return None;
    }
    let module = path.split('.').next().unwrap_or("");
    if MODULES.contains(&module) && (STARTS.contains(&name) || path == module) {
        return Some((Start::Known, name.to_owned()));
    }
    // `exec` alone is also what regular expressions do.
    let likely = STARTS.contains(&name) && name != "exec" || name.to_ascii_lowercase().contains("spawn");
    likely.then(|| (Start::Likely, name.to_owned()))
}

fn start<'t>(reader: &Reader<'_, 't>, node: Node<'t>, callee: &str, found: &mut Found) {
    let (Some(function), Some(arguments)) = (node.child_by_field_name(callee), node.child_by_field_name("arguments"))
    else {
        return;
    };
    let Some((kind, name)) = is_start(reader, function) else { return };
    let call = node.start_byte();
    let nodes = children(arguments);
    let values: Vec<Value> = nodes.iter().map(|node| reader.value(*node)).collect();

    let mut options = Table::default();
    for (index, (node, value)) in nodes.iter().zip(&values).enumerate() {
        let tables = value.alternatives().into_iter().any(|value| matches!(value, Value::Table(_)));
        // The first is the command, or for Bun an object with everything. A callback is no option.
        let may_be_options = (index > 0 || tables) && !matches!(node.kind(), "arrow_function" | "function_expression");
        if tables {
            merge(&mut options, value.clone());
        } else if may_be_options
            && *value == Value::Unknown
            && kind == Start::Known
            && index + 1 == nodes.len()
            && index >= options_index(&name)
        {
            options.open = true;
        }
    }
    let mut said = false;
    for entry in options.entries.iter().filter(|entry| entry.key == "detached") {
        let answer = entry.value.truth();
        said = true;
        found.answer(answer, &rules::DETACHED_OPTION, entry.at, call, "detached: true");
    }
    if options.open && !said && kind == Start::Known && !ALWAYS_ATTACHED.contains(&name.as_str()) {
        let what = format!("{} takes options that are not known here", short(reader.code.of(function)));
        found.cannot_tell(&rules::UNKNOWN_OPTIONS, call, what);
    }
    let shell =
        options.entries.iter().rfind(|entry| entry.key == "shell").map_or(Answer::No, |entry| entry.value.truth());
    if let Some(hit) = command_line(kind, &name, shell, &values, &options) {
        let at = nodes.first().map_or(call, |node| node.start_byte());
        let answer = if hit.certain { Answer::Yes } else { Answer::CannotTell };
        found.answer(answer, hit.rule, at, call, hit.what);
    }
}

/// Where the options stand if there is an argument list; before that, an unknown value is the list.
fn options_index(name: &str) -> usize {
    if FOR_A_SHELL.contains(&name) { 1 } else { 2 }
}

fn command_line(kind: Start, name: &str, shell: Answer, values: &[Value], options: &Table) -> Option<Hit> {
    let first = values.first()?;
    if let Value::List(_) = first {
        return command::argv_value(first);
    }
    if FOR_A_SHELL.contains(&name) {
        let hit = command::text_value(first)?;
        return (hit.certain || kind == Start::Known).then_some(hit);
    }
    let key = |key: &str| options.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
    if let Some(list) = key("cmd").or(key("args")) {
        let mut words = if key("cmd").is_some() { Vec::new() } else { vec![first.word()] };
        words.extend(list.words());
        return command::argv(&words);
    }
    // With a shell, the arguments are joined to one text.
    if shell == Answer::Yes {
        let mut line = first.word();
        for word in values.get(1).map(Value::words).unwrap_or_default() {
            line = format!("{line} {word}");
        }
        return command::text_value(&Value::Text(line)).filter(|hit| hit.certain || kind == Start::Known);
    }
    first.alternatives().into_iter().find_map(|program| {
        let lists = values.get(1).map(Value::alternatives).unwrap_or_default();
        let mut words = vec![program.word()];
        words.extend(lists.first().map(|list| list.words()).unwrap_or_default());
        command::argv(&words)
    })
}

/// An object that is made for a start elsewhere.
fn loose_options<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    let parts = children(node);
    let key = |part: &Node<'t>| match part.kind() {
        "pair" => reader.code.field(*part, "key").trim_matches(['\'', '"']),
        "shorthand_property_identifier" => reader.code.of(*part),
        _ => "",
    };
    let Some(detached) = parts.iter().find(|part| key(part) == "detached") else { return };
    let of_a_start = parts.iter().any(|part| OF_A_START.contains(&key(part)));
    let value = detached.child_by_field_name("value").map(|value| reader.value(value));
    if of_a_start && value.is_some_and(|value| value.truth() == Answer::Yes) {
        let at = detached.start_byte();
        found.answer(Answer::Yes, &rules::DETACHED_OPTION, at, node.start_byte(), "detached: true");
    }
}

/// `options.detached = true`, in a file that starts processes.
fn loose_assignment<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return;
    };
    let named = left.kind() == "member_expression" && reader.code.field(left, "property") == "detached";
    if named && reader.code.text.contains("child_process") && reader.value(right).truth() == Answer::Yes {
        found.answer(Answer::Yes, &rules::DETACHED_OPTION, right.start_byte(), node.start_byte(), "detached = true");
    }
}

/// `child.unref()`, where child is what a start gave.
fn unref<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    let Some(function) = node.child_by_field_name("function").filter(|function| function.kind() == "member_expression")
    else {
        return;
    };
    if reader.code.field(function, "property") != "unref" {
        return;
    }
    let Some(object) = function.child_by_field_name("object") else { return };
    if is_child(reader, object, 0) {
        let at = function.child_by_field_name("property").map_or(node.start_byte(), |property| property.start_byte());
        found.answer(
            Answer::Yes,
            &rules::UNREF,
            at,
            node.start_byte(),
            format!("{}.unref()", short(reader.code.of(object))),
        );
    }
}

fn is_child<'t>(reader: &Reader<'_, 't>, node: Node<'t>, depth: usize) -> bool {
    const DEEPEST: usize = 6;
    if depth > DEEPEST {
        return false;
    }
    match node.kind() {
        "call_expression" => {
            let Some(function) = node.child_by_field_name("function") else { return false };
            // `spawn(...).on(...)` is still the child.
            let through = function.child_by_field_name("object").is_some_and(|object| {
                matches!(reader.code.field(function, "property"), "on" | "once" | "addListener")
                    && is_child(reader, object, depth + 1)
            });
            through || is_start(reader, function).is_some() || made_by_function(reader, function, depth)
        }
        "await_expression" | "parenthesized_expression" | "as_expression" | "non_null_expression" => {
            children(node).first().is_some_and(|inner| is_child(reader, *inner, depth + 1))
        }
        "ternary_expression" => children(node).into_iter().skip(1).any(|branch| is_child(reader, branch, depth + 1)),
        "identifier" | "member_expression" => {
            reader.scopes.of(reader.code.of(node), node.start_byte()).into_iter().any(|bound| match bound {
                Bound::To(value) => *value != node && is_child(reader, *value, depth + 1),
                _ => false,
            })
        }
        _ => false,
    }
}

/// A function of this file that returns a child.
fn made_by_function<'t>(reader: &Reader<'_, 't>, function: Node<'t>, depth: usize) -> bool {
    if function.kind() != "identifier" {
        return false;
    }
    reader.scopes.of(reader.code.of(function), function.start_byte()).into_iter().any(|bound| {
        let Bound::Function(function) = bound else { return false };
        let mut returns = false;
        reader.code.walk(*function, |node| {
            if node.kind() == "return_statement" {
                returns |= children(node).first().is_some_and(|value| is_child(reader, *value, depth + 1));
            }
            !returns
        });
        returns
    })
}
