use crate::program::Family;
use crate::pty::Pty;
use crate::support::Scene;

#[test]
fn it_stops_when_it_reads_and_reads_after_fg() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut family = None;
    let mut pty = Pty::shell(|command| family = Some(Family::of(command)));
    let family = family.expect("configured");
    pty.type_in("$P run -- cat &\n");
    let cat = family.member("cat");
    cat.until_state('T');
    family.member("hermes-spawn").until_state('T');
    // The shell still has the terminal.
    pty.type_in("echo st''ill=here\n");
    pty.until("still=here");

    pty.type_in("fg\n");
    pty.type_in("typed\n");
    pty.until("typed\r\n");
    pty.until("typed\r\n");
    pty.type_in("\x03");
    pty.until("$> ");
    pty.type_in("echo co''de=$?\n");
    pty.until("code=130");
    assert!(cat.is_gone());
    control.assert_unharmed();
}

#[test]
fn one_that_does_not_read_runs_on_and_can_be_killed() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut family = None;
    let mut pty = Pty::shell(|command| family = Some(Family::of(command)));
    let family = family.expect("configured");
    pty.type_in("$P run -- sleep 1000 &\n");
    let sleep = family.member("sleep");
    pty.type_in("echo st''ill=here\n");
    pty.until("still=here");
    sleep.assert_alive("the background command");
    pty.type_in("kill %1; wait %1; echo co''de=$?\n");
    pty.until("code=143");
    assert!(sleep.is_gone());
    control.assert_unharmed();
}
