//! Every line of the corpus that says `finds: RULE` has that finding (`RULE?`: one that is in doubt), and no other line
//! has any.

use crate::checker::{check_in, repository_root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

type Lines = BTreeMap<(String, u64), Vec<String>>;

fn corpus() -> PathBuf {
    repository_root().join("tests/detached/corpus")
}

/// What the files say of themselves.
fn wanted(folder: &Path) -> Lines {
    let mut lines = Lines::new();
    for entry in fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            lines.extend(wanted(&path));
            continue;
        }
        let name = path.strip_prefix(corpus()).expect("in the corpus").display().to_string();
        for (index, line) in fs::read_to_string(&path).expect("text").lines().enumerate() {
            let number = index as u64 + 1;
            let (above, rest) = match (line.split_once("finds: "), line.split_once("finds-above: ")) {
                (Some((_, rest)), _) => (0, rest),
                (_, Some((_, rest))) => (1, rest),
                _ => continue,
            };
            let end = rest.find(|c: char| !(c.is_ascii_alphabetic() || "-?, ".contains(c))).unwrap_or(rest.len());
            let rules = rest[..end].split(',').map(|rule| rule.trim().to_owned());
            lines.entry((name.clone(), number - above)).or_default().extend(rules);
        }
    }
    lines.values_mut().for_each(|rules| rules.sort());
    lines
}

fn found() -> Lines {
    let mut lines = Lines::new();
    let checked = check_in(&corpus(), &["--format", "json", "."]);
    assert_eq!((checked.code, checked.problems()), (1, Vec::<Value>::new()), "{}", checked.err);
    for finding in checked.json()["findings"].as_array().expect("findings") {
        let text = |key: &str| finding[key].as_str().expect("text").to_owned();
        let doubt = if finding["certain"] == true { "" } else { "?" };
        let place = (text("path"), finding["line"].as_u64().expect("a line"));
        lines.entry(place).or_default().push(text("rule") + doubt);
    }
    lines.values_mut().for_each(|rules| rules.sort());
    lines
}

#[test]
fn all_that_must_be_found_is_and_nothing_else() {
    let (wanted, found) = (wanted(&corpus()), found());
    let missed: Vec<_> = wanted.iter().filter(|(place, rules)| found.get(place) != Some(rules)).collect();
    let too_many: Vec<_> = found.iter().filter(|(place, rules)| wanted.get(place) != Some(rules)).collect();
    assert!(missed.is_empty() && too_many.is_empty(), "wanted: {missed:#?}\nfound: {too_many:#?}");
    assert!(wanted.len() > 200, "{}", wanted.len());
}

/// A rule that no line of the corpus shows is a rule that nobody has seen work.
#[test]
fn every_rule_is_shown() {
    let rules = check_in(&corpus(), &["--list-rules", "--format", "json"]).json();
    let shown: Vec<String> =
        wanted(&corpus()).into_values().flatten().map(|rule| rule.trim_end_matches('?').to_owned()).collect();
    for rule in rules["rules"].as_array().expect("rules") {
        let id = rule["rule"].as_str().expect("a name");
        assert!(shown.iter().any(|shown| shown == id), "no line of the corpus finds {id}");
    }
}
