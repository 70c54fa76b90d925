//! Owners that start programs of the system, which say about themselves what no program of ours could: a Rust
//! program's start-up changes streams and signals before its first line.

use super::owner::{Owner, Refusal};
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// As one word of a command: whatever a word cannot hold as `%XX`.
pub fn escape(text: impl AsRef<OsStr>) -> String {
    let plain = |c: &u8| c.is_ascii_graphic() && *c != b'%';
    let word =
        text.as_ref().as_bytes().iter().map(|c| if plain(c) { (*c as char).into() } else { format!("%{c:02x}") });
    word.collect()
}

impl Owner {
    /// Spawns a program with options of the command `spawn` (`stdout=piped`, `cwd=...`, escaped), arguments as they are.
    pub fn try_program(&mut self, options: &str, program: impl AsRef<OsStr>, args: &[&str]) -> Result<i32, Refusal> {
        let args: Vec<String> = args.iter().map(escape).collect();
        let command = format!("spawn program={} {options} -- {}", escape(program), args.join(" "));
        self.ask(&command).map(|answer| answer["pid"].as_i64().expect("a pid") as i32)
    }

    /// As [`Owner::try_program`], for what must succeed.
    #[track_caller]
    pub fn program(&mut self, options: &str, program: impl AsRef<OsStr>, args: &[&str]) -> i32 {
        match self.try_program(options, &program, args) {
            Ok(pid) => pid,
            Err(refusal) => panic!("{}: {refusal:?}", program.as_ref().display()),
        }
    }

    /// Runs `sh -c LINE` with its standard output in a pipe: what it printed, once it has ended.
    #[track_caller]
    pub fn printed_by(&mut self, options: &str, line: &str) -> String {
        let pid = self.program(&format!("stdin=null stdout=piped {options}"), "/bin/sh", &["-c", line]);
        let text = self.must(&format!("read-stdout {pid}"));
        self.must(&format!("wait {pid}"));
        text.as_str().expect("text").to_string()
    }

    /// How a child ended, in the words of the command `wait`.
    #[track_caller]
    pub fn wait(&mut self, pid: i32) -> Value {
        self.must(&format!("wait {pid}"))
    }

    /// As [`Owner::wait`] with a time limit: null when it runs on.
    #[track_caller]
    pub fn wait_within(&mut self, pid: i32, limit: Duration) -> Value {
        self.must(&format!("wait {pid} {}", limit.as_millis()))
    }

    #[track_caller]
    pub fn slots_in_use(&mut self) -> i64 {
        self.must("status")["slots_in_use"].as_i64().expect("a number")
    }

    /// One guarantee of `status`: its value, and why it is not a stronger one (empty: it is the strongest).
    #[track_caller]
    pub fn guarantee(&mut self, name: &str) -> (String, String) {
        let status = self.must("status");
        let found = &status["guarantees"][name];
        let text = |field: &str| found[field].as_str().unwrap_or_default().to_string();
        (text("value"), text("why"))
    }
}
