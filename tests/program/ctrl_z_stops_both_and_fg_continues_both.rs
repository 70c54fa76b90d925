use crate::program::Family;
use crate::pty::Pty;
use crate::support::Process;
use crate::support::Scene;

/// `run -- cat` in the foreground of an interactive shell: who ends them all with the test,
/// its terminal, `cat` and `run`.
fn reader_in_a_shell() -> (Family, Pty, Process, Process) {
    let mut family = None;
    let mut pty = Pty::shell(|command| family = Some(Family::of(command)));
    let family = family.expect("configured");
    pty.type_in("$P run -- cat\n");
    let cat = family.member("cat");
    let run = family.member("hermes-spawn");
    (family, pty, cat, run)
}

/// `^Z`: both stand still, and the shell asks for the next command.
fn stop(pty: &mut Pty, cat: &Process, run: &Process) {
    pty.type_in("\x1a");
    pty.until("Stopped");
    pty.until("$> ");
    cat.until_state('T');
    run.until_state('T');
}

#[test]
fn from_an_interactive_shell() {
    let scene = Scene::new();
    let mut control = scene.control();
    let (_family, mut pty, cat, run) = reader_in_a_shell();
    pty.type_in("one\n");
    pty.until("one\r\none\r\n");

    stop(&mut pty, &cat, &run);

    // In the background it goes on until it reads, and then stops again.
    pty.type_in("bg\n");
    pty.until("$> ");
    cat.until_state('T');
    run.until_state('T');

    pty.type_in("fg\n");
    pty.type_in("two\n");
    pty.until("two\r\n");
    pty.until("two\r\n");
    pty.type_in("\x04");
    pty.until("$> ");
    pty.type_in("echo co''de=$?\n");
    pty.until("code=0");
    control.assert_unharmed();
}

/// As a shell's own job would: TERM waits until it goes on, and then ends it before it can ask for the terminal.
#[test]
fn a_stopped_reader_can_be_killed() {
    let scene = Scene::new();
    let mut control = scene.control();
    let (_family, mut pty, cat, run) = reader_in_a_shell();
    stop(&mut pty, &cat, &run);

    pty.type_in("kill %1; kill -CONT %1\n");

    let soon = crate::support::sys::after(std::time::Duration::from_secs(5));
    cat.assert_gone_by(soon, "the reader");
    run.assert_gone_by(soon, "run");
    pty.until("$> ");
    control.assert_unharmed();
}

/// Nobody above does job control: the stop would be for ever.
#[test]
fn where_nobody_could_say_fg_it_goes_on() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut pty = Pty::with(crate::program::program(&["run", "--", "cat"]));
    pty.type_in("one\n");
    pty.until("one\r\none\r\n");
    pty.type_in("\x1a");
    pty.type_in("two\n");
    pty.until("two\r\n");
    pty.until("two\r\n");
    pty.type_in("\x04");
    assert_eq!(pty.end().code(), Some(0));
    control.assert_unharmed();
}
