//! Stop A, start B on the same port, a hundred times: never "address in use". The same when it is their owner that ends.

use super::deaths::{Death, SOON_GONE};
use super::support::Scene;
use std::time::Duration;

#[test]
fn port_is_free_after_stop() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let mut started = owner.spawn("with server");
    let address = scene.seat(&started, "server").address.expect("it listens");
    for round in 0..100 {
        // Every second server has to be killed.
        let manner = if round % 2 == 0 { "" } else { "stubborn" };
        owner.must(&format!("stop {} {}", started.pid, if round % 2 == 0 { 50 } else { 2000 }));
        started = owner.spawn(&format!("with {manner} server {address}"));
        let next = scene.seat_within(&started.tag, "server", Duration::from_secs(20));
        let failed = scene.seat_within(&started.tag, "server-failed", Duration::ZERO);
        assert!(failed.is_none(), "round {round}: {:?}", failed.map(|seat| seat.detail));
        assert_eq!(next.and_then(|seat| seat.address), Some(address), "round {round}");
    }
    control.assert_unharmed();
}

/// A relay: the port goes from owner to owner, and each has ended in another way when the next one takes it over. No
/// two at once, as they have one port.
#[test]
fn port_is_free_after_the_owners_end() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut address = String::new();
    for death in Death::ALL {
        let mut doomed = death.owner(&scene);
        let started = doomed.owner.spawn(&format!("with server {address}"));
        let next = scene.seat_within(&started.tag, "server", SOON_GONE);
        let failed = scene.seat_within(&started.tag, "server-failed", Duration::ZERO);
        assert!(failed.is_none(), "before {death:?}: {:?}", failed.map(|seat| seat.detail));
        let server = next.expect("it announces itself");
        address = server.address.expect("it listens").to_string();

        let moment = doomed.die();

        server.process.assert_gone_by(moment + SOON_GONE, &format!("{death:?}: the server"));
    }
    control.assert_unharmed();
}
