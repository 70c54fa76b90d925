//! The owner daemonises (it forks and the parent leaves) after the library was used: the parent's children die with
//! it, and the copy starts from nothing.

use super::deaths::{GRACE, SOON_GONE};
use super::support::{Process, Scene};
use std::time::Instant;

#[test]
fn daemonised_copy_starts_clean() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let first = owner.spawn("stubborn sleeper");
    let old = scene.seat(&first, "sleeper");

    let moment = Instant::now();
    let copy = owner.must("daemonise");
    let number = |name: &str| copy[name].as_i64().expect("a number");
    owner.moved_to(Process::met(number("pid") as i32, number("start") as u64));
    scene.remember(owner.process());

    old.process.assert_gone_by(moment + SOON_GONE, "the parent's child");
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let status = owner.must("status");
    assert_eq!(status["slots_in_use"], 0, "{status}");
    let refused = owner.ask(&format!("signal {} {}", first.pid, libc::SIGTERM));
    assert!(refused.is_err(), "the parent's handle means nothing here");
    let new = owner.spawn("stubborn sleeper");
    let new = scene.seat(&new, "sleeper");
    assert_eq!(owner.must("status")["slots_in_use"], 1);

    let moment = owner.kill();

    new.process.assert_gone_by(moment + SOON_GONE, "the copy's child");
    control.assert_unharmed();
}
