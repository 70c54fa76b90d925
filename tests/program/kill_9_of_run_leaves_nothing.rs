use crate::program::{Family, run_shell, signal};
use crate::support::Scene;
use crate::support::deadline::{SOON, eventually};
use crate::support::process::supervisor_of;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// Beside it runs another one, which must not notice.
#[track_caller]
fn assert_nothing_left(script: &str) {
    let mut command = run_shell("echo ready; exec sleep 1000");
    let control_family = Family::of(&mut command);
    let mut control = command.stdout(Stdio::piped()).spawn().expect("start the program");
    let mut ready = [0; 6];
    control.stdout.take().expect("piped").read_exact(&mut ready).expect("readable");

    let mut command = run_shell(script);
    let family = Family::of(&mut command);
    let mut run = command.stdout(Stdio::piped()).spawn().expect("start the program");
    let mut lines = BufReader::new(run.stdout.take().expect("piped")).lines();
    assert_eq!(lines.next().expect("a line").expect("readable"), "ready");
    assert!(family.members().len() >= 3, "the command has started what it should");
    let supervisor = supervisor_of(run.id() as i32).expect("a supervisor");

    signal(&run, libc::SIGKILL);
    run.wait().expect("wait");
    eventually(SOON, "everything that was started is gone", || family.members().is_empty());
    supervisor.assert_gone_by(crate::support::sys::after(SOON), "the supervisor");

    control_family.member("sleep").assert_alive("the other command");
    signal(&control, libc::SIGTERM);
    assert_eq!(control.wait().expect("wait").code(), Some(143));
}

#[test]
fn of_a_command_with_children() {
    assert_nothing_left("sleep 1000 & sleep 1001 & echo ready; wait");
}

#[test]
fn of_a_command_that_ignores_term() {
    assert_nothing_left("trap '' TERM; sleep 1000 & echo ready; wait");
}

#[test]
fn of_what_left_the_session() {
    assert_nothing_left("setsid sh -c 'echo ready; sleep 1000 & wait' & wait");
}

#[test]
fn what_the_command_left_running_goes_when_run_ends() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut command = run_shell("sleep 1000 & exit 4");
    let family = Family::of(&mut command);
    assert_eq!(command.status().expect("start the program").code(), Some(4));
    eventually(SOON, "what the command left running is gone", || family.members().is_empty());
    control.assert_unharmed();
}
