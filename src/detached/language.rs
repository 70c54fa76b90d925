//! Which files are looked at, and as which language.

use std::fs::File;
use std::io::Read;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    Rust,
    C,
    /// A `.h`: C, or C++ where that fits better.
    Header,
    Cpp,
    Shell,
    Go,
}

impl Language {
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "Python",
            Language::JavaScript => "JavaScript",
            Language::TypeScript => "TypeScript",
            Language::Tsx => "TypeScript with JSX",
            Language::Rust => "Rust",
            Language::C | Language::Header => "C",
            Language::Cpp => "C++",
            Language::Shell => "shell",
            Language::Go => "Go",
        }
    }

    pub fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::Python => tree_sitter_python::LANGUAGE,
            Language::JavaScript => tree_sitter_javascript::LANGUAGE,
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Language::Rust => tree_sitter_rust::LANGUAGE,
            Language::C | Language::Header => tree_sitter_c::LANGUAGE,
            Language::Cpp => tree_sitter_cpp::LANGUAGE,
            Language::Shell => tree_sitter_bash::LANGUAGE,
            Language::Go => tree_sitter_go::LANGUAGE,
        }
        .into()
    }

    /// Without one of these words there can be no finding but in the comments. All files are parsed all the same: one
    /// that cannot be is to be known.
    fn words(self) -> &'static [&'static str] {
        match self {
            Language::Python => &[
                "setsid",
                "setpg",
                "start_new_session",
                "process_group",
                "preexec_fn",
                "creationflags",
                "fork",
                "aemon",
                "ubprocess",
                "Popen",
                "popen",
                "system",
                "posix_spawn",
                "exec",
                "spawn",
                "_process",
                "P_DETACH",
            ],
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                &["spawn", "Spawn", "exec", "fork", "detached", "child_process", "Command", "unref"]
            }
            Language::Rust => &[
                "setsid",
                "setpg",
                "process_group",
                "group_spawn",
                "pre_exec",
                "before_exec",
                "creation_flags",
                "aemon",
                "Command",
                "Exec",
                "system",
                "SYS_set",
                "posix_spawn",
            ],
            Language::C | Language::Header | Language::Cpp => &[
                "setsid",
                "setpg",
                "daemon",
                "forkpty",
                "posix_spawn",
                "clone",
                "syscall",
                "CreateProcess",
                "system",
                "popen",
                "exec",
                "startDetached",
            ],
            Language::Shell => &[""],
            Language::Go => &["Setsid", "Setpgid", "Foreground", "CreationFlags", "Command", "exec", "Exec", "Process"],
        }
    }

    pub fn may_hold_one(self, text: &str) -> bool {
        self.words().iter().any(|word| text.contains(word))
    }

    /// By its extension; a file without one by its `#!` line.
    pub fn of(path: &Path) -> Option<Language> {
        // Declarations of TypeScript start nothing.
        if path.file_stem().is_some_and(|stem| Path::new(stem).extension().is_some_and(|inner| inner == "d")) {
            return of_extension(path.extension()?.to_str()?).filter(|language| *language != Language::TypeScript);
        }
        match path.extension() {
            Some(extension) => of_extension(extension.to_str()?),
            None => of_first_line(&first_bytes(path)?),
        }
    }
}

fn of_extension(extension: &str) -> Option<Language> {
    Some(match extension.to_ascii_lowercase().as_str() {
        "py" | "pyw" => Language::Python,
        "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "rs" => Language::Rust,
        "c" => Language::C,
        "h" => Language::Header,
        "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" => Language::Cpp,
        "sh" | "bash" | "dash" | "ksh" => Language::Shell,
        "go" => Language::Go,
        _ => return None,
    })
}

fn first_bytes(path: &Path) -> Option<String> {
    let mut bytes = [0; 128];
    let read = File::open(path).ok()?.read(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

fn of_first_line(text: &str) -> Option<Language> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    // `#!/usr/bin/env -S python3 -u`: the first word that is no option, no assignment and not env.
    let program = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = program.into_iter().find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" | "pypy" => Some(Language::Python),
        "node" | "nodejs" => Some(Language::JavaScript),
        "deno" | "bun" | "tsx" | "ts-node" => Some(Language::TypeScript),
        "sh" | "bash" | "dash" | "ksh" | "ash" => Some(Language::Shell),
        _ => None,
    }
}
