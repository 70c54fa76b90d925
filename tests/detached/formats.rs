//! The four formats, and the exit codes that go with them.

use crate::checker::{Tree, repository_root};
use serde_json::Value;
use std::fs;

fn tree() -> Tree {
    Tree::of(&[
        ("a b,c%.py", "import os\n\nos.setsid(); os.setpgrp()\n"),
        ("d\u{e4}.py", "import subprocess\nx = '\u{e4}\u{f6}'; subprocess.run(y, shell=True)\n"),
        ("e.py", "def (:\n"),
    ])
}

#[test]
fn text_is_place_rule_what_why_and_instead() {
    let checked = tree().check(&[]);
    let lines: Vec<&str> = checked.out.lines().collect();
    assert_eq!((checked.code, lines.len()), (3, 4), "{}", checked.out);
    assert!(lines[0].starts_with("a b,c%.py:3:1: new-session: os.setsid(); a session of its own "), "{}", lines[0]);
    assert!(lines[0].ends_with(
        "; start it with hermes-spawn's spawn_owned, or with its outliving start if it has to outlive its owner"
    ));
    assert!(lines[1].starts_with("a b,c%.py:3:14: process-group: "), "{}", lines[1]);
    // Columns count characters, not bytes.
    assert!(lines[2].starts_with("d\u{e4}.py:2:26: unknown-command: cannot tell: "), "{}", lines[2]);
    assert!(lines[3].starts_with("e.py:1:") && lines[3].contains("cannot be parsed as Python"), "{}", lines[3]);
}

#[test]
fn github_annotations_are_escaped() {
    let checked = tree().check(&["--format", "github"]);
    let lines: Vec<&str> = checked.out.lines().collect();
    assert!(
        lines[0]
            .starts_with("::error file=a b%2Cc%25.py,line=3,col=1,title=hermes-spawn%3A new-session::os.setsid(); "),
        "{}",
        lines[0]
    );
    assert!(lines[3].starts_with("::error file=e.py,line=1,col="), "{}", lines[3]);
}

#[test]
fn json_has_a_schema_and_everything() {
    let all = tree().check(&["--format", "json"]).json();
    assert_eq!((&all["schema"], &all["files"], &all["lines"]), (&1.into(), &3.into(), &6.into()), "{all}");
    assert_eq!(all["findings"][2]["certain"], false);
    for key in ["path", "line", "column", "rule", "certain", "what", "why", "instead"] {
        assert!(!all["findings"][0][key].is_null(), "{key}: {all}");
    }
}

#[test]
fn sarif_is_valid_by_the_schema_of_oasis() {
    let schema = repository_root().join("tests/detached/sarif-schema-2.1.0.json");
    let mut schemas = boon::Schemas::new();
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).expect("the schema")).expect("JSON");
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("sarif.json", schema).expect("add the schema");
    let index = compiler.compile("sarif.json", &mut schemas).expect("compile the schema");
    let validate = |report: &Value| schemas.validate(report, index).map_err(|error| error.to_string());

    let tree = tree();
    let (full, empty) = (tree.check(&["--format", "sarif"]).json(), Tree::of(&[]).check(&["--format", "sarif"]).json());
    assert_eq!((validate(&full), validate(&empty)), (Ok(()), Ok(())));
    // The judge must be able to say no.
    let mut wrong = full.clone();
    wrong["runs"][0]["results"][0]["level"] = "terrible".into();
    assert!(validate(&wrong).is_err());

    let run = &full["runs"][0];
    let location = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b%2Cc%25.py");
    assert_eq!((&location["region"]["startLine"], &location["region"]["startColumn"]), (&3.into(), &1.into()));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let (id, index) = (&run["results"][0]["ruleId"], run["results"][0]["ruleIndex"].as_u64().expect("an index"));
    assert_eq!(&run["tool"]["driver"]["rules"][index as usize]["id"], id);
}

#[test]
fn exit_codes() {
    assert_eq!(Tree::of(&[("a.py", "x = 1\n")]).check(&[]).code, 0);
    assert_eq!(Tree::of(&[("a.py", "import os\nos.setsid()\n")]).check(&[]).code, 1);
    let tree = Tree::of(&[]);
    for wrong in [["--format", "xml"].as_slice(), &["--diff"], &["--no-such-option"]] {
        let checked = tree.check(wrong);
        assert_eq!(checked.code, 2, "{wrong:?}: {}", checked.err);
    }
    assert_eq!(tree.check(&["missing"]).code, 3);
}

#[test]
fn the_rules_and_what_they_miss_are_listed() {
    let checked = Tree::of(&[("a.py", "import os\nos.setsid()\n")]).check(&["--list-rules"]);
    assert_eq!(checked.code, 0, "{}", checked.out);
    for said in ["new-session\n", "detached-option\n", "marker-misspelt\n", "\nNot found:\n- "] {
        assert!(checked.out.contains(said), "{said}: {}", checked.out);
    }
}
