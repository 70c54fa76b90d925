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
    // The program's own path may have the name in it, and the control owner is to be named otherwise.
    let program = scene.private_actor(0o755);
    let mut control = scene.control_from(scene.actor_from(&program));
    let its_supervisor = control.owner.supervisor();
    // What pkill can do to an owner is a signal; the ones that nobody catches, one after the other, as each is for all.
    for signal in ["KILL", "TERM", "ABRT", "HUP"] {
        let mut command = scene.actor_from(&program);
        command.arg0("hermes-gateway");
        let mut owner = scene.owner_from(command, Default::default());
        owner.must("no-core");
        owner.must(&format!("configure grace={}", GRACE.as_millis()));
        let started = owner.spawn("with stubborn server");
        let (leader, server) = (scene.seat(&started, "with"), scene.seat(&started, "server"));
        let supervisor = owner.supervisor();

        let moment = Instant::now();
        let status = Command::new("pkill").args(["--signal", signal, "-f", "hermes"]).status().expect("pkill");
        assert!(status.success(), "it has found the owner: {status}");
        owner.reap();

        leader.process.assert_gone_by(moment + SOON_GONE, &format!("{signal}: the leader"));
        server.process.assert_gone_by(moment + SOON_GONE, &format!("{signal}: the server"));
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
        its_supervisor.assert_alive("the supervisor of an owner of another name");
        control.assert_unharmed();
    }
}
