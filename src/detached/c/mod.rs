//! C and C++: the C library, the system calls behind it, Qt's processes, Windows' CreateProcess.

mod names;
pub mod preprocess;
mod values;

use super::code::{Code, all_children, children};
use super::command::{self, Hit};
use super::finding::Found;
use super::rules;
use super::scope::Bound;
use super::value::{Answer, Budget, Value, last};
use tree_sitter::Node;
use values::Reader;

const SPAWN_FLAGS: &[&str] = &["POSIX_SPAWN_SETSID", "POSIX_SPAWN_SETPGROUP", "POSIX_SPAWN_SETSID_NP"];
/// POSIX_SPAWN_SETPGROUP and POSIX_SPAWN_SETSID of glibc and musl.
const SPAWN_BITS: i64 = 0x02 | 0x80;
const CREATION_FLAGS: &[&str] = &["DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP", "CREATE_BREAKAWAY_FROM_JOB"];
const CREATION_BITS: i64 = 0x8 | 0x200 | 0x0100_0000;
const CLONE_FLAGS: &[&str] = &["CLONE_PARENT", "CLONE_NEWPID", "CLONE_UNTRACED", "CLONE_DETACHED"];
const CLONE_BITS: i64 = 0x8000 | 0x2000_0000 | 0x0080_0000 | 0x0040_0000;
const THREAD_BIT: i64 = 0x0001_0000;

pub fn check(code: Code, found: &mut Found) {
    let scopes = names::bindings(code);
    let reader = Reader { code, scopes: &scopes, budget: Budget::default() };
    code.walk(code.root, |node| {
        match node.kind() {
            "call_expression" => call(&reader, node, found),
            "ERROR" => broken(&reader, node, found),
            "function_declarator" if node.has_error() => broken(&reader, node, found),
            _ => {}
        }
        true
    });
}

fn call<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    let (Some(function), Some(arguments)) =
        (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    let at = node.start_byte();
    if last(reader.code.of(function)).rsplit("->").next() == Some("startDetached") {
        found.add(&rules::DAEMON, at, "startDetached()");
    }
    let Some(name) = reader.function(function) else { return };
    let given = children(arguments);
    let value = |index: usize| given.get(index).map_or(Value::Unknown, |node| reader.value(*node));
    match (name, given.len()) {
        ("setsid", 0) => drop(found.add(&rules::NEW_SESSION, at, "setsid()")),
        ("setpgid", 2) | ("setpgrp", 0 | 2) => drop(found.add(&rules::PROCESS_GROUP, at, format!("{name}()"))),
        ("daemon", 2) => drop(found.add(&rules::DAEMON, at, "daemon()")),
        ("forkpty", 4) => drop(found.add(&rules::TERMINAL_FORK, at, "forkpty()")),
        ("posix_spawnattr_setflags", 2) => {
            let answer = value(1).flags(SPAWN_FLAGS, SPAWN_BITS);
            found.answer(answer, &rules::SPAWN_ATTRIBUTES, at, at, "posix_spawnattr_setflags with SETSID or SETPGROUP");
        }
        ("CreateProcess" | "CreateProcessA" | "CreateProcessW", 10) => {
            found.answer(
                value(5).flags(CREATION_FLAGS, CREATION_BITS),
                &rules::CREATION_FLAGS,
                at,
                at,
                format!("{name} with flags that detach"),
            );
        }
        ("clone" | "__clone" | "__clone2", 4..) => clone(&value(2), at, found),
        ("clone3", 2..) => clone(&flags_of(reader, given[0]), at, found),
        ("syscall", 1..) => match last(reader.code.of(given[0])) {
            number @ ("SYS_setsid" | "__NR_setsid") => {
                found.add(&rules::NEW_SESSION, at, format!("syscall({number})"));
            }
            number @ ("SYS_setpgid" | "__NR_setpgid") => {
                found.add(&rules::PROCESS_GROUP, at, format!("syscall({number})"));
            }
            "SYS_clone" | "__NR_clone" => clone(&value(1), at, found),
            "SYS_clone3" | "__NR_clone3" if given.len() > 1 => clone(&flags_of(reader, given[1]), at, found),
            _ => {}
        },
        _ => {}
    }
    if let Some(hit) = command_line(reader, name, &given) {
        let answer = if hit.certain { Answer::Yes } else { Answer::CannotTell };
        found.answer(answer, hit.rule, given.first().map_or(at, |first| first.start_byte()), at, hit.what);
    }
}

