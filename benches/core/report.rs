//! The table, and the verdict.

use crate::figures;
use crate::limits::{Limit, Of, TOLERANCE, limit_of};
use crate::machine;

/// How a figure is written.
pub type Format = fn(f64) -> String;

struct Row {
    key: &'static str,
    what: String,
    ours: f64,
    peer: Option<f64>,
    format: Format,
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.peer.map(|peer| self.ours / peer)
    }

    fn judged(&self, limit: &Limit) -> Option<f64> {
        match limit.of {
            Of::Ratio => self.ratio(),
            Of::Ours => Some(self.ours),
        }
    }
}

pub struct Report {
    short: bool,
    rows: Vec<Row>,
}

impl Report {
    pub fn new(short: bool) -> Report {
        Report { short, rows: Vec::new() }
    }

    /// A time, with the peer's where there is one. `key` names the limit; a row without one is for information.
    pub fn time(&mut self, key: &'static str, what: impl Into<String>, ours: f64, peer: Option<f64>) {
        self.add(key, what, ours, peer, figures::time);
    }

    pub fn add(&mut self, key: &'static str, what: impl Into<String>, ours: f64, peer: Option<f64>, format: Format) {
        let row = Row { key, what: what.into(), ours, peer, format };
        eprintln!("  {}", cells(&row, self.short).join("  "));
        self.rows.push(row);
    }

    pub fn table(&self) -> String {
        let mut text = format!("{}\n\n", machine::describe(self.short));
        text.push_str("| what | ours | peer | ratio | limit |\n|---|---:|---:|---:|---:|\n");
        for row in &self.rows {
            text.push_str(&format!("| {} |\n", cells(row, self.short).join(" | ")));
        }
        text
    }

    /// Every limit that was missed by more than the tolerance, in a sentence.
    pub fn exceeded(&self) -> Vec<String> {
        let miss = |row: &Row| {
            let limit = judge(row.key, self.short)?;
            let value = row.judged(limit)?;
            (value > limit.most * TOLERANCE).then(|| {
                let (value, most) = (written(row, limit, value), written(row, limit, limit.most));
                format!("{} ({}): {value}, at most {most}", row.key, row.what)
            })
        };
        self.rows.iter().filter_map(miss).collect()
    }
}

/// The limit that this run is held to.
fn judge(key: &str, short: bool) -> Option<&'static Limit> {
    limit_of(key).filter(|limit| limit.in_short || !short)
}

fn written(row: &Row, limit: &Limit, value: f64) -> String {
    match limit.of {
        Of::Ratio => format!("{value:.2}"),
        Of::Ours => (row.format)(value),
    }
}

fn cells(row: &Row, short: bool) -> Vec<String> {
    let limit = match limit_of(row.key) {
        None => String::new(),
        Some(limit) if short && !limit.in_short => format!("({})", written(row, limit, limit.most)),
        Some(limit) => written(row, limit, limit.most),
    };
    vec![
        row.what.clone(),
        (row.format)(row.ours),
        row.peer.map(row.format).unwrap_or_default(),
        row.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        limit,
    ]
}
