//! Strangers whose `/proc/PID/environ`, and with an exec that hangs `/proc/PID/stat` too, blocks whoever reads it, for
//! ever. The test itself reads neither.

use super::support::fuse::Hang;
use super::support::process::status_field;
use super::support::{Scene, within};
use super::timing::{GRACE, assert_gone_in_time, assert_graces, configure};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

#[test]
fn an_exec_that_hangs_delays_no_death() {
    deaths_beside(&["in-exec"]);
}

#[test]
fn an_address_space_that_is_locked_delays_no_death() {
    deaths_beside(&["locked"]);
}

/// More than could be waited for one after the other, each time everybody is looked at.
#[test]
fn a_dozen_of_both_kinds_delays_no_death() {
    deaths_beside(&["in-exec", "locked"].repeat(6));
}

fn deaths_beside(shapes: &[&str]) {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let mut control = scene.control();
    let Some(mut fuse) = scene.hung(Hang::Data) else { return };
    let file = fuse.file().display().to_string();
    let mut owner = scene.owner();
    configure(&mut owner);
    let obedient = owner.spawn("sleeper");
    let supervisor = owner.supervisor();
    // Younger than the owner: what is older cannot be its child and is not looked at.
    let mut strangers: Vec<_> = shapes.iter().map(|shape| stranger(&scene, shape, &file)).collect();
    // All of these are looked at after the strangers, whose numbers are lower.
    let stubborn = owner.spawn("stubborn sleeper");
    let escapee = owner.spawn("leave-daemon stubborn sleeper");
    let below = owner.spawn("clean stubborn sleeper");
    let seats = [&obedient, &stubborn, &escapee, &below].map(|started| scene.seat(started, "sleeper"));
    for stranger in &strangers {
        let blocked = || blocks(stranger.id());
        assert!(within(Duration::from_secs(20), blocked), "the environment of {} can be read", stranger.id());
    }
    let killed_at = owner.kill();
    assert_graces(killed_at, &seats[0], &seats[1]);
    assert_gone_in_time(killed_at, &seats.each_ref(), &supervisor);
    eprintln!("{} strangers: all gone {:?} after the kill, grace {GRACE:?}", shapes.len(), killed_at.elapsed());
    for stranger in &mut strangers {
        assert!(stranger.try_wait().expect("a child").is_none(), "a stranger is gone");
        let pending = status_field(stranger.id() as i32, "ShdPnd:").expect("it runs");
        assert_eq!(pending.trim_start_matches('0'), "", "a stranger was signalled");
    }
    control.assert_unharmed();
    fuse.end();
    for child in &mut strangers {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Not announced: to meet it, the test would have to look at it.
fn stranger(scene: &Scene, shape: &str, file: &str) -> std::process::Child {
    let mut command = scene.actor();
    command.arg("child").arg(scene.mail_path()).arg(scene.fresh_tag()).args([shape, file]);
    command.spawn().expect("start a stranger")
}

/// A thread reads it, and is left behind when it does not come back.
fn blocks(pid: u32) -> bool {
    let (read, answer) = mpsc::channel();
    thread::spawn(move || read.send(fs::read(format!("/proc/{pid}/environ")).map(|text| text.len())));
    matches!(answer.recv_timeout(Duration::from_millis(100)), Err(mpsc::RecvTimeoutError::Timeout))
}
