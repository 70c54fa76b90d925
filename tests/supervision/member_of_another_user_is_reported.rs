//! One member of a group has become another user, and the supervisor may not signal it: the others die, that one is
//! reported, and the time stays bounded.

use super::deaths::{Death, Doomed, GRACE, SOON_GONE, for_each_of};
use super::support::{Scene, is_root, sys};
use crate::skip;
use std::os::unix::process::CommandExt;
use std::time::Duration;

const USER: u32 = 65_533;
const OTHER_USER: u32 = 65_532;

/// Runs as `USER`, and dies so.
fn owner(scene: &Scene, death: Death) -> Doomed {
    let mut command = scene.dressed(&scene.private_actor(0o755));
    command.uid(USER).gid(USER);
    death.owner_from(scene, command)
}

/// A group with a member that has become another user by way of a program with the setuid bit.
fn mixed_shape(scene: &Scene) -> String {
    let setuid = scene.private_actor(0o4755);
    format!("two exec {} setuid {OTHER_USER} stubborn sleeper / stubborn server", setuid.display())
}

#[test]
fn when_the_owner_dies() {
    if !is_root() {
        skip!("other users need root");
    }
    for_each_of(&Death::ALL, owner, |scene, mut doomed| {
        let started = doomed.owner.spawn(&mixed_shape(scene));
        let (leader, ours, other) =
            (scene.seat(&started, "two"), scene.seat(&started, "server"), scene.seat(&started, "sleeper"));
        assert_eq!(other.pgid, started.pid, "a member");
        let supervisor = doomed.owner.supervisor();

        let moment = doomed.die();

        leader.process.assert_gone_by(moment + SOON_GONE, "the leader");
        ours.process.assert_gone_by(moment + SOON_GONE, "the member that may be signalled");
        supervisor.assert_gone_by(moment + GRACE + Duration::from_secs(3), "the supervisor does not wait for ever");
        other.process.assert_alive("the member of another user");
        let reaped = scene.hermes_home().join("reaped.jsonl");
        let lines = std::fs::read_to_string(&reaped).unwrap_or_default();
        let said = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let said: Vec<_> = said.filter(|line| line["pgid"] == started.pid).collect();
        assert!(said.iter().any(|line| line["outcome"] == "eperm"), "reaped.jsonl says {lines:?}");
    });
}

#[test]
fn when_it_is_stopped() {
    if !is_root() {
        skip!("other users need root");
    }
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner(&scene, Death::Kill).owner;
    let started = owner.spawn(&mixed_shape(&scene));
    let (ours, other) = (scene.seat(&started, "server"), scene.seat(&started, "sleeper"));

    let refusal = owner.ask(&format!("stop {} 200", started.pid)).expect_err("something is left");

    assert_eq!(refusal.name, "HERMES_ERR_STILL_ALIVE", "{refusal:?}");
    ours.process.assert_gone_by(sys::after(SOON_GONE), "the member that may be signalled");
    other.process.assert_alive("the member of another user");
    owner.kill();
    control.assert_unharmed();
}
