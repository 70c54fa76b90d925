//! Strangers whose `/proc/PID/environ` blocks whoever opens or reads it, for ever.

use super::support::fuse::{Fuse, Hang};
use super::support::process::Stat;
use super::support::{Process, Scene, is_root, mounts, within};
use super::timing::{GRACE, assert_gone_in_time, assert_graces, configure};
use crate::skip;
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

#[test]
fn an_address_space_that_is_locked_delays_no_death() {
    deaths_beside(&["locked"]);
}

/// More than could be waited for one after the other, each time everybody is looked at.
#[test]
fn a_dozen_of_them_delays_no_death() {
    deaths_beside(&["locked"].repeat(12));
}

fn deaths_beside(shapes: &[&str]) {
    if !is_root() {
        skip!("a mount needs root");
    }
    if let Err(why) = mounts::become_private() {
        skip!("no mount namespace of one's own: {why}");
    }
    let scene = Scene::new();
    let mut control = scene.control();
    let mut fuse = match Fuse::mount(&scene.folder().join("hung"), Hang::Data) {
        Ok(fuse) => fuse,
        Err(why) => skip!("no FUSE here: {why}"),
    };
    let file = fuse.file().display().to_string();
    let mut owner = scene.owner();
    configure(&mut owner);
    let obedient = owner.spawn("sleeper");
    // Younger than the owner: what is older cannot be its child and is not looked at.
    let mut strangers: Vec<_> = shapes.iter().map(|shape| stranger(&scene, shape, &file)).collect();
    // All of these are looked at after the strangers, whose numbers are lower.
    let stubborn = owner.spawn("stubborn sleeper");
    let escapee = owner.spawn("leave-daemon stubborn sleeper");
    let below = owner.spawn("clean stubborn sleeper");
    let seats = [&obedient, &stubborn, &escapee, &below].map(|started| scene.seat(started, "sleeper"));
    for (_, stranger) in &strangers {
        let blocked = || blocks(stranger.pid);
        assert!(within(Duration::from_secs(20), blocked), "the environment of {} can be read", stranger.pid);
    }
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    assert_graces(killed_at, &seats[0], &seats[1]);
    assert_gone_in_time(killed_at, &seats.each_ref(), &supervisor);
    eprintln!("{} strangers: all gone {:?} after the kill, grace {GRACE:?}", shapes.len(), killed_at.elapsed());
    for (_, stranger) in &strangers {
        assert!(Stat::of(stranger.pid).is_some_and(|stat| stat.runs()), "a stranger is gone");
        assert_eq!(stranger.pending_signals(), 0, "a stranger was signalled");
    }
    control.assert_unharmed();
    fuse.end();
    for (child, _) in &mut strangers {
        let _ = child.kill();
        let _ = child.wait();
    }
    // What was stuck in the kernel with them can end now.
    let helpers = || fs::read(format!("/proc/{}/stat", supervisor.pid)).is_err();
    assert!(within(Duration::from_secs(20), helpers), "the supervisor stays");
}

fn stranger(scene: &Scene, shape: &str, file: &str) -> (std::process::Child, Process) {
    let tag = scene.fresh_tag();
    let mut command = scene.actor();
    command.arg("child").arg(scene.mail_path()).arg(&tag).args([shape, file]);
    let child = command.spawn().expect("start a stranger");
    (child, scene.seat(&tag, shape).process)
}

/// A thread reads it, and is left behind when it does not come back.
fn blocks(pid: i32) -> bool {
    let (read, answer) = mpsc::channel();
    thread::spawn(move || read.send(fs::read(format!("/proc/{pid}/environ")).map(|text| text.len())));
    matches!(answer.recv_timeout(Duration::from_millis(100)), Err(mpsc::RecvTimeoutError::Timeout))
}
