//! Ctrl-C on a terminal whose foreground is the owner: children and supervisor get no SIGINT.

use super::deaths::{SOON_GONE, on_a_terminal};
use super::support::scene::actor_program;
use super::support::{Scene, sys};
use std::fs::File;
use std::io::Write;

#[test]
fn ctrl_c_stays_with_the_owner() {
    let scene = Scene::new();
    let mut control = scene.control();
    let (mut owner, terminal) = on_a_terminal(&scene, scene.dressed(actor_program()));
    let child = owner.spawn("canary");
    let canary = scene.seat(&child, "canary");
    let supervisor = owner.supervisor();
    // A copy of the owner in its group, with the default disposition: its end shows that Ctrl-C was delivered.
    owner.must("fork-worker bystander");
    let bystander = scene.seat("bystander", "worker");
    owner.must(&format!("ignore {}", libc::SIGINT));

    File::from(terminal.try_clone().expect("dup")).write_all(b"\x03").expect("type Ctrl-C");

    bystander.process.assert_gone_by(sys::after(SOON_GONE), "the one that Ctrl-C is for");
    canary.process.assert_untouched("the child");
    supervisor.assert_untouched("the supervisor");
    owner.must(&format!("signal {} {}", child.pid, libc::SIGCONT));
    owner.kill();
    control.assert_unharmed();
}
