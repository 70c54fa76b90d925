//! `Command::new("sh").arg("-c").arg("...")`, in one chain or line by line on a variable.

use super::super::code::{around, children};
use super::super::command::{self, Hit};
use super::super::value::{Value, last};
use super::values::Reader;
use tree_sitter::Node;

/// The command line that begins with this `Command::new(...)`.
pub fn of_new<'t>(reader: &Reader<'_, 't>, new: Node<'t>) -> Option<Hit> {
    let program = children(new.child_by_field_name("arguments")?).into_iter().next()?;
    let mut words = vec![reader.value(program).word()];
    let end = chain(reader, new, &mut words);
    if let Some(name) = variable(reader, end) {
        more_of(reader, end, name, &mut words);
    }
    command::argv(&words)
}

/// Adds the arguments of the chain of calls above `from`; its last call.
fn chain<'t>(reader: &Reader<'_, 't>, from: Node<'t>, words: &mut Vec<String>) -> Node<'t> {
    let mut at = from;
    while let Some(field) = at.parent().filter(|parent| parent.kind() == "field_expression") {
        let Some(call) = field.parent().filter(|call| call.child_by_field_name("function") == Some(field)) else {
            break;
        };
        argument(reader, field, call, words);
        at = call;
    }
    at
}

fn argument<'t>(reader: &Reader<'_, 't>, method: Node<'t>, call: Node<'t>, words: &mut Vec<String>) {
    let given = call.child_by_field_name("arguments").and_then(|all| children(all).first().copied());
    let Some(given) = given else { return };
    match reader.code.field(method, "field") {
        "arg" => words.push(reader.value(given).word()),
        "args" => words.extend(reader.value(given).words()),
        _ => {}
    }
}

/// `let mut command = Command::new(...)`: the name.
fn variable<'t>(reader: &Reader<'_, 't>, end: Node<'t>) -> Option<&'t str> {
    let binding = end.parent().filter(|parent| parent.kind() == "let_declaration")?;
    Some(reader.code.field(binding, "pattern").trim_start_matches("mut "))
}

fn more_of<'t>(reader: &Reader<'_, 't>, end: Node<'t>, name: &str, words: &mut Vec<String>) {
    let function = around(end, &["function_item", "closure_expression"]).unwrap_or(reader.code.root);
    let mut found = Vec::new();
    reader.code.walk(function, |node| {
        if node.start_byte() > end.end_byte() && node.kind() == "identifier" && reader.code.of(node) == name {
            found.push(node);
        }
        true
    });
    for use_of_it in found {
        chain(reader, use_of_it, words);
    }
}

/// Is this path one that makes a command? `std::process::Command::new`, `tokio::process::Command::new`, `Exec::cmd`.
pub fn makes_one(path: &str) -> bool {
    let before = path.rsplit_once("::").map_or("", |(before, _)| last(before));
    matches!((before, last(path)), ("Command", "new") | ("Exec", "cmd"))
}

/// `Exec::shell(text)` of the subprocess crate.
pub fn shell_text<'t>(reader: &Reader<'_, 't>, path: &str, arguments: Node<'t>) -> Option<Hit> {
    let is_shell = path.ends_with("Exec::shell") || path == "libc::system";
    let text = children(arguments).into_iter().next().filter(|_| is_shell)?;
    match reader.value(text) {
        // A C string made elsewhere.
        Value::Name(_) => command::text_value(&Value::Unknown),
        value => command::text_value(&value),
    }
}
