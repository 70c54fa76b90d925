//! What the drill has seen, as a table for people and as JSON.

use super::GRACE;
use super::scene::{Before, Fate, LINES, Line, OWNER};
use super::stage::Watched;
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::time::Duration;

struct Row {
    line: &'static Line,
    before: String,
    after: String,
    /// The last of its processes was gone.
    gone_after: Option<Duration>,
    holds: bool,
}

pub struct Report {
    rows: Vec<Row>,
    watched: Watched,
    guarantees: Vec<Value>,
    leftovers: Vec<String>,
}

impl Report {
    /// Looks once more at those that must live, after all that must go have had their time.
    pub fn new(watched: Watched, guarantees: Vec<Value>) -> Report {
        let rows = LINES.iter().map(|line| row(line, &watched)).collect();
        Report { rows, watched, guarantees, leftovers: Vec::new() }
    }

    /// Who was still there when the stage was cleared.
    pub fn leftovers(&mut self, leftovers: Vec<String>) {
        self.leftovers = leftovers;
    }

    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.holds) && self.ports_free() && self.leftovers.is_empty()
    }

    fn ports_free(&self) -> bool {
        self.watched.ports.iter().all(|(_, free)| *free)
    }

    pub fn json(&self) -> String {
        let ms = |time: Option<&Duration>| time.map(|time| (time.as_secs_f64() * 1e4).round() / 10.0);
        let lines: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let processes = row.line.roles.iter().map(|role| {
                    let process = &self.watched.cast[*role];
                    let gone_after_ms = ms(self.watched.gone_after.get(*role));
                    json!({ "role": role, "pid": process.pid, "port": process.port, "gone_after_ms": gone_after_ms })
                });
                json!({
                    "key": row.line.key,
                    "what": row.line.what,
                    "expected": if row.line.fate == Fate::Gone { "gone" } else { "lives" },
                    "before": row.before,
                    "after": row.after,
                    "gone_after_ms": ms(row.gone_after.as_ref()),
                    "processes": processes.collect::<Vec<_>>(),
                    "holds": row.holds,
                })
            })
            .collect();
        let ports: Vec<Value> =
            self.watched.ports.iter().map(|(port, free)| json!({ "port": port, "free": free })).collect();
        let guarantees: serde_json::Map<String, Value> = self
            .guarantees
            .iter()
            .map(|one| (text(&one["name"]).to_string(), json!({ "value": one["value"], "why": one["why"] })))
            .collect();
        let report = json!({
            "schema": 1,
            "holds": self.holds(),
            "grace_ms": GRACE.as_millis() as u64,
            "owner_pid": self.watched.cast[OWNER].pid,
            "lines": lines,
            "ports": ports,
            "guarantees": guarantees,
            "left_over": self.leftovers,
        });
        format!("{report:#}\n")
    }

    pub fn table(&self) -> String {
        let paint = Paint::for_stdout();
        let mut out = format!("An owner (pid {}) was killed with kill -9.\n\n", self.watched.cast[OWNER].pid);
        let table = Table::around(self.rows.iter().map(|row| [row.line.what, &row.before, &row.after]));

        table.head(&mut out, &paint, "started by the owner: must be gone");
        for row in self.rows.iter().filter(|row| row.line.fate == Fate::Gone) {
            table.row(&mut out, &paint, row.holds, [row.line.what, &row.before, &row.after], row.gone_after);
        }
        for (port, free) in &self.watched.ports {
            let after = if *free { "free" } else { "taken" };
            table.row(&mut out, &paint, *free, [&format!("port {port}"), "taken", after], None);
        }
        out.push('\n');
        table.head(&mut out, &paint, "not started by it: must live");
        for row in self.rows.iter().filter(|row| row.line.fate == Fate::Lives) {
            table.row(&mut out, &paint, row.holds, [row.line.what, &row.before, &row.after], None);
        }
        for left in &self.leftovers {
            let _ = writeln!(out, "  {}  the drill had to kill the {left} itself", paint.verdict(false));
        }

        out.push_str("\nWhat this kernel gives:\n");
        for one in &self.guarantees {
            let (name, value) = (text(&one["name"]), text(&one["value"]));
            let _ = writeln!(out, "        {name:12}  {value:15} {}", paint.dim(meaning(name)));
            if let Some(why) = one["why"].as_str() {
                let _ = writeln!(out, "{:22}because {why}", "");
            }
        }
        let _ = writeln!(out, "\n{}", self.verdict(&paint));
        out
    }

    fn verdict(&self, paint: &Paint) -> String {
        if self.holds() {
            let slowest = self.rows.iter().filter_map(|row| row.gone_after).max().unwrap_or_default();
            return format!(
                "{}: what the owner had started was gone after {:.1} ms\n({} s of that is the grace between TERM and \
                 KILL), and nothing else was touched.",
                paint.good("The promise holds here"),
                slowest.as_secs_f64() * 1e3,
                GRACE.as_secs()
            );
        }
        let ports = self.watched.ports.iter().filter(|(_, free)| !free).count();
        let failed = self.rows.iter().filter(|row| !row.holds).count() + ports + self.leftovers.len();
        format!(
            "{}: {} not as promised, see FAIL above.\nPlease report it with the output of `hermes-spawn drill --json`.",
            paint.bad("The promise does NOT hold here"),
            if failed == 1 { "one line is".into() } else { format!("{failed} lines are") }
        )
    }
}

