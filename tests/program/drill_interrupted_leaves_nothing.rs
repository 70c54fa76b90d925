use crate::program::{Family, assert_empty, program, signal};
use crate::support::Scene;
use crate::support::deadline::{SOON, eventually};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// Starts a drill and signals it when it says this; returns its exit code, when nothing of it is left.
fn interrupted(when: &str, with: i32) -> Option<i32> {
    let scene = Scene::new();
    let mut control = scene.control();
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(&["drill"]);
    command.env("TMPDIR", folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let family = Family::of(&mut command);
    let mut drill = command.spawn().expect("start the program");
    let mut stderr = BufReader::new(drill.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains(when) {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).expect("readable"), 0, "never said: {when}");
    }
    signal(&drill, with);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("readable");
    let status = drill.wait().expect("wait");
    assert!(!rest.contains("panicked"), "{rest}");
    if with == libc::SIGKILL {
        eventually(SOON, "no process of the drill is left", || family.members().is_empty());
    } else {
        assert!(family.members().is_empty(), "a process of the drill is left: {:?}", family.members());
        assert_empty(folder.path());
    }
    control.assert_unharmed();
    status.code()
}

#[test]
fn while_it_starts() {
    assert_eq!(interrupted("starting an owner", libc::SIGTERM), Some(143));
}

#[test]
fn after_the_kill() {
    assert_eq!(interrupted("kill -9", libc::SIGINT), Some(130));
}

#[test]
fn by_kill_9() {
    assert_eq!(interrupted("18 of 18", libc::SIGKILL), None);
}
