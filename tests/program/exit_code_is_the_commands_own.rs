use crate::program::{assert_plain_error, output, run_shell, shell, stderr};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[track_caller]
fn assert_code(script: &str, code: i32) {
    let output = run_shell(script).output().expect("start the program");
    assert_eq!(output.status.code(), Some(code), "{script}: {}", stderr(&output));
    assert_eq!(stderr(&output), "", "{script}");
}

#[test]
fn an_exit_code_is_passed_through() {
    for code in [0, 1, 2, 7, 126, 127, 255] {
        assert_code(&format!("exit {code}"), code);
    }
}

#[test]
fn a_signal_is_128_and_its_number() {
    for (name, number) in [("HUP", 1), ("INT", 2), ("KILL", 9), ("TERM", 15)] {
        assert_code(&format!("kill -{name} $$"), 128 + number);
    }
}

/// Whoever ignores SIGCHLD hands that down, and with it the loss of every exit status.
#[test]
fn also_where_the_caller_ignores_sigchld() {
    let script = "trap '' CHLD; exec \"$0\" run -- sh -c 'exit 6'";
    let status = shell(script).status().expect("sh");
    assert_eq!(status.code(), Some(6));
}

#[test]
fn what_is_not_found_is_127_and_what_cannot_be_executed_is_126() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("plain");
    fs::write(&plain, "#!/bin/sh\n").expect("a file");
    let orphan = folder.path().join("orphan");
    fs::write(&orphan, "#!/no/such/interpreter\n").expect("a script");
    fs::set_permissions(&orphan, fs::Permissions::from_mode(0o755)).expect("chmod");

    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_string();
    let nowhere = text(&folder.path().join("nowhere"));
    for (command, code) in [
        (nowhere.as_str(), 127),
        ("no-such-program-anywhere", 127),
        (&text(&orphan), 127),
        (&text(&plain), 126),
        (&text(folder.path()), 126),
    ] {
        let output = output(&["run", "--", command]);
        assert_eq!(output.status.code(), Some(code), "{command}: {}", stderr(&output));
        assert_plain_error(&output);
        assert!(stderr(&output).contains(command), "the error names the program: {}", stderr(&output));
    }
}

#[test]
fn output_and_input_are_the_commands() {
    let output = run_shell("echo out; echo err >&2; wc -c").output().expect("start the program");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "out\n0\n");
    assert_eq!(stderr(&output), "err\n");
}
