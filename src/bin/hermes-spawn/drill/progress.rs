//! What the drill is doing, on stderr: one line a step, on a terminal always the same line.

use std::io::{self, IsTerminal, Write};

pub struct Progress {
    in_place: bool,
    last: String,
}

impl Progress {
    pub fn new() -> Progress {
        Progress { in_place: io::stderr().is_terminal(), last: String::new() }
    }

    /// A stderr that cannot be written to is no reason to stop.
    pub fn step(&mut self, what: &str) {
        if self.last == what {
            return;
        }
        self.last = what.to_string();
        let mut stderr = io::stderr();
        let _ =
            if self.in_place { write!(stderr, "\r\x1b[Kdrill: {what} ...") } else { writeln!(stderr, "drill: {what}") };
    }

    /// A step that counts: on a terminal the count moves, elsewhere its last line is enough.
    pub fn count(&mut self, what: &str, done: usize, of: usize) {
        if self.in_place || done == of {
            self.step(&format!("{what}: {done} of {of}"));
        }
    }

    /// Makes room for the result.
    pub fn done(&mut self) {
        if self.in_place {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
