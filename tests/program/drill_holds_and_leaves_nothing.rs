use crate::program::{Family, assert_empty, program, stderr};
use crate::support::Scene;
use crate::support::deadline::{SOON, eventually};
use serde_json::Value;

#[test]
fn as_a_table() {
    let scene = Scene::new();
    let mut control = scene.control();
    let output = program(&["drill"]).output().expect("start the program");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{table}{}", stderr(&output));
    assert!(table.contains("The promise holds here") && !table.contains("FAIL"), "{table}");
    assert!(table.is_ascii() && !table.contains('\x1b'), "colour, though it is no terminal: {table}");
    assert!(table.lines().filter(|line| line.starts_with("  ok")).all(|line| line.len() <= 80), "too wide: {table}");
    assert!(stderr(&output).lines().count() >= 4, "progress: {}", stderr(&output));
    control.assert_unharmed();
}

#[test]
fn as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = tempfile::tempdir().expect("a folder");
    let mut command = program(&["drill", "--json"]);
    command.env("TMPDIR", folder.path()).env("HERMES_HOME", home.path());
    let family = Family::of(&mut command);
    let output = command.output().expect("start the program");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(report["schema"], 1);
    assert_eq!(report["holds"], true);
    assert_eq!(report["left_over"].as_array().map(Vec::len), Some(0));
    assert_eq!(report["ports"].as_array().map(Vec::len), Some(2));
    for name in ["lifeline", "group_signal", "registration", "supervisor", "escapees", "reuse_proof"] {
        assert!(report["guarantees"][name]["value"].is_string(), "{name}: {report:#}");
    }
    let lines = report["lines"].as_array().expect("lines");
    let line = |key: &str| lines.iter().find(|line| line["key"] == key).unwrap_or_else(|| panic!("no line {key}"));
    let gone =
        ["wrapper_chain", "deaf_server", "leaderless_group", "setsid_escapee", "daemon", "stopped", "supervisor"];
    for key in gone {
        assert_eq!((&line(key)["expected"], &line(key)["after"]), (&"gone".into(), &"gone".into()), "{key}");
        assert!(line(key)["gone_after_ms"].is_number(), "{key}");
    }
    for key in ["forked_worker", "control"] {
        assert_eq!(line(key)["expected"], "lives", "{key}");
        assert!(line(key)["gone_after_ms"].is_null(), "{key}");
    }
    assert!(lines.iter().all(|line| line["holds"] == true), "{report:#}");
    let deaf_ms = line("deaf_server")["gone_after_ms"].as_f64().expect("a number");
    let grace_ms = report["grace_ms"].as_f64().expect("a number");
    assert!(deaf_ms >= grace_ms, "the deaf server had its grace: {deaf_ms} ms of {grace_ms}");

    eventually(SOON, "no process of the drill is left", || family.members().is_empty());
    assert_empty(folder.path());
    assert_empty(home.path());
}

#[test]
fn with_colour_on_a_terminal_unless_not_wanted() {
    let scene = Scene::new();
    let mut control = scene.control();
    for (no_color, coloured) in [("", true), ("1", false)] {
        let mut command = program(&["drill"]);
        command.env("NO_COLOR", no_color).env("TERM", "xterm");
        let mut pty = crate::pty::Pty::with(command);
        let shown = pty.until("nothing else was touched");
        assert_eq!(shown.contains("\x1b[1;32m"), coloured, "{shown}");
        assert!(shown.contains("\r\x1b[K"), "progress in place: {shown}");
        assert_eq!(pty.end().code(), Some(0));
    }
    control.assert_unharmed();
}
