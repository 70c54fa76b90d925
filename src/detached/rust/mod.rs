//! Rust: std and its like, libc, nix, rustix, the daemon crates.

mod commands;
mod names;
mod values;

use super::code::{Code, all_children, around, children};
use super::finding::Found;
use super::rules::{self, Rule};
use super::scope::Bound;
use super::value::{Answer, Budget, last};
use tree_sitter::Node;
use values::Reader;

const FLAGS: &[&str] = &["DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP", "CREATE_BREAKAWAY_FROM_JOB"];
const FLAG_BITS: i64 = 0x8 | 0x200 | 0x0100_0000;
const SPAWN_FLAGS: &[&str] = &["POSIX_SPAWN_SETSID", "POSIX_SPAWN_SETPGROUP"];
const SPAWN_BITS: i64 = 0x02 | 0x80;
const DAEMONS: &[&str] =
    &["daemonize::Daemonize::new", "fork::daemon", "libc::daemon", "nix::unistd::daemon", "daemon"];

pub fn check(code: Code, with_tests: bool, found: &mut Found) {
    let scopes = names::bindings(code);
    let reader = Reader { code, scopes: &scopes, budget: Budget::default() };
    // An attribute covers what comes next, comments aside.
    let mut for_tests = false;
    code.walk(code.root, |node| {
        match node.kind() {
            "line_comment" | "block_comment" => return false,
            "attribute_item" => {
                for_tests |= is_for_tests(code.of(node));
                return false;
            }
            _ if std::mem::take(&mut for_tests) && !with_tests => return false,
            "call_expression" => call(&reader, node, found),
            "token_tree" => tokens(&reader, node, found),
            "macro_definition" => return false,
            _ => {}
        }
        true
    });
}

/// `#[cfg(test)]`, `#[test]`, `#[tokio::test]`.
fn is_for_tests(attribute: &str) -> bool {
    let plain: String = attribute.split_whitespace().collect();
    plain == "#[cfg(test)]" || plain == "#[test]" || plain.starts_with("#[cfg(all(test,") || plain.ends_with("::test]")
}

fn leaves(name: &str) -> Option<&'static Rule> {
    match name {
        "setsid" => Some(&rules::NEW_SESSION),
        "setpgid" | "setpgrp" => Some(&rules::PROCESS_GROUP),
        _ => None,
    }
}

fn call<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    let (Some(function), Some(arguments)) =
        (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    if function.kind() == "field_expression" {
        return method(reader, node, function, arguments, found);
    }
    let Some(path) = reader.path(function) else { return };
    let at = node.start_byte();
    if let Some(rule) = leaves(last(&path)).filter(|_| !is_judged(reader, node)) {
        found.add(rule, at, format!("{path}()"));
    }
    if DAEMONS.contains(&path.as_str()) {
        found.add(&rules::DAEMON, at, format!("{path}()"));
    }
    if last(&path) == "syscall" {
        let first = children(arguments).first().map_or("", |first| last(reader.code.of(*first)));
        if let Some(rule) = first.strip_prefix("SYS_").and_then(leaves) {
            found.add(rule, at, format!("syscall({first})"));
        }
    }
    if let ("posix_spawnattr_setflags", Some(flags)) = (last(&path), children(arguments).get(1)) {
        let answer = reader.value(*flags).flags(SPAWN_FLAGS, SPAWN_BITS);
        found.answer(answer, &rules::SPAWN_ATTRIBUTES, at, at, "posix_spawnattr_setflags with SETSID or SETPGROUP");
    }
    let hit = match commands::makes_one(&path) {
        true => commands::of_new(reader, node),
        false => commands::shell_text(reader, &path, arguments),
    };
    if let Some(hit) = hit {
        let answer = if hit.certain { Answer::Yes } else { Answer::CannotTell };
        found.answer(answer, hit.rule, at, at, hit.what);
    }
}

fn method<'t>(reader: &Reader<'_, 't>, node: Node<'t>, function: Node<'t>, arguments: Node<'t>, found: &mut Found) {
    let Some(name_at) = function.child_by_field_name("field") else { return };
    let at = name_at.start_byte();
    let call = node.start_byte();
    let given = children(arguments);
    match (reader.code.of(name_at), &given[..]) {
        ("process_group", [_]) => found.answer(Answer::Yes, &rules::PROCESS_GROUP, at, call, "process_group()"),
        ("group_spawn", []) => found.answer(Answer::Yes, &rules::PROCESS_GROUP, at, call, "group_spawn()"),
        ("setsid", [value]) => {
            found.answer(reader.value(*value).truth(), &rules::NEW_SESSION, at, call, "setsid(true)")
        }
        ("creation_flags", [flags]) => {
            let answer = reader.value(*flags).flags(FLAGS, FLAG_BITS);
            found.answer(answer, &rules::CREATION_FLAGS, at, call, "creation_flags() that detach");
        }
        ("pre_exec" | "before_exec", [hook]) => {
            found.answer(
                before_exec(reader, *hook, 0),
                &rules::BEFORE_EXEC,
                at,
                call,
                "pre_exec() that leaves the session or group",
            );
        }
        _ => {}
    }
}

