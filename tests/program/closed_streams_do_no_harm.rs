use crate::program::{program, shell, stderr};
use std::fs::File;

fn with_streams(redirections: &str, arguments: &str) -> Option<i32> {
    let script = format!("exec \"$0\" {arguments} {redirections}");
    shell(&script).status().expect("sh").code()
}

#[test]
fn run_works_without_any_of_the_three() {
    for redirections in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        assert_eq!(with_streams(redirections, "run -- sh -c 'exit 5'"), Some(5), "{redirections}");
        assert_eq!(with_streams(redirections, "run -- no-such-program-anywhere"), Some(127), "{redirections}");
        assert_eq!(with_streams(redirections, "--version"), Some(0), "{redirections}");
    }
}

#[test]
fn drill_tells_by_its_exit_code_when_nobody_reads() {
    assert_eq!(with_streams(">&- 2>&-", "drill"), Some(0));
    let script = "{ \"$0\" drill 2>/dev/null; echo code=$? >&2; } | true";
    let output = shell(script).output().expect("sh");
    assert_eq!(stderr(&output), "code=0\n");
}

#[test]
fn drill_says_when_its_result_could_not_be_written() {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = program(&["drill"]).stdout(full).output().expect("start the program");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("write the result to stdout"), "{}", stderr(&output));
}

#[test]
fn full_streams_are_no_reason_to_panic() {
    for (arguments, code) in [
        ("run -- sh -c 'exit 5'", 5),
        ("run -- no-such-program-anywhere", 127),
        ("run", 2),
        ("--help", 0),
        ("--version", 0),
        ("drill --jsn", 2),
    ] {
        assert_eq!(with_streams(">/dev/full 2>/dev/full", arguments), Some(code), "{arguments}");
        let script = format!("exec \"$0\" {arguments} >/dev/full");
        let said = stderr(&shell(&script).output().expect("sh"));
        assert!(!said.contains("panicked") && !said.contains("backtrace"), "{arguments}: {said}");
    }
    assert_eq!(with_streams(">/dev/full 2>/dev/full", "drill"), Some(3));
}

#[test]
fn drill_needs_no_folder() {
    let output = program(&["drill"]).env("TMPDIR", "/no/such/folder").output().expect("start the program");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
