//! A child that calls itself like a supervisor is a child.

use super::support::Scene;
use super::timing::{assert_gone_in_time, configure};

const NAME: &str = "spawn-superviso";

#[test]
fn a_child_with_a_supervisors_name_dies_with_its_owner() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    // In its group, below a leader in a session of its own, and with nothing but the mark that leads to it.
    let shapes = ["renamed NAME sleeper", "setsid renamed NAME stubborn sleeper", "leave-daemon renamed NAME sleeper"];
    let seats = shapes.map(|shape| scene.seat(owner.spawn(&shape.replace("NAME", NAME)), "sleeper"));
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    assert_gone_in_time(killed_at, &seats.each_ref(), &supervisor);
    control.assert_unharmed();
}

#[test]
fn another_owners_supervisor_is_left_alone_wherever_it_is_met() {
    let scene = Scene::new();
    let mut outer = scene.owner();
    configure(&mut outer);
    // The control owner is nobody's child; its supervisor is met in every look at all processes.
    let mut control = scene.control();
    let other = control.owner.supervisor();
    let seat = scene.seat(outer.spawn("leave-daemon stubborn sleeper"), "sleeper");
    let supervisor = outer.supervisor();
    let killed_at = outer.kill();
    assert_gone_in_time(killed_at, &[&seat], &supervisor);
    other.assert_untouched("the control owner's supervisor");
    control.assert_unharmed();
}