/// What is inside a closure given to pre_exec is judged with it.
fn is_judged<'t>(reader: &Reader<'_, 't>, node: Node<'t>) -> bool {
    let mut inside = node;
    while let Some(closure) = around(inside, &["closure_expression"]) {
        let call = around(closure, &["call_expression"]);
        let method = call.and_then(|call| call.child_by_field_name("function"));
        if method.is_some_and(|method| matches!(reader.code.field(method, "field"), "pre_exec" | "before_exec")) {
            return true;
        }
        inside = closure;
    }
    false
}

/// Does the function that is given to pre_exec leave the session or group?
fn before_exec<'t>(reader: &Reader<'_, 't>, hook: Node<'t>, depth: usize) -> Answer {
    const DEEPEST: usize = 6;
    if depth > DEEPEST {
        return Answer::CannotTell;
    }
    if hook.kind() == "closure_expression" {
        return hook.child_by_field_name("body").map_or(Answer::CannotTell, |body| within(reader, body, depth));
    }
    match reader.path(hook) {
        Some(path) if leaves(last(&path)).is_some() => return Answer::Yes,
        _ => {}
    }
    let bound = reader.scopes.of(last(reader.code.of(hook)), hook.start_byte());
    match bound.first() {
        Some(Bound::Function(function)) => {
            function.child_by_field_name("body").map_or(Answer::CannotTell, |body| within(reader, body, depth))
        }
        Some(Bound::To(value)) if *value != hook => before_exec(reader, *value, depth + 1),
        _ => Answer::CannotTell,
    }
}

fn within<'t>(reader: &Reader<'_, 't>, body: Node<'t>, depth: usize) -> Answer {
    let mut answer = Answer::No;
    reader.code.walk(body, |node| {
        let function = node.child_by_field_name("function").filter(|_| node.kind() == "call_expression");
        if let Some(path) =
            function.and_then(|function| reader.path(function).or(Some(reader.code.of(function).to_owned())))
        {
            let own = reader.scopes.of(last(&path), node.start_byte());
            let through = depth < 4
                && own.into_iter().any(|bound| match bound {
                    Bound::Function(own) => own.child_by_field_name("body").is_some_and(|body| {
                        !body.byte_range().contains(&node.start_byte())
                            && within(reader, body, depth + 1) == Answer::Yes
                    }),
                    _ => false,
                });
            if leaves(last(&path)).is_some() || through {
                answer = Answer::Yes;
            }
        }
        answer != Answer::Yes
    });
    answer
}

/// The arguments of a macro are tokens: a name with parentheses behind it is a call.
fn tokens<'t>(reader: &Reader<'_, 't>, tree: Node<'t>, found: &mut Found) {
    let parts = all_children(tree);
    for name in parts.iter().filter(|part| part.kind() == "identifier") {
        // `syscall!(SYS_setsid)`: whatever the macro does with the number, it is for a call.
        if let Some(rule) = reader.code.of(*name).strip_prefix("SYS_").and_then(leaves) {
            found.add(rule, name.start_byte(), format!("{} in a macro", reader.code.of(*name)));
        }
    }
    for (index, pair) in parts.windows(2).enumerate() {
        let [name, arguments] = pair else { continue };
        if name.kind() != "identifier"
            || arguments.kind() != "token_tree"
            || !reader.code.of(*arguments).starts_with('(')
        {
            continue;
        }
        let before = index.checked_sub(1).and_then(|before| parts.get(before)).map_or("", |node| reader.code.of(*node));
        let path = reader.path(*name).unwrap_or_else(|| reader.code.of(*name).to_owned());
        let empty = all_children(*arguments).len() <= 2;
        match (before, last(&path)) {
            (".", "process_group") if !empty => {
                found.add(&rules::PROCESS_GROUP, name.start_byte(), "process_group()");
            }
            (".", _) | ("fn", _) => {}
            (_, end) => {
                if let Some(rule) = leaves(end) {
                    found.add(rule, name.start_byte(), format!("{end}()"));
                }
            }
        }
    }
}
