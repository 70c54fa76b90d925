//! `--diff REV`: what is new in the working tree since that commit, and nothing else.

use crate::checker::{Tree, check_in, git_command};
use std::fs;

const OLD: &str = "import os\nimport subprocess\n\nos.setsid()\n";

#[test]
fn only_added_lines_count() {
    let tree = Tree::repository(&[("a.py", OLD), ("b.py", OLD)]);
    assert_eq!(tree.check(&[]).code, 1);
    assert_eq!(tree.check(&["--diff", "HEAD"]).code, 0);
    tree.write("a.py", format!("{OLD}x = 1\nos.setpgrp()\n"));
    assert_eq!(tree.check(&["--diff", "HEAD", "--format", "json"]).found(), ["a.py:6: process-group"]);
    // Staged and committed changes are new, too.
    tree.git(&["add", "-A"]);
    assert_eq!(tree.check(&["--diff", "HEAD", "--format", "json"]).found(), ["a.py:6: process-group"]);
    tree.commit();
    assert_eq!(tree.check(&["--diff", "HEAD~1", "--format", "json"]).found(), ["a.py:6: process-group"]);
    assert_eq!(tree.check(&["--diff", "HEAD"]).code, 0);
    // A line that is taken away is no new one.
    tree.write("b.py", "import os\nos.setsid()\n");
    assert_eq!(tree.check(&["--diff", "HEAD"]).code, 0);
}

#[test]
fn a_line_of_an_old_call_makes_it_new() {
    let call = "import subprocess\nsubprocess.Popen(\n    ['x'],\n    start_new_session=False,\n)\n";
    let tree = Tree::repository(&[("a.py", call)]);
    tree.write("a.py", call.replace("False", "True"));
    assert_eq!(tree.check(&["--diff", "HEAD", "--format", "json"]).found(), ["a.py:4: new-session"]);
    // An unrelated line of a call that was there is not.
    tree.commit();
    tree.write("a.py", call.replace("False", "True").replace("['x']", "['y']"));
    assert_eq!(tree.check(&["--diff", "HEAD"]).code, 0);
}

#[test]
fn untracked_files_are_new_and_renamed_ones_are_not() {
    let long = format!("{OLD}{}", "x = 1\n".repeat(50));
    let tree = Tree::repository(&[("old.py", &long), (".gitignore", "ignored.py\n")]);
    tree.git(&["mv", "old.py", "moved.py"]);
    assert_eq!(tree.check(&["--diff", "HEAD"]).code, 0);
    tree.write("moved.py", format!("{long}os.setpgrp()\n"));
    tree.write("new \u{e4} file.py", OLD);
    tree.write("ignored.py", OLD);
    tree.write("sub/staged.py", OLD);
    tree.git(&["add", "sub/staged.py"]);
    let found = tree.check(&["--diff", "HEAD", "--format", "json"]).found();
    assert_eq!(
        found,
        ["moved.py:55: process-group", "new \u{e4} file.py:4: new-session", "sub/staged.py:4: new-session"]
    );
    // From a folder below, names are relative to it.
    let found = check_in(&tree.path().join("sub"), &["--diff", "HEAD", "--format", "json"]).found();
    assert_eq!(found, ["staged.py:4: new-session"]);
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let tree = Tree::of(&[("staged.py", OLD), ("other.py", OLD)]);
    tree.git(&["init", "-q"]);
    tree.git(&["add", "staged.py"]);
    let found = tree.check(&["--diff", "HEAD", "--format", "json"]).found();
    assert_eq!(found, ["other.py:4: new-session", "staged.py:4: new-session"]);
    assert_eq!(tree.check(&["--diff", "HEAD~1"]).code, 2);
}

#[test]
fn a_broken_file_counts_if_it_is_new() {
    let tree = Tree::repository(&[("old.py", "def (:\n"), ("a.py", "x = 1\n")]);
    assert_eq!(tree.check(&["--diff", "HEAD"]).code, 0);
    tree.write("new.py", "def (:\n");
    let checked = tree.check(&["--diff", "HEAD"]);
    assert!(checked.code == 3 && checked.out.contains("new.py") && !checked.out.contains("old.py"), "{}", checked.out);
}

#[test]
fn the_users_settings_of_git_change_nothing() {
    let tree = Tree::repository(&[("a.py", OLD)]);
    for setting in [
        "diff.noprefix true",
        "diff.mnemonicPrefix true",
        "diff.external false",
        "color.ui always",
        "diff.renames false",
        "core.quotePath false",
    ] {
        let (name, value) = setting.split_once(' ').expect("two words");
        tree.git(&["config", name, value]);
    }
    tree.write("a.py", format!("{OLD}os.setpgrp()\n"));
    assert_eq!(tree.check(&["--diff", "HEAD", "--format", "json"]).found(), ["a.py:5: process-group"]);
}

#[test]
fn a_commit_that_is_none_is_a_usage_error_with_a_way_out() {
    let tree = Tree::repository(&[("a.py", OLD)]);
    for rev in ["no-such-branch", "HEAD..HEAD", "HEAD:a.py"] {
        let checked = tree.check(&["--diff", rev]);
        assert_eq!((checked.code, checked.err.lines().count()), (2, 2), "{}", checked.err);
        assert!(checked.err.contains(rev) && checked.out.is_empty(), "{}{}", checked.err, checked.out);
    }
    let option = tree.check(&["--diff=--output=x"]);
    assert_eq!(option.code, 2, "{}", option.err);
    assert!(!tree.path().join("x").exists());
}

#[test]
fn a_shallow_clone_says_that_it_is_one() {
    let tree = Tree::repository(&[("a.py", OLD)]);
    tree.commit();
    let place = Tree::of(&[]);
    let from = format!("file://{}", tree.path().display());
    let cloned =
        git_command(place.path()).args(["clone", "-q", "--depth=1", &from, "clone"]).output().expect("start git");
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    let checked = check_in(&place.path().join("clone"), &["--diff", "HEAD~1"]);
    assert_eq!(checked.code, 2, "{}", checked.err);
    assert!(checked.err.contains("shallow") && checked.err.contains("fetch-depth"), "{}", checked.err);
}

#[test]
fn outside_of_a_repository_it_is_refused_and_each_path_has_its_own() {
    let (one, other, none) =
        (Tree::repository(&[("a.py", OLD)]), Tree::repository(&[("b.py", OLD)]), Tree::of(&[("c.py", OLD)]));
    other.write("b.py", format!("{OLD}os.setpgrp()\n"));
    let (there, nowhere) = (other.path().to_str().expect("UTF-8"), none.path().to_str().expect("UTF-8"));
    let found = one.check(&[".", there, "--diff", "HEAD", "--format", "json"]).found();
    assert_eq!(found, [format!("{there}/b.py:5: process-group")]);
    let refused = one.check(&[nowhere, "--diff", "HEAD"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("in no git repository"), "{}", refused.err);
}

#[test]
fn a_file_that_is_gone_is_no_problem() {
    let tree = Tree::repository(&[("a.py", OLD), ("b.py", OLD)]);
    fs::remove_file(tree.path().join("a.py")).expect("remove");
    assert_eq!(tree.check(&["--diff", "HEAD"]).code, 0);
}
