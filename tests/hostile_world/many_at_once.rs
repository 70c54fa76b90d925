//! A thousand groups at once.

use super::support::Scene;
use super::timing::SLACK;
use std::time::Duration;

/// The default: a machine that is busy with other things needs some of it to look at so many.
const GRACE: Duration = Duration::from_secs(3);

#[test]
fn a_thousand_groups_die_with_their_owner() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let groups = 1_000;
    let pids = owner.must(&format!("crowd {groups}"));
    let pids: Vec<i32> = pids.as_array().expect("pids").iter().filter_map(|pid| Some(pid.as_i64()? as i32)).collect();
    assert_eq!(pids.len(), groups);
    assert_eq!(owner.must("status")["slots_in_use"], groups);
    let stubborn = scene.seat(owner.spawn("leave-daemon stubborn sleeper"), "sleeper");
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    let furniture = [control.owner.pid(), control.canary.process.pid];
    let limit = GRACE + Duration::from_secs(1) + SLACK;
    supervisor.assert_gone_by(killed_at + limit, "the supervisor");
    let left: Vec<_> = scene.marked().into_iter().filter(|p| !furniture.contains(&p.pid)).collect();
    assert!(left.is_empty(), "left by {:?} after the kill: {left:?}", killed_at.elapsed());
    stubborn.process.assert_gone_by(killed_at + limit, "the escapee");
    eprintln!("{groups} groups and an escapee: all gone {:?} after the kill, grace {GRACE:?}", killed_at.elapsed());
    control.assert_unharmed();
}
