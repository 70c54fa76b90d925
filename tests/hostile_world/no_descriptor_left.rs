//! A machine that gives the supervisor fewer descriptors than there are groups: what it cannot hold it takes for living.

use super::support::{Launch, Scene, within};
use super::timing::{GRACE, SLACK, assert_gone_in_time};
use std::process::Command;
use std::time::Duration;

const DESCRIPTORS: usize = 40;

#[test]
fn a_group_that_has_lost_its_leader_stays_covered() {
    let scene = Scene::new();
    let mut control = scene.control();
    let actor = scene.actor();
    let mut command = Command::new("sh");
    scene.dress(&mut command);
    command.args(["-c", &format!("ulimit -n {DESCRIPTORS}; exec \"$0\" \"$@\"")]).arg(actor.get_program());
    let mut owner = scene.owner_from(command, Launch::default());
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let started: Vec<_> = (0..DESCRIPTORS).map(|_| owner.spawn("sleeper")).collect();
    let left = owner.spawn("leave stubborn sleeper");
    let mut seats: Vec<_> = started.iter().map(|started| scene.seat(started, "sleeper")).collect();
    seats.push(scene.seat(&left, "sleeper"));
    owner.must(&format!("wait {}", left.pid));
    let supervisor = owner.supervisor();
    assert!(owner.guarantee("group_signal").0 == "number", "it holds every leader");
    let let_go = within(Duration::from_millis(500), || owner.slots_in_use() <= DESCRIPTORS as i64);
    assert!(!let_go, "a group in which something lives was let go");

    let killed_at = owner.kill();

    assert_gone_in_time(killed_at, &seats.iter().collect::<Vec<_>>(), &supervisor);
    assert!(killed_at.elapsed() < GRACE + Duration::from_secs(1) + SLACK);
    control.assert_unharmed();
}
