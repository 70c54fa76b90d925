//! A child opens /dev/tty and reads: it gets an error, and the owner is never stopped by TTIN or TTOU.

use super::deaths::on_a_terminal;
use super::support::Scene;

#[test]
fn child_cannot_stop_the_owner_through_the_terminal() {
    let scene = Scene::new();
    let mut control = scene.control();
    let (mut owner, _terminal) = on_a_terminal(&scene);
    let own_terminal = std::fs::read_link(format!("/proc/{}/fd/0", owner.pid())).expect("its standard input");
    assert!(own_terminal.starts_with("/dev/pts"), "{own_terminal:?}");

    let child = owner.spawn_with("stdin=inherit", "tty-reader");
    let reader = scene.seat(&child, "tty-reader");

    assert_eq!(reader.detail["open_errno"], libc::ENXIO, "it has no terminal: {}", reader.detail);
    assert_eq!(reader.session, child.pid, "a session of its own");
    owner.must("status");
    assert_ne!(owner.process().stat().expect("it lives").state, 'T');
    owner.kill();
    control.assert_unharmed();
}
