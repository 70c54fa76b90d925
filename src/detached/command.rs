//! Command lines, whatever language they stand in: argument lists and strings for a shell.

use super::rules::{self, Rule};
use super::shell;
use super::value::{HOLE, Value};

/// What is wrong with a command line.
#[derive(Clone, Debug)]
pub struct Hit {
    pub rule: &'static Rule,
    pub what: String,
    pub certain: bool,
}

/// Programs that take what they start out of their parent's life, whatever their options.
const DETACH: &[&str] = &["setsid", "nohup", "disown", "systemd-run", "daemonize"];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh"];
/// A shell within a shell within a shell ... is looked into so far.
const DEEPEST: usize = 8;

/// Programs that run the rest of their arguments: name, options that take a value, words of their own before it.
const PREFIXES: &[(&str, &[&str], usize)] = &[
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R"], 0),
    ("doas", &["-u", "-C"], 0),
    ("env", &["-u", "-C", "--unset", "--chdir"], 0),
    ("exec", &["-a"], 0),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("time", &["-f", "-o"], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n"], 0),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("xargs", &["-n", "-P", "-I", "-L", "-d", "-s", "-a", "-E"], 0),
    ("busybox", &[], 0),
    ("chroot", &[], 1),
    ("flock", &["-w", "-E"], 1),
    ("taskset", &[], 1),
    ("chrt", &[], 1),
    ("runuser", &["-u", "-g", "-G"], 0),
    ("setpriv", &[], 0),
    ("unbuffer", &[], 0),
    ("strace", &["-o", "-e", "-p", "-s", "-u"], 0),
];

/// An argument list. A word with a hole in it is not known.
pub fn argv(words: &[String]) -> Option<Hit> {
    argv_within(words, 0)
}

pub fn argv_within(words: &[String], depth: usize) -> Option<Hit> {
    let (program, rest) = words.split_first()?;
    if program.rsplit('/').next().is_none_or(|name| name.contains(HOLE)) {
        return None;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if DETACH.contains(&name) {
        return Some(Hit { rule: &rules::COMMAND, what: format!("`{name}` as a command"), certain: true });
    }
    if name == "start-stop-daemon" {
        return rest.iter().any(|word| in_background(word)).then(|| Hit {
            rule: &rules::COMMAND,
            what: "`start-stop-daemon --background`".into(),
            certain: true,
        });
    }
    if SHELLS.contains(&name) || name == "su" {
        return shell_argument(name, rest, depth);
    }
    let (name, with_value, own_words) = PREFIXES.iter().find(|(prefix, ..)| *prefix == name)?;
    argv_within(after_options(name, rest, with_value, *own_words)?, depth + 1)
}

/// `-b`, `-Sb`, `--background` and what getopt takes for it.
fn in_background(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => long.len() >= 2 && "background".starts_with(long),
        // These options take the rest of the word as their value.
        None => word
            .strip_prefix('-')
            .is_some_and(|short| short.chars().take_while(|c| !"xpnuagcdkrsRN".contains(*c)).any(|c| c == 'b')),
    }
}

/// The text after `-c`.
fn shell_argument(shell: &str, words: &[String], depth: usize) -> Option<Hit> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(short) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
            // A long option, su's user; for a shell the name of a script.
            if word.starts_with("--") || shell == "su" {
                continue;
            }
            return None;
        };
        if short.ends_with('c') {
            // Options may still follow: `sh -c -e TEXT`.
            let text = words.find(|word| !word.starts_with('-'))?;
            return text_within(text, depth + 1);
        }
        if short.ends_with('o') || short.ends_with('O') {
            words.next();
        }
    }
    None
}

fn after_options<'w>(name: &str, words: &'w [String], with_value: &[&str], own_words: usize) -> Option<&'w [String]> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if name == "command" && (word == "-v" || word == "-V") {
            return None;
        }
        let assignment = name == "env" && word.contains('=');
        if word == "--" {
            at += 1;
            break;
        } else if with_value.contains(&word.as_str()) {
            at += 2;
        } else if assignment || (word.starts_with('-') && word.len() > 1) {
            at += 1;
        } else {
            break;
        }
    }
    words.get(at + own_words..)
}

/// A string that a shell is given.
pub fn text(text: &str) -> Option<Hit> {
    text_within(text, 0)
}

pub fn text_within(text: &str, depth: usize) -> Option<Hit> {
    if depth > DEEPEST {
        return None;
    }
    if text.contains(HOLE) && text.chars().all(|c| c == HOLE || c.is_whitespace()) {
        return Some(Hit {
            rule: &rules::UNKNOWN_COMMAND,
            what: "a shell gets a string that is not known here".into(),
            certain: false,
        });
    }
    let words = DETACH.iter().chain(&["start-stop-daemon", "&"]);
    // Also for `sh -c "$x"` within it: both hold a `-c`.
    if !words.into_iter().any(|word| text.contains(word)) && !text.contains("c") {
        return None;
    }
    shell::first_in(&text.replace(HOLE, "$_"), depth)
}

/// What a shell is given as a value: one text, several that it can be, or nothing that is known.
pub fn text_value(value: &Value) -> Option<Hit> {
    let hits = value.alternatives().into_iter().filter_map(|value| match value {
        Value::Text(line) => text(line),
        // The interpreter itself.
        Value::Name(name) if name == "sys.executable" => None,
        Value::Unknown | Value::Name(_) => text(&HOLE.to_string()),
        // `shell=True` with a list: its first item is the text.
        Value::List(items) => items.first().and_then(text_value),
        _ => None,
    });
    worst(hits)
}

/// An argument list as a value. A single text is the name of a program.
pub fn argv_value(value: &Value) -> Option<Hit> {
    worst(value.alternatives().into_iter().filter_map(|value| match value {
        Value::Text(program) => argv(std::slice::from_ref(program)),
        value => argv(&value.words()),
    }))
}

fn worst(hits: impl Iterator<Item = Hit>) -> Option<Hit> {
    hits.reduce(|worst, hit| if worst.certain { worst } else { hit })
}
