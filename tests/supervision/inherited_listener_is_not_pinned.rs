//! The owner has a listening socket that every child would inherit: after its end the port is free as soon as its
//! children are gone. Neither they nor the supervisor ever held it.

use super::deaths::{Death, SOON_GONE, for_each};
use super::support::process::{address_is_free, descriptors};

#[test]
fn inherited_listener_is_not_pinned() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let owner = &mut doomed.owner;
        let listener = owner.must("listen");
        let address = listener["address"].as_str().expect("an address").parse().expect("an address");
        let fd = listener["fd"].as_i64().expect("a number") as i32;
        let child = owner.spawn("stubborn sleeper");
        let sleeper = scene.seat(&child, "sleeper");
        let supervisor = owner.supervisor();

        let owners = owner.process().descriptors();
        let (_, socket) = owners.iter().find(|(number, _)| *number == fd).expect("the owner's socket");
        assert!(socket.starts_with("socket:"), "{socket}");
        for (who, process) in [("the child", &sleeper.process), ("the supervisor", &supervisor)] {
            let held = process.descriptors();
            assert!(!held.is_empty() && held.iter().all(|(_, link)| link != socket), "{who} holds it: {held:?}");
        }
        let threads = owner.process().tasks();
        for tid in threads.into_iter().filter(|&tid| tid != owner.pid()) {
            let held = descriptors(&format!("/proc/{}/task/{tid}/fd", owner.pid()));
            assert!(held.iter().all(|(_, link)| link != socket), "a thread of the library holds it: {held:?}");
        }

        let moment = doomed.die();

        sleeper.process.assert_gone_by(moment + SOON_GONE, "the child");
        assert!(address_is_free(address), "{address} is still taken");
    });
}
