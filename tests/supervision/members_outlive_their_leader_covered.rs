//! The leader exits, the owner waits for it and lives on, members of the group go on: they stay covered.

use super::deaths::{Death, SOON_GONE, for_each};
use super::support::process::address_is_free;
use super::support::{Scene, eventually};
use serde_json::json;

#[test]
fn members_outlive_their_leader_covered() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let started = doomed.owner.spawn("leave stubborn server");
        let server = scene.seat(&started, "server");
        let status = doomed.owner.must(&format!("wait {}", started.pid));
        assert_eq!(status, json!({ "exited": 0 }));
        assert_eq!(doomed.owner.must("status")["slots_in_use"], 1, "still covered");
        server.process.assert_alive("a member after its leader's end");

        let moment = doomed.die();

        server.process.assert_gone_by(moment + SOON_GONE, "the member");
        assert!(address_is_free(server.address.expect("it listens")));
    });
}

/// And once the last member has gone, the slot is free without anybody's doing.
#[test]
fn the_slot_is_freed_when_the_last_member_goes() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("leave sleeper");
    let member = scene.seat(&started, "sleeper");
    owner.must(&format!("wait {}", started.pid));
    assert_eq!(owner.must("status")["slots_in_use"], 1);
    member.process.signal(libc::SIGKILL).expect("end the member");
    eventually(std::time::Duration::from_secs(15), "the slot is free", || owner.must("status")["slots_in_use"] == 0);
    control.assert_unharmed();
}
