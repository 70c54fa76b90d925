//! A file that cannot be read or parsed is said, and the run does not end as if it had been looked at.

use crate::checker::Tree;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_cannot_be_parsed_is_reported_in_every_language() {
    for (name, text, line) in [
        ("a.py", "def broken(:\n    pass\n", 1),
        ("a.js", "const ok = 1;\nfunction ( {\n", 2),
        ("a.ts", "let x: = 1;\n", 1),
        ("a.tsx", "const x = <div>;\n", 1),
        ("a.rs", "fn ok() {}\nfn broken( {\n", 2),
        ("a.go", "package a\n\nfunc broken( {\n", 3),
        ("a.c", "int main(void) {\n    if (1) {\n", 1),
        ("a.h", "struct open {\n", 1),
        ("a.cpp", "class Open {\n  void f() {\n", 1),
        ("a.sh", "if true; then\n  echo x\n", 1),
    ] {
        let tree = Tree::of(&[(name, text)]);
        let checked = tree.check(&["--format", "json"]);
        let problems = checked.problems();
        assert_eq!((checked.code, problems.len()), (3, 1), "{name}: {}", checked.out);
        let problem = &problems[0];
        assert_eq!(problem["path"], name);
        assert!(problem["line"].as_u64().is_some_and(|at| at >= 1 && at <= line + 2), "{name}: {problem}");
        assert!(problem["what"].as_str().is_some_and(|what| what.starts_with("cannot be parsed as ")), "{problem}");
    }
}

/// No word that is looked for is in it, and it is still said.
#[test]
fn a_file_without_a_word_of_interest_is_parsed_too() {
    let tree = Tree::of(&[("a.py", "x = (\n"), ("b.py", "y = 1\n")]);
    let checked = tree.check(&[]);
    assert_eq!(checked.code, 3, "{}", checked.out);
    assert!(checked.out.contains("a.py:1:") && !checked.out.contains("b.py"), "{}", checked.out);
}

#[test]
fn findings_of_a_broken_file_are_said_as_well_and_3_wins() {
    let tree = Tree::of(&[("a.py", "import os\nos.setsid()\n\ndef broken(:\n    pass\n")]);
    let checked = tree.check(&["--format", "json"]);
    assert_eq!((checked.code, checked.found()), (3, vec!["a.py:2: new-session".to_owned()]), "{}", checked.out);
}

/// Before the preprocessor a macro may stand for anything: what hides nothing is passed over, what may hide is said.
#[test]
fn macros_of_c_are_no_broken_files() {
    let tree = Tree::of(&[
        (
            "a.c",
            "API_EXPORT int f(void) NOTHROW;\nTABLE_BEGIN\n  ENTRY(1, \"x\")\nTABLE_END\nint g(void) { return 1; }\n",
        ),
        ("b.c", "#define OPEN {\n#define CLOSE }\nint f(void) { return 0; }\n"),
        ("c.h", "#pragma once\nnamespace x { class Y { public: Y() = default; }; }\n"),
    ]);
    let checked = tree.check(&["--format", "json"]);
    assert_eq!(checked.code, 0, "{}", checked.out);
}

