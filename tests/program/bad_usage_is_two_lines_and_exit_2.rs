use crate::program::{assert_plain_error, output, program, stderr};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[test]
fn a_wrong_command_line_says_what_and_how() {
    for arguments in [
        &["no-such-command"][..],
        &["run"],
        &["run", "--"],
        &["run", "--famly", "x", "--", "true"],
        &["run", "--family"],
        &["run", "--", ""],
        &["drill", "more"],
        &["drill", "--jsn"],
        &["--no-such-option"],
    ] {
        let output = output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert_plain_error(&output);
        assert!(stderr(&output).contains("usage: hermes-spawn"), "{}", stderr(&output));
    }
}

#[test]
fn bytes_that_are_no_text_are_no_reason_to_panic() {
    let broken = OsStr::from_bytes(b"br\xffken");
    for place in [&[][..], &["run", "--family"], &["run", "--"], &["drill"]] {
        let output = program(place).arg(broken).output().expect("start the program");
        // The command alone may hold any bytes.
        let code = if place == ["run", "--"] { 127 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{place:?}: {}", stderr(&output));
        assert_plain_error(&output);
        assert!(stderr(&output).contains("br"), "{place:?}: the argument is named: {}", stderr(&output));
    }
    let output = program(&["run", "--family"]).arg(broken).args(["--", "true"]).output().expect("start the program");
    assert!(stderr(&output).contains(r#"the value of --family "br\xFFken" is not UTF-8"#), "{}", stderr(&output));
}

#[test]
fn nothing_at_all_shows_the_help() {
    let output = output(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("drill"), "{}", stderr(&output));
}

#[test]
fn the_version_is_the_packages() {
    let output = output(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), concat!("hermes-spawn ", env!("CARGO_PKG_VERSION"), "\n"));
}
