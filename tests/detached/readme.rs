//! What the README shows is run as it stands there: the hook, the step in CI, the script that other projects have.

use crate::checker::{Tree, git_command};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

const DETACHED: &str = "import subprocess\nsubprocess.Popen(['server'], start_new_session=True)\n";
const OWNED: &str = "import subprocess\nsubprocess.run(['server'])\n";

/// The block of code that follows this text.
#[track_caller]
fn block(after: &str) -> String {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README.md");
    let (_, rest) = readme.split_once(after).unwrap_or_else(|| panic!("README.md does not say {after:?}"));
    let (_, block) = rest.split_once("\n```").expect("a block");
    let (_, block) = block.split_once('\n').expect("its first line");
    block.split_once("\n```").expect("its end").0.to_owned() + "\n"
}

/// As `cargo install` would have it.
fn path_with_the_program() -> OsString {
    let folder = Path::new(env!("CARGO_BIN_EXE_hermes-spawn")).parent().expect("a folder").to_owned();
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(folder).chain(env::split_paths(&rest))).expect("a PATH")
}

fn write_program(tree: &Tree, name: &str, text: &str) {
    tree.write(name, text);
    fs::set_permissions(tree.path().join(name), fs::Permissions::from_mode(0o755)).expect("make it executable");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_hook_refuses_a_commit_and_lets_the_next_one_pass() {
    let tree = Tree::of(&[("a.py", DETACHED)]);
    tree.git(&["init", "-q"]);
    write_program(&tree, ".git/hooks/pre-commit", &block("As a pre-commit hook"));
    tree.git(&["add", "a.py"]);
    let commit = || {
        git_command(tree.path())
            .env("PATH", path_with_the_program())
            .args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"])
            .args(["commit", "-q", "-a", "-m", "x"])
            .output()
            .expect("start git")
    };
    let refused = commit();
    assert!(!refused.status.success() && said(&refused).contains("a.py:2:"), "{}", said(&refused));
    tree.write("a.py", OWNED);
    let taken = commit();
    assert!(taken.status.success(), "{}", said(&taken));
}

#[test]
fn the_step_in_ci_annotates_and_fails() {
    let step = block("As a step in CI");
    let line = step.trim().strip_prefix("- run: ").expect("a step that runs a command");
    let run = |text| {
        let tree = Tree::of(&[("a.py", text)]);
        Command::new("sh")
            .args(["-c", line])
            .current_dir(tree.path())
            .env("PATH", path_with_the_program())
            .output()
            .expect("start sh")
    };
    let failed = run(DETACHED);
    assert_eq!(failed.status.code(), Some(1));
    assert!(said(&failed).starts_with("::error file=a.py,line=2,"), "{}", said(&failed));
    assert_eq!(run(OWNED).status.code(), Some(0));
}

#[test]
fn the_script_stands_in_for_a_projects_own() {
    if Command::new("python3").arg("--version").output().is_err() {
        crate::skip!("python3 is not installed");
    }
    let tree = Tree::of(&[("a.py", DETACHED), ("b.py", OWNED)]);
    let name = "scripts/check_detached_spawns.py";
    write_program(&tree, name, &block(name));
    let run = |arguments: &[&str]| {
        Command::new(tree.path().join(name))
            .args(arguments)
            .current_dir(tree.path())
            .env("PATH", path_with_the_program())
            .output()
            .expect("start the script")
    };
    // It is looked at itself, and clean.
    let all = run(&[]);
    assert!(all.status.code() == Some(1) && !said(&all).contains(name), "{}", said(&all));
    assert_eq!(run(&["b.py"]).status.code(), Some(0));
}

#[test]
fn the_marker_it_shows_covers_the_call_below_it() {
    let tree = Tree::of(&[("a.py", &format!("import subprocess\n{}", block("says why, on its line")))]);
    assert_eq!(tree.check(&[]).code, 0);
}
