use crate::program::Family;
use crate::pty::Pty;
use crate::support::Scene;

#[test]
fn ctrl_c_ends_all_parts() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut family = None;
    let mut pty = Pty::shell(|command| family = Some(Family::of(command)));
    let family = family.expect("configured");
    pty.type_in("$P run -- sh -c 'echo rea''dy; exec sleep 1000' | cat\n");
    pty.until("ready");
    let sleep = family.member("sleep");
    pty.type_in("\x03");
    pty.until("$> ");
    pty.type_in("echo ba''ck\n");
    pty.until("back");
    assert!(sleep.gone_by(crate::support::sys::after(crate::support::deadline::SOON)));
    control.assert_unharmed();
}

/// `run -- make | less`: the other part owns the keyboard.
#[test]
fn another_part_can_read_the_terminal() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut pty = Pty::shell(|_| {});
    pty.type_in("$P run -- sleep 1000 | sh -c 'read line </dev/tty; echo \"got=$line\"'\n");
    pty.type_in("hello\n");
    pty.until("got=hello");
    pty.type_in("\x03");
    pty.until("$> ");
    control.assert_unharmed();
}

/// The child gets the terminal when it asks for it.
#[test]
fn the_child_can_read_the_terminal_too() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut pty = Pty::shell(|_| {});
    pty.type_in("$P run -- sh -c 'read line; echo \"got=$line\"' | cat\n");
    pty.type_in("hello\n");
    pty.until("got=hello");
    pty.until("$> ");
    control.assert_unharmed();
}
