//! Calls that start a process: their options, their command lines.

use super::super::code::short;
use super::super::command::{self, Hit};
use super::super::finding::Found;
use super::super::rules;
use super::super::value::{Answer, Entry, Value, last};
use super::hooks::hook;
use super::positional;
use super::values::Reader;
use std::ops::Range;
use tree_sitter::Node;

/// By the last part of their name: they mean a start wherever they come from.
const STARTS: &[&str] = &[
    "Popen",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
    "open_process",
    "run_process",
    "posix_spawn",
    "posix_spawnp",
];
const OF_SUBPROCESS: &[&str] = &["run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"];
/// Ours: what they start is owned.
const OURS: &[&str] = &["spawn_owned", "OwnedProcess"];

pub const FLAGS: &[&str] = &["DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP", "CREATE_BREAKAWAY_FROM_JOB"];
pub const FLAG_BITS: i64 = 0x8 | 0x200 | 0x0100_0000;

pub struct Call<'a, 't> {
    pub reader: &'a Reader<'a, 't>,
    pub node: Node<'t>,
    pub function: Node<'t>,
    pub arguments: Node<'t>,
    /// The full name of what is called; empty where it is not known.
    pub path: &'a str,
}

impl<'t> Call<'_, 't> {
    pub fn check(&self, found: &mut Found, judged: &mut Vec<Range<usize>>) {
        let name = last(self.reader.code.of(self.function));
        if OURS.contains(&name) {
            return;
        }
        let known = STARTS.contains(&last(self.path)) || STARTS.contains(&name);
        let start = known || (self.path.starts_with("subprocess.") && OF_SUBPROCESS.contains(&last(self.path)));
        let keywords = match self.arguments.kind() {
            "argument_list" => self.reader.keywords(self.arguments),
            // `f(x for x in y)`.
            _ => return,
        };
        for entry in &keywords.entries {
            self.option(entry, start, found, judged);
        }
        if start && keywords.open {
            let what = format!("{} takes options that are not known here", short(self.reader.code.of(self.function)));
            found.cannot_tell(&rules::UNKNOWN_OPTIONS, self.node.start_byte(), what);
        }
        if name == "setdefault"
            && let [key, value] = positional(self.arguments, 0)[..]
            && let Value::Text(key) = self.reader.value(key)
        {
            written_option(self.reader, &key, value, self.node.start_byte(), found);
        }
        let shell =
            keywords.entries.iter().find(|entry| entry.key == "shell").map_or(Answer::No, |entry| entry.value.truth());
        let given =
            keywords.entries.iter().find(|entry| entry.key == "args" || entry.key == "command" || entry.key == "cmd");
        if let Some((at, hit)) = self.command(start, shell, given) {
            let answer = if hit.certain { Answer::Yes } else { Answer::CannotTell };
            found.answer(answer, hit.rule, at, self.node.start_byte(), hit.what);
        }
    }

    fn option(&self, entry: &Entry, start: bool, found: &mut Found, judged: &mut Vec<Range<usize>>) {
        let call = self.node.start_byte();
        let Entry { key, value, at } = entry;
        let spawn = start && last(self.path).starts_with("posix_spawn");
        match key.as_str() {
            "start_new_session" => {
                found.answer(value.truth(), &rules::NEW_SESSION, *at, call, "start_new_session=True");
            }
            "setsid" if spawn => {
                found.answer(value.truth(), &rules::NEW_SESSION, *at, call, "posix_spawn(setsid=True)")
            }
            "setpgroup" if spawn => {
                found.answer(value.given(), &rules::PROCESS_GROUP, *at, call, "posix_spawn(setpgroup=)");
            }
            // Elsewhere `process_group` is a word of distributed computing.
            "process_group" if start || matches!(value, Value::Number(_)) => {
                found.answer(value.given(), &rules::PROCESS_GROUP, *at, call, "process_group=");
            }
            "creationflags" => {
                found.answer(
                    value.flags(FLAGS, FLAG_BITS),
                    &rules::CREATION_FLAGS,
                    *at,
                    call,
                    "creationflags= that detach",
                );
            }
            "preexec_fn" => {
                let Some(written) = self.written_value(*at) else { return };
                judged.push(written.byte_range());
                found.answer(
                    hook(self.reader, written),
                    &rules::BEFORE_EXEC,
                    *at,
                    call,
                    "preexec_fn= that leaves the session or group",
                );
            }
            _ => {}
        }
    }

    /// The expression of an option that stands at this place, in the call itself or in a dictionary of the file.
    fn written_value(&self, at: usize) -> Option<Node<'t>> {
        let word = self.reader.code.root.descendant_for_byte_range(at, at + 1)?;
        let mut option = word;
        while let Some(outer) =
            option.parent().filter(|outer| outer.start_byte() == at && outer.kind() != "expression_statement")
        {
            option = outer;
        }
        match option.kind() {
            "keyword_argument" | "pair" => option.child_by_field_name("value"),
            _ => Some(option),
        }
    }

    /// The command line, and where it stands.
    fn command(&self, start: bool, shell: Answer, given: Option<&Entry>) -> Option<(usize, Hit)> {
        let nodes = positional(self.arguments, 0);
        let node = |index: usize| nodes.get(index).copied();
        let at = |index: usize| node(index).map_or(self.node.start_byte(), |node| node.start_byte());
        let value = |index: usize| node(index).map(|node| self.reader.value(node));
        let rest = |index: usize| Value::List(nodes.iter().skip(index).map(|node| self.reader.value(*node)).collect());
        let splat = nodes.iter().any(|node| node.kind() == "list_splat");
        let name = last(self.reader.code.of(self.function));
        let end = if self.path.is_empty() { name } else { last(self.path) };
        let hit = match (self.path, end) {
            ("os.system" | "os.popen", _) | (_, "getoutput" | "getstatusoutput" | "create_subprocess_shell")
                if start || self.path.starts_with("os.") =>
            {
                (at(0), command::text_value(&value(0).or(given.map(|entry| entry.value.clone()))?)?)
            }
            (_, "subprocess_shell") if start => (at(1), command::text_value(&value(1)?)?),
            (_, "create_subprocess_exec") if start && !splat => (at(0), command::argv_value(&rest(0))?),
            (_, "subprocess_exec") if start && !splat => (at(1), command::argv_value(&rest(1))?),
            (path, end) if path.starts_with("os.exec") || end.starts_with("posix_spawn") => {
                let first = usize::from(end.contains("execl"));
                let list = if first == 1 { rest(1) } else { value(1)? };
                (at(0), command::argv(&with_program(&value(0)?, &list))?)
            }
            (path, _) if path.starts_with("os.spawn") => {
                if last(self.reader.code.of(node(0)?)) == "P_DETACH" {
                    let what = "os.spawn*(os.P_DETACH)".to_owned();
                    return Some((at(0), Hit { rule: &rules::CREATION_FLAGS, what, certain: true }));
                }
                let list = if path.contains("spawnl") { rest(2) } else { value(2)? };
                (at(1), command::argv(&with_program(&value(1)?, &list))?)
            }
            _ if start => {
                let (at, line) = match given {
                    Some(entry) => (entry.at, entry.value.clone()),
                    None => (at(0), value(0)?),
                };
                let hit = match shell {
                    Answer::Yes => command::text_value(&line),
                    Answer::No => command::argv_value(&line),
                    Answer::CannotTell => {
                        command::argv_value(&line).or_else(|| command::text_value(&line).filter(|hit| hit.certain))
                    }
                };
                (at, hit?)
            }
            _ => return None,
        };
        Some(hit)
    }
}

/// `execvp(file, argv)`: what runs is the file, whatever argv\[0\] says.
fn with_program(program: &Value, arguments: &Value) -> Vec<String> {
    let mut words = vec![program.word()];
    words.extend(arguments.words().into_iter().skip(1));
    words
}

/// An option that is written down apart from a call, for some start.
pub fn written_option<'t>(reader: &Reader<'_, 't>, key: &str, value: Node<'t>, at: usize, found: &mut Found) {
    let read = reader.value(value);
    let (answer, rule, what) = match key {
        "start_new_session" => (read.truth(), &rules::NEW_SESSION, "start_new_session=True"),
        "creationflags" => (read.flags(FLAGS, FLAG_BITS), &rules::CREATION_FLAGS, "creationflags= that detach"),
        "preexec_fn" => (hook(reader, value), &rules::BEFORE_EXEC, "preexec_fn= that leaves the session or group"),
        _ => return,
    };
    if answer == Answer::Yes {
        found.answer(answer, rule, at, at, what);
    }
}