/// A thread is nobody's child; of the others some are not their parent's either.
fn clone(flags: &Value, at: usize, found: &mut Found) {
    if flags.flags(&["CLONE_THREAD"], THREAD_BIT) == Answer::Yes {
        return;
    }
    found.answer(
        flags.flags(CLONE_FLAGS, CLONE_BITS),
        &rules::CLONE_FLAGS,
        at,
        at,
        "clone with flags that part the child from its parent",
    );
}

/// The `flags` of a struct clone_args, from its initialiser or from assignments.
fn flags_of<'t>(reader: &Reader<'_, 't>, argument: Node<'t>) -> Value {
    let name = reader.code.of(argument).trim_start_matches('&').trim();
    let at = argument.start_byte();
    let separate = reader
        .scopes
        .of(&format!("{name}.flags"), at)
        .into_iter()
        .chain(reader.scopes.of(&format!("{name}->flags"), at));
    let mut values: Vec<Value> = separate
        .map(|bound| match bound {
            Bound::To(value) | Bound::More(value) => reader.value(*value),
            _ => Value::Unknown,
        })
        .collect();
    for bound in reader.scopes.of(name, at) {
        let Bound::To(list) = bound else { continue };
        for pair in children(*list).into_iter().filter(|part| part.kind() == "initializer_pair") {
            if reader.code.field(pair, "designator").trim_start_matches('.') == "flags" {
                values.extend(pair.child_by_field_name("value").map(|value| reader.value(value)));
            }
        }
    }
    Value::one_of(values)
}

fn command_line<'t>(reader: &Reader<'_, 't>, name: &str, given: &[Node<'t>]) -> Option<Hit> {
    let value = |index: usize| given.get(index).map(|node| reader.value(*node));
    let rest = |index: usize| -> Vec<String> {
        given
            .iter()
            .skip(index)
            .map(|node| reader.value(*node))
            .take_while(|value| *value != Value::Nothing)
            .map(|value| value.word())
            .collect()
    };
    match name {
        // system(NULL) asks whether there is a shell.
        "system" | "popen" | "_popen" if !given.is_empty() => match value(0)? {
            Value::Name(_) => command::text_value(&Value::Unknown),
            value => command::text_value(&value),
        },
        "execl" | "execlp" | "execle" if given.len() > 1 => {
            let mut words = vec![value(0)?.word()];
            words.extend(rest(2));
            command::argv(&words)
        }
        "execv" | "execvp" | "execve" | "execvpe" => command::argv(&program_and(&value(0)?, value(1)?)),
        "posix_spawn" | "posix_spawnp" => command::argv(&program_and(&value(1)?, value(4)?)),
        _ => None,
    }
}

fn program_and(program: &Value, list: Value) -> Vec<String> {
    let words = any_list(&list);
    // `execvp(argv[0], argv)`: the list says what runs.
    let first = match program.text() {
        Some(text) => text.to_owned(),
        None => words.first().cloned().unwrap_or_default(),
    };
    std::iter::once(first).chain(words.into_iter().skip(1)).collect()
}

fn any_list(list: &Value) -> Vec<String> {
    list.alternatives().into_iter().map(Value::words).find(|words| !words.is_empty()).unwrap_or_default()
}

/// What the grammar cannot read without the preprocessor: a name with a parenthesis behind it may be a call.
fn broken<'t>(reader: &Reader<'_, 't>, node: Node<'t>, found: &mut Found) {
    for pair in all_children(node).windows(2) {
        let name = reader.code.of(pair[0]);
        let named = matches!(name, "setsid" | "setpgid" | "setpgrp" | "posix_spawnattr_setflags");
        if named && pair[0].kind().ends_with("identifier") && reader.code.of(pair[1]).starts_with('(') {
            found.cannot_tell(
                &rules::IN_BROKEN_TEXT,
                pair[0].start_byte(),
                format!("{name}() in text that cannot be parsed"),
            );
        }
    }
}
