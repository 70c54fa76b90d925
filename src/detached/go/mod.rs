//! Go: os/exec, syscall, golang.org/x/sys.

mod values;

use super::code::{Code, children};
use super::command;
use super::finding::Found;
use super::rules::{self, Rule};
use super::value::{Answer, Budget, Value, last};
use tree_sitter::Node;
use values::Reader;

const FLAGS: &[&str] = &["DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP", "CREATE_BREAKAWAY_FROM_JOB"];
const FLAG_BITS: i64 = 0x8 | 0x200 | 0x0100_0000;

pub fn check(code: Code, found: &mut Found) {
    let scopes = values::bindings(code);
    let reader = Reader { code, scopes: &scopes, budget: Budget::default() };
    code.walk(code.root, |node| {
        match node.kind() {
            "composite_literal" => literal(&reader, node, found),
            "assignment_statement" => assignment(&reader, node, found),
            "call_expression" => call(&reader, node, found),
            _ => {}
        }
        true
    });
}

/// `syscall.SysProcAttr{Setsid: true}`.
fn literal<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    if last(reader.code.field(node, "type")) != "SysProcAttr" {
        return;
    }
    let Some(body) = node.child_by_field_name("body") else { return };
    for element in children(body).into_iter().filter(|element| element.kind() == "keyed_element") {
        let parts = children(element);
        if let [key, value] = parts[..] {
            let inner = |node: Node<'t>| {
                children(node).first().copied().filter(|_| node.kind() == "literal_element").unwrap_or(node)
            };
            attribute(reader, reader.code.of(key), inner(value), element.start_byte(), node.start_byte(), found);
        }
    }
}

/// `cmd.SysProcAttr.Setsid = true`, `attr.Setpgid = true`.
fn assignment<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return;
    };
    for (to, value) in children(left).into_iter().zip(children(right)) {
        if to.kind() == "selector_expression" {
            attribute(reader, reader.code.field(to, "field"), value, to.start_byte(), node.start_byte(), found);
        }
    }
}

fn attribute<'t>(reader: &Reader<'_, 't>, key: &str, value: Node<'t>, at: usize, whole: usize, found: &mut Found) {
    let rule: &'static Rule = match key {
        "Setsid" => &rules::NEW_SESSION,
        "Setpgid" => &rules::PROCESS_GROUP,
        "Foreground" => {
            // Also a word of colours and windows: only a truth value is meant for a process.
            if !matches!(reader.value(value), Value::Bool(_)) && !reader.code.text.contains("SysProcAttr") {
                return;
            }
            &rules::FOREGROUND
        }
        "CreationFlags" => {
            let answer = reader.value(value).flags(FLAGS, FLAG_BITS);
            return found.answer(answer, &rules::CREATION_FLAGS, at, whole, "CreationFlags that detach");
        }
        _ => return,
    };
    found.answer(reader.value(value).truth(), rule, at, whole, format!("SysProcAttr.{key}"));
}

fn call<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    let (Some(function), Some(arguments)) =
        (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    let Some(path) = reader.path(function) else { return };
    let at = node.start_byte();
    let given = children(arguments);
    let words = |from: usize| given.iter().skip(from).flat_map(|node| reader.arguments(*node)).collect::<Vec<String>>();
    let hit = match path.as_str() {
        "syscall.Setsid" | "golang.org/x/sys/unix.Setsid" | "unix.Setsid" => {
            found.add(&rules::NEW_SESSION, at, "Setsid()");
            None
        }
        "syscall.Setpgid" | "golang.org/x/sys/unix.Setpgid" | "unix.Setpgid" => {
            found.add(&rules::PROCESS_GROUP, at, "Setpgid()");
            None
        }
        "os/exec.Command" => command::argv(&words(0)),
        "os/exec.CommandContext" => command::argv(&words(1)),
        "syscall.Exec" | "syscall.ForkExec" | "syscall.StartProcess" | "os.StartProcess" if given.len() > 1 => {
            let mut line = vec![reader.value(given[0]).word()];
            line.extend(reader.arguments(given[1]).into_iter().skip(1));
            command::argv(&line)
        }
        _ => None,
    };
    if let Some(hit) = hit {
        let answer = if hit.certain { Answer::Yes } else { Answer::CannotTell };
        found.answer(answer, hit.rule, at, at, hit.what);
    }
}
