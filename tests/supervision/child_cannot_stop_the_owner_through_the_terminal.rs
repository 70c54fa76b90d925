//! A child opens /dev/tty and reads: it gets an error, and the owner is never stopped by TTIN or TTOU.

use super::deaths::{Death, SOON_GONE, for_each_of};
use super::support::Scene;
use super::support::scene::actor_program;

#[test]
fn child_cannot_stop_the_owner_through_the_terminal() {
    let cast = |scene: &Scene, death: Death| death.owner_on_a_terminal(scene, scene.dressed(actor_program()));
    for_each_of(&Death::ALL, cast, |scene, mut doomed| {
        let own_terminal = std::fs::read_link(format!("/proc/{}/fd/0", doomed.owner.pid())).expect("its input");
        assert!(own_terminal.starts_with("/dev/pts"), "{own_terminal:?}");

        let child = doomed.owner.spawn_with("stdin=inherit", "tty-reader");
        let reader = scene.seat(&child, "tty-reader");

        assert_eq!(reader.detail["open_errno"], libc::ENXIO, "it has no terminal: {}", reader.detail);
        assert_eq!(reader.session, child.pid, "a session of its own");
        doomed.owner.must("status");
        assert_ne!(doomed.owner.process().stat().expect("it lives").state, 'T');

        let moment = doomed.die();

        reader.process.assert_gone_by(moment + SOON_GONE, "the reader, which no signal of the terminal reaches");
    });
}
