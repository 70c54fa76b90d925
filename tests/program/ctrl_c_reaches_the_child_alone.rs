use crate::program::{program, shell};
use crate::pty::Pty;
use crate::support::Scene;

#[test]
fn a_child_that_handles_it_decides_the_exit_code() {
    let scene = Scene::new();
    let mut control = scene.control();
    let script = "trap 'echo interr''upted; exit 5' INT; echo rea''dy; read line";
    let mut pty = Pty::with(program(&["run", "--", "sh", "-c", script]));
    pty.until("ready");
    pty.type_in("\x03");
    pty.until("interrupted");
    assert_eq!(pty.end().code(), Some(5));
    control.assert_unharmed();
}

#[test]
fn the_child_reads_what_is_typed() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut pty = Pty::with(program(&["run", "--", "sh", "-c", "echo rea''dy; read line; echo \"got=$line\"; exit 3"]));
    pty.until("ready");
    pty.type_in("hello\n");
    pty.until("got=hello");
    assert_eq!(pty.end().code(), Some(3));
    control.assert_unharmed();
}

/// Without run the shell would have got the ^C as well. The command waits in `read`: a shell that is interrupted just
/// before it forks lets the new child run on.
#[test]
fn a_loop_around_it_can_be_left() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut pty = Pty::with(shell("while :; do \"$0\" run -- sh -c \"echo rea''dy; read line\"; done"));
    pty.until("ready");
    pty.type_in("\x03");
    assert!(!pty.end().success());
    control.assert_unharmed();
}
