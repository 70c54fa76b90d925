use crate::program::{run_shell, shell, signal};
use crate::support::Scene;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Says what it gets; `wait` is interrupted by a trap at once. The exit tells that run waited for it.
const LISTENER: &str = "for s in INT TERM HUP QUIT WINCH USR1 USR2; do trap \"echo $s\" $s; done; \
    trap 'exit 9' CONT; echo ready; while :; do sleep 1000 & wait $!; done";

#[test]
fn each_signal_reaches_the_command() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut run = run_shell(LISTENER).stdout(Stdio::piped()).spawn().expect("start the program");
    let mut lines = BufReader::new(run.stdout.take().expect("piped")).lines();
    let mut line = || lines.next().expect("a line").expect("readable");
    assert_eq!(line(), "ready");
    for (number, name) in [
        (libc::SIGINT, "INT"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGHUP, "HUP"),
        (libc::SIGQUIT, "QUIT"),
        (libc::SIGWINCH, "WINCH"),
        (libc::SIGUSR1, "USR1"),
        (libc::SIGUSR2, "USR2"),
    ] {
        signal(&run, number);
        assert_eq!(line(), name);
    }
    signal(&run, libc::SIGCONT);
    assert_eq!(run.wait().expect("wait").code(), Some(9));
    control.assert_unharmed();
}

#[test]
fn the_whole_group_gets_it() {
    let scene = Scene::new();
    let mut control = scene.control();
    let script = "sh -c 'trap \"echo member; exit\" TERM; echo ready; sleep 1000 & wait $!' & trap '' TERM; wait";
    let mut run = run_shell(script).stdout(Stdio::piped()).spawn().expect("start the program");
    let mut lines = BufReader::new(run.stdout.take().expect("piped")).lines();
    assert_eq!(lines.next().expect("a line").expect("readable"), "ready");
    signal(&run, libc::SIGTERM);
    assert_eq!(lines.next().expect("a line").expect("readable"), "member");
    assert_eq!(run.wait().expect("wait").code(), Some(0));
    control.assert_unharmed();
}

#[test]
fn what_nohup_ignores_stays_ignored() {
    let scene = Scene::new();
    let mut control = scene.control();
    let script = "trap '' HUP; exec \"$0\" run -- sh -c \"trap 'exit 9' TERM; echo ready; sleep 1000 & wait\"";
    let mut run = shell(script).stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("start sh");
    let mut lines = BufReader::new(run.stdout.take().expect("piped")).lines();
    assert_eq!(lines.next().expect("a line").expect("readable"), "ready");
    signal(&run, libc::SIGHUP);
    signal(&run, libc::SIGTERM);
    assert_eq!(run.wait().expect("wait").code(), Some(9), "HUP ended it");
    control.assert_unharmed();
}
