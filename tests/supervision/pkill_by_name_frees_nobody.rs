//! `pkill -9 -f hermes` with an owner of that name and its supervisor running: the children die, and nothing that is
//! named otherwise is hit. In a private pid namespace, where nobody else can be met.

use super::deaths::{GRACE, SOON_GONE};
use super::support::pidns::{Init, outside};
use super::support::{Scene, is_root};
use crate::{skip, test_name};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;

#[test]
fn pkill_by_name_frees_nobody() {
    if !is_root() {
        skip!("a pid namespace of one's own needs root");
    }
    if outside(test_name!(), Init::Reaps) {
        return;
    }
    if !Command::new("pkill").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        skip!("no pkill");
    }
    let scene = Scene::new();
    // The program's own path may have the name in it.
    let program = scene.private_actor(0o755);
    let mut bystander = scene.owner_from(scene.actor_from(&program), Default::default());
    let other = bystander.spawn("canary");
    let other = scene.seat(&other, "canary");
    let mut command = scene.actor_from(&program);
    command.arg0("hermes-gateway");
    let mut owner = scene.owner_from(command, Default::default());
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let started = owner.spawn("with stubborn server");
    let (leader, server) = (scene.seat(&started, "with"), scene.seat(&started, "server"));
    let (supervisor, its_supervisor) = (owner.supervisor(), bystander.supervisor());

    let moment = Instant::now();
    let status = Command::new("pkill").args(["-9", "-f", "hermes"]).status().expect("pkill");
    assert!(status.success(), "it has found the owner: {status}");
    owner.reap();

    leader.process.assert_gone_by(moment + SOON_GONE, "the leader");
    server.process.assert_gone_by(moment + SOON_GONE, "the server");
    supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
    bystander.process().assert_alive("an owner of another name");
    its_supervisor.assert_alive("its supervisor");
    other.process.assert_alive("its child");
    assert_eq!(other.process.pending_signals(), 0);
}
