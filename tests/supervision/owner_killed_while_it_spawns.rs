//! Killed at a random moment with four threads spawning all the while: nothing that they started is left.

use super::deaths::GRACE;
use super::support::deadline::within;
use super::support::{Scene, soak};
use std::time::{Duration, Instant};

#[test]
fn owner_killed_while_it_spawns() {
    let scene = Scene::new();
    let mut control = scene.control();
    let rounds = if soak() { 500 } else { 25 };
    for round in 0..rounds {
        let mut owner = scene.owner();
        owner.must(&format!("configure grace={}", GRACE.as_millis()));
        owner.must("storm 4");
        scene.seat("storm", "storm");
        let until = Instant::now() + Duration::from_micros(round * 613 % 5000);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let supervisor = owner.supervisor();

        let moment = owner.kill();

        supervisor.assert_gone_by(moment + GRACE + Duration::from_secs(8), "the supervisor");
        let is_ours = |pid: i32| pid == control.owner.pid() || pid == control.canary.process.pid;
        let left = || scene.marked().into_iter().filter(|process| !is_ours(process.pid)).collect::<Vec<_>>();
        assert!(within(Duration::from_secs(1), || left().is_empty()), "round {round}: {:?}", left());
    }
    control.assert_unharmed();
}
