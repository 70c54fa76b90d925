//! `detached-spawn: ok - why`, in a comment of any language.

use super::code::Code;

#[derive(Debug, PartialEq, Eq)]
pub enum Marker {
    Good,
    NoReason,
    Misspelt,
}

const NAME: &str = "detached-spawn";

/// Every marker in the comments of a file, with its place. What is in a string is not one.
pub fn all(code: Code, mut each: impl FnMut(usize, Marker)) {
    code.walk(code.root, |node| {
        if !node.kind().ends_with("comment") {
            return true;
        }
        let mut at = node.start_byte();
        for line in code.of(node).split_inclusive('\n') {
            if let Some((offset, marker)) = in_line(line) {
                each(at + offset, marker);
            }
            at += line.len();
        }
        false
    });
}

/// The marker of one line of a comment. Quoted, it is only talked about.
fn in_line(line: &str) -> Option<(usize, Marker)> {
    let lower = line.to_ascii_lowercase();
    let begins = |at: usize| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || "#/*;!(-".contains(c))
    };
    let starts = lower.match_indices("det").map(|(at, _)| at).filter(|at| begins(*at));
    starts.into_iter().find_map(|at| Some((at, of(&line[at..])?)))
}

fn of(text: &str) -> Option<Marker> {
    if let Some(after) = text.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(':')) {
        let Some(after) = after.trim_start().strip_prefix("ok") else { return Some(Marker::Misspelt) };
        return Some(reason(after));
    }
    // Nearly the name, and `ok` behind it.
    let lower = text.to_ascii_lowercase();
    let ok = lower.match_indices("ok").map(|(at, _)| at).find(|at| {
        let word_begins = lower[..*at].ends_with([' ', ':', '\t']);
        word_begins && !lower[at + 2..].starts_with(|c: char| c.is_alphanumeric())
    })?;
    let letters: String = lower[..ok].chars().filter(char::is_ascii_alphabetic).collect();
    (distance(&letters, "detachedspawn") <= 2).then_some(Marker::Misspelt)
}

fn reason(after: &str) -> Marker {
    let said = after.trim_end().trim_end_matches("*/").trim_end_matches("-->");
    let words = |text: &str| text.chars().any(char::is_alphanumeric);
    match said.trim_start().strip_prefix(['-', '\u{2014}']) {
        Some(why) if words(why) => Marker::Good,
        Some(_) => Marker::NoReason,
        None if words(said) => Marker::Misspelt,
        None => Marker::NoReason,
    }
}

/// How many letters must be added, removed or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{Marker, in_line};

    #[test]
    fn a_marker_needs_its_name_its_ok_and_a_reason() {
        let of = |line| in_line(line).map(|(_, marker)| marker);
        for good in [
            "# detached-spawn: ok - it must outlive us",
            "// detached-spawn: ok \u{2014} why",
            "/* detached-spawn: ok - why */",
            "-- detached-spawn: ok - why",
            "# noqa: S603; detached-spawn: ok - why",
        ] {
            assert_eq!(of(good), Some(Marker::Good), "{good}");
        }
        for empty in [
            "# detached-spawn: ok",
            "// detached-spawn: ok - ",
            "/* detached-spawn: ok - */",
            "# detached-spawn: ok \u{2014}",
        ] {
            assert_eq!(of(empty), Some(Marker::NoReason), "{empty}");
        }
        for wrong in [
            "# detatched-spawn: ok - why",
            "# detached_spawn: ok - why",
            "# Detached-Spawn: ok - why",
            "# detached spawn: ok - why",
            "# detached-spawn ok - why",
            "# detached-spawn: OK - why",
            "# detached-spawn: okay - why",
            "# detached-spawn: yes - why",
            "# detached-spawn: ok why",
            "# detach-spawn: ok - why",
            "# detached-spwan: ok - why",
        ] {
            assert_eq!(of(wrong), Some(Marker::Misspelt), "{wrong}");
        }
        for prose in
            ["# the marker `detached-spawn: ok - why`", "# a detached child looks ok", "# details are ok", "# detached"]
        {
            assert_eq!(of(prose), None, "{prose}");
        }
    }
}
