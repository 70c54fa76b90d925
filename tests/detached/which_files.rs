//! Which files are looked at: production code, as git sees it; a file that is named is always one.

use crate::checker::Tree;

const START: &str = "import os\nos.setsid()\n";

fn paths(tree: &Tree, arguments: &[&str]) -> Vec<String> {
    let checked = tree.check(&[arguments, &["--format", "json"]].concat());
    checked.found().into_iter().map(|found| found.split(':').next().expect("a path").to_owned()).collect()
}

fn tree() -> Tree {
    let names = [
        "a.py",
        "tests/b.py",
        "src/test_c.py",
        "src/d_test.go",
        "vendor/e.py",
        "node_modules/x/f.py",
        "hidden/g.py",
        ".tool/h.py",
        "build/tests.py",
    ];
    let tree = Tree::of(&names.map(|name| (name, START)));
    tree.write(".gitignore", "hidden/\n");
    tree.write("src/d_test.go", "package d\n\nimport \"syscall\"\n\nfunc f() { syscall.Setsid() }\n");
    tree.write("src/app.test.ts", "import { spawn } from 'child_process';\nspawn('x', { detached: true });\n");
    tree.write("notes.txt", START);
    tree.write("src/lib.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() { unsafe { libc::setsid() }; }\n}\n");
    tree
}

#[test]
fn tests_vendored_and_ignored_files_are_left_out_unless_asked_for() {
    let tree = tree();
    assert_eq!(paths(&tree, &[]), [".tool/h.py", "a.py", "build/tests.py"]);
    assert_eq!(
        paths(&tree, &["--include-tests"]),
        [
            ".tool/h.py",
            "a.py",
            "build/tests.py",
            "src/app.test.ts",
            "src/d_test.go",
            "src/lib.rs",
            "src/test_c.py",
            "tests/b.py"
        ]
    );
    assert_eq!(
        paths(&tree, &["--include-vendored"]),
        [".tool/h.py", "a.py", "build/tests.py", "node_modules/x/f.py", "vendor/e.py"]
    );
    assert_eq!(paths(&tree, &["--include-ignored"]), [".tool/h.py", "a.py", "build/tests.py", "hidden/g.py"]);
}

#[test]
fn what_is_named_is_looked_at_once() {
    let tree = tree();
    assert_eq!(paths(&tree, &["tests", "vendor/e.py", "./tests/b.py"]), ["tests/b.py", "vendor/e.py"]);
    assert_eq!(paths(&tree, &["hidden/g.py"]), ["hidden/g.py"]);
}

#[test]
fn a_script_without_an_extension_is_known_by_its_first_line() {
    let tree = Tree::of(&[
        ("run", "#!/usr/bin/env -S python3 -u\nimport os\nos.setsid()\n"),
        ("go", "#!/bin/sh\nnohup x\n"),
        ("text", "nohup x\n"),
    ]);
    assert_eq!(paths(&tree, &[]), ["go", "run"]);
}

#[test]
fn a_link_is_not_followed_out_of_the_tree() {
    let (tree, other) = (Tree::of(&[("a.py", "x = 1\n")]), Tree::of(&[("b.py", START)]));
    std::os::unix::fs::symlink(other.path(), tree.path().join("link")).expect("a link");
    assert_eq!(paths(&tree, &[]), Vec::<String>::new());
}
