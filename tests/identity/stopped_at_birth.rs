//! A child that is stopped at once is still in its owner's group, or on its way out of it, when the signal comes.

use super::support::pidns::{Init, outside};
use super::support::{Scene, eventually, is_root};
use crate::test_name;
use std::os::unix::process::CommandExt;
use std::time::Duration;

#[test]
fn five_hundred_spawns_with_an_immediate_stop_never_hit_the_owners_group() {
    // Whether a group is empty is read from /proc, where a namespace of its own has little in it.
    if is_root() && outside(test_name!(), Init::Reaps) {
        return;
    }
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let tag = scene.fresh_tag();
    let mut command = scene.actor();
    command.arg("child").arg(scene.mail_path()).args([&tag, "canary"]).process_group(owner.pid());
    let mut child = command.spawn().expect("a member of the owner's group");
    let canary = scene.seat(&tag, "canary");
    assert_eq!(canary.pgid, owner.pid());
    // A grace of nothing: KILL at once. And one in which TERM does it.
    owner.must("stop-storm 4 63 0");
    owner.must("stop-storm 4 63 2000");
    owner.process().assert_alive("the owner");
    canary.process.assert_untouched("a member of the owner's group");
    eventually(Duration::from_secs(10), "no slot is left", || owner.slots_in_use() == 0);
    control.assert_unharmed();
    owner.kill();
    // Not started by the library: the owner's own group is none of its business, not even then.
    canary.process.assert_untouched("a member of the dead owner's group");
    canary.process.signal(libc::SIGKILL).expect("end it");
    let _ = child.wait();
}
