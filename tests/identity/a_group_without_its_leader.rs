//! A group can be taken over when its leader has gone already. Then its number is all there is: `status` says so.

use super::support::{Scene, eventually, sys};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

#[test]
fn it_is_owned_counted_as_the_weaker_proof_and_dies_with_its_owner() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    let foreign = owner.foreign("leave stubborn sleeper");
    let member = scene.seat(&foreign, "sleeper");
    owner.must(&format!("reap {}", foreign.pid));
    owner.must(&format!("own {}", foreign.pid));
    eventually(SOON, "the supervisor has seen that there is no leader", || owner.must("status")["weak_groups"] == 1);
    let (value, why) = owner.guarantee("reuse_proof");
    assert_eq!(value, "weaker");
    assert!(why.contains("by number"), "{why}");
    member.process.assert_alive("the group");
    owner.kill();
    member.process.assert_gone_by(sys::after(SOON), "a group that was taken over without its leader");
    control.assert_unharmed();
}

#[test]
fn its_slot_is_freed_when_the_last_member_has_gone() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let foreign = owner.foreign("leave sleeper");
    let member = scene.seat(&foreign, "sleeper");
    owner.must(&format!("reap {}", foreign.pid));
    owner.must(&format!("own {}", foreign.pid));
    assert_eq!(owner.slots_in_use(), 1);
    member.process.signal(libc::SIGKILL).expect("end the member");
    eventually(SOON, "the slot is free", || owner.slots_in_use() == 0);
    let status = owner.must("status");
    assert_eq!(status["weak_groups"], 0, "{status}");
    assert_eq!(owner.guarantee("reuse_proof").0, "yes");
    control.assert_unharmed();
}
