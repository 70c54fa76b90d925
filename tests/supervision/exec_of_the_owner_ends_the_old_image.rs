//! The owner replaces itself by exec: the old image's children die, the new image works, with one supervisor.

use super::deaths::{GRACE, SOON_GONE};
use super::support::process::supervisors;
use super::support::{Scene, eventually, sys};

#[test]
fn exec_of_the_owner_ends_the_old_image() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let old = owner.spawn("stubborn sleeper");
    let old = scene.seat(&old, "sleeper");
    let first = owner.supervisor();

    let greeting = owner.must("exec-self");
    assert_eq!(greeting["pid"], owner.pid(), "the same process");
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let new = owner.spawn("stubborn sleeper");
    let new = scene.seat(&new, "sleeper");

    old.process.assert_gone_by(sys::after(SOON_GONE), "the old image's child");
    first.assert_gone_by(sys::after(SOON_GONE), "the old image's supervisor");
    new.process.assert_alive("the new image's child");
    let count = || supervisors().iter().filter(|(of, _)| *of == owner.pid()).count();
    eventually(SOON_GONE, "one supervisor", || count() == 1);
    assert_eq!(owner.must("status")["slots_in_use"], 1);

    let moment = owner.kill();

    new.process.assert_gone_by(moment + SOON_GONE, "the new image's child");
    control.assert_unharmed();
}