fn row(line: &'static Line, watched: &Watched) -> Row {
    let before = match line.before {
        Before::Stopped => "stopped".to_string(),
        _ => format!("{} running", line.roles.len()),
    };
    let running = line.roles.iter().filter(|role| watched.cast[**role].runs()).count();
    let gone_after = line.roles.iter().map(|role| watched.gone_after.get(*role).copied()).max().flatten();
    let (after, holds) = match line.fate {
        Fate::Gone if running == 0 => ("gone".to_string(), true),
        Fate::Gone => (format!("{running} still running"), false),
        Fate::Lives if running == line.roles.len() => (format!("{running} running"), true),
        Fate::Lives => (format!("only {running} running"), false),
    };
    Row { line, before, after, gone_after: gone_after.filter(|_| line.fate == Fate::Gone && holds), holds }
}

/// For readers who see these names for the first time.
fn meaning(guarantee: &str) -> &'static str {
    match guarantee {
        "lifeline" => "how the end of the owner is noticed",
        "group_signal" => "how a group is signalled and no stranger",
        "registration" => "who notes a new child, and when",
        "supervisor" => "where its program runs from",
        "escapees" => "how those that left their group are found",
        "reuse_proof" => "a recycled number is told from the child",
        _ => "",
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// Aligned columns, as wide as the widest of their cells.
struct Table([usize; 3]);

impl Table {
    fn around<'a>(rows: impl Iterator<Item = [&'a str; 3]>) -> Table {
        Table(rows.fold([0; 3], |widths, cells| std::array::from_fn(|i| widths[i].max(cells[i].len()))))
    }

    fn line(&self, [what, before, after]: [&str; 3], ms: &str) -> String {
        let [what_width, before_width, after_width] = self.0;
        let line = format!("{what:what_width$}  {before:before_width$}  {after:after_width$}  {ms:>7}");
        line.trim_end().to_string()
    }

    fn head(&self, out: &mut String, paint: &Paint, title: &str) {
        let _ = writeln!(out, "        {}", paint.dim(&self.line([title, "before", "after"], "ms")));
    }

    fn row(&self, out: &mut String, paint: &Paint, holds: bool, cells: [&str; 3], time: Option<Duration>) {
        let ms = time.map_or(String::new(), |time| format!("{:.1}", time.as_secs_f64() * 1e3));
        let _ = writeln!(out, "  {}  {}", paint.verdict(holds), self.line(cells, &ms));
    }
}

/// Colour, for terminals whose owner has not said no to it (no-color.org).
struct Paint(bool);

impl Paint {
    fn for_stdout() -> Paint {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint(wanted && !dumb && io::stdout().is_terminal())
    }

    fn with(&self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    fn good(&self, text: &str) -> String {
        self.with("1;32", text)
    }

    fn bad(&self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    fn verdict(&self, holds: bool) -> String {
        if holds { self.good("ok  ") } else { self.bad("FAIL") }
    }
}
