//! The owner is killed while a `stop` waits for its long grace to be over: the group is gone within one grace of the
//! owner's own, counted from the kill.

use super::deaths::{GRACE, SOON_GONE};
use super::support::Scene;

#[test]
fn owner_killed_during_a_stop() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let started = owner.spawn("with defiant");
    let member = scene.seat(&started, "defiant");
    owner.tell(&format!("stop {} 3600000", started.pid));
    // TERM has come, so the stop is under way, and the hour has begun.
    scene.seat(&started, "term");
    member.process.assert_alive("a member in its grace");

    let moment = owner.kill();

    member.process.assert_gone_by(moment + SOON_GONE, "the member");
    assert!(moment.elapsed() >= GRACE, "it had its grace: {:?}", moment.elapsed());
    control.assert_unharmed();
}