/// Each of these is taken by its compiler and, as it stands, by no grammar. A finding at its end shows that the place of
/// everything behind it stays.
#[test]
fn what_only_a_compiler_takes_is_looked_at() {
    for (name, text) in [
        ("joined.py", "import os\nx = (os.\n  path)\nos.setsid()\n"),
        (
            "reuse.rs",
            "fn f() -> Result<(), E> { try!(g()); let raw = 1; h(raw) }\nfn x() { unsafe { libc::setsid(); } }\n",
        ),
        ("safe.rs", "unsafe extern \"C\" {\n    pub safe fn g();\n}\nfn x() { unsafe { libc::setsid(); } }\n"),
        ("raw.rs", "fn f(y: u8) {\n    g(&raw const y);\n}\nfn x() { unsafe { libc::setsid(); } }\n"),
        ("tilde.rs", "m!(a ~ b ~);\nfn x() { unsafe { libc::setsid(); } }\n"),
        ("bound.rs", "fn f() where\n    (): Sized,\n{}\nfn x() { unsafe { libc::setsid(); } }\n"),
        (
            "argument.rs",
            "fn f(#[cfg(unix)] a: u8) { let S { #[cfg(unix)] b, .. } = s; }\nfn x() { unsafe { libc::setsid(); } }\n",
        ),
        ("export.ts", "export type * from './a';\nspawn('a', { detached: true });\n"),
        (
            "using.ts",
            "async function f() {\n  using a = g();\n  await using b = g();\n}\nspawn('a', { detached: true });\n",
        ),
        ("varies.ts", "interface A<in T, out U, in out V> { a: T }\nspawn('a', { detached: true });\n"),
        ("arrow.js", "const f = () => {\n}\n[1].map(f)\nspawn('a', { detached: true });\n"),
        ("negated.sh", "if ! A=$(b); then\n  setsid c\nfi\n"),
        ("slash.sh", "echo \"${a%$/}\"\nsetsid c\n"),
        (
            "object.h",
            "class A {\n public:\n  template <typename T> static auto f(T&& t) -> int { setsid(); return 1; }\n};\n",
        ),
        ("lone_return.c", "int f(void) {\r#if 1\r  setsid();\r#endif\r}\r"),
    ] {
        let tree = Tree::of(&[(name, text)]);
        let checked = tree.check(&["--format", "json"]);
        assert_eq!((checked.code, checked.found().len()), (1, 1), "{name}: {}{}", checked.out, checked.err);
        let lines = text.split(['\n', '\r']);
        let at =
            1 + lines.clone().position(|line| line.contains("setsid") || line.contains("detached")).expect("a start");
        assert!(checked.found()[0].starts_with(&format!("{name}:{at}: ")), "{name}: {}", checked.out);
    }
}

/// They say what is elsewhere, and start nothing.
#[test]
fn declarations_of_typescript_are_not_looked_at() {
    let broken = "export declare function spawn(a: string, o: { detached: true }): ( => void;\n";
    let tree = Tree::of(&[("a.d.ts", broken), ("b.d.mts", broken), ("c.d.cts", broken), ("ok.ts", "let x = 1;\n")]);
    assert_eq!(tree.check(&[]).code, 0);
}

#[test]
fn what_cannot_be_read_is_reported() {
    let tree = Tree::of(&[("ok.py", "x = 1\n")]);
    tree.write("binary.py", b"x = 1\0\n");
    let checked = tree.check(&["--format", "json", ".", "missing.py"]);
    let said: Vec<String> =
        checked.problems().iter().map(|problem| problem["path"].as_str().expect("a path").to_owned()).collect();
    assert_eq!((checked.code, said), (3, vec!["missing.py".to_owned(), "binary.py".to_owned()]), "{}", checked.out);

    // Root reads everything; a link to nothing is refused to everybody.
    tree.write("closed.py", "x = 1\n");
    fs::set_permissions(tree.path().join("closed.py"), fs::Permissions::from_mode(0o000)).expect("close it");
    std::os::unix::fs::symlink("nowhere", tree.path().join("link.py")).expect("a link");
    let checked = tree.check(&["link.py"]);
    assert_eq!(checked.code, 3, "{}", checked.out);
}

#[test]
fn other_encodings_are_read() {
    let tree = Tree::of(&[]);
    tree.write("latin.py", b"# caf\xe9\nimport os\nos.setsid()\n");
    tree.write("mark.py", "\u{feff}import os\nos.setsid()\n");
    let wide: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain("import os\nos.setsid()\n".bytes().flat_map(|byte| [byte, 0])).collect();
    tree.write("wide.py", wide);
    let checked = tree.check(&["--format", "json"]);
    assert_eq!(checked.found(), ["latin.py:3: new-session", "mark.py:2: new-session", "wide.py:2: new-session"]);
}

/// Trees can be deep, and names can be made of names.
#[test]
fn hostile_files_end() {
    let deep = format!("x = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
    let mut tangle = String::from("import subprocess\n");
    for index in 0..200 {
        tangle.push_str(&format!("a = b + a\nb = a + b + c{index}\nc{index} = a + b\n"));
    }
    tangle.push_str("subprocess.run(a, shell=True)\n");
    let calls = format!("import subprocess\nx = {}a{}\n", "subprocess.run(".repeat(2_000), ")".repeat(2_000));
    let tree = Tree::of(&[("deep.py", &deep), ("tangle.py", &tangle), ("calls.py", &calls)]);
    let began = std::time::Instant::now();
    let checked = tree.check(&["--format", "json"]);
    assert!(checked.code == 1 || checked.code == 3, "{}", checked.err);
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
