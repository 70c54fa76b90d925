//! A signal to the owner's whole group, or to owner, supervisor and child one by one: the supervisor survives until
//! its work is done.

use super::deaths::{GRACE, SOON_GONE};
use super::support::{Owner, Process, Scene, sys};
use std::time::{Duration, Instant};

const POLITE_ENDS: [i32; 4] = [libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGTERM];

fn owner(scene: &Scene) -> Owner {
    let mut owner = scene.owner();
    owner.must("no-core");
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    owner
}

#[test]
fn a_signal_to_the_owners_whole_group_does_not_reach_the_supervisor() {
    for signal in [libc::SIGKILL].into_iter().chain(POLITE_ENDS) {
        let scene = Scene::new();
        let mut control = scene.control();
        let mut owner = owner(&scene);
        let child = owner.spawn("stubborn server");
        let server = scene.seat(&child, "server");
        // A copy of the owner in the same group: what becomes of it shows that the signal went to the group.
        owner.must("fork-worker bystander");
        let bystander = scene.seat("bystander", "worker");
        assert_eq!(bystander.pgid, owner.pid());

        let moment = owner.end_by(|process| process.signal_group(signal).expect("signal the group"));

        bystander.process.assert_gone_by(moment + SOON_GONE, "the other member of the owner's group");
        server.process.assert_gone_by(moment + SOON_GONE, &format!("signal {signal}: the child"));
        control.assert_unharmed();
    }
}

#[test]
fn each_one_by_one() {
    for signal in POLITE_ENDS {
        let scene = Scene::new();
        let mut control = scene.control();
        let mut owner = owner(&scene);
        let (first, second) = (owner.spawn("sleeper"), owner.spawn("stubborn sleeper"));
        let (first, second) = (scene.seat(&first, "sleeper"), scene.seat(&second, "sleeper"));
        let supervisor = owner.supervisor();

        supervisor.signal(signal).expect("signal the supervisor");
        first.process.signal(signal).expect("signal a child");
        first.process.assert_gone_by(sys::after(SOON_GONE), "a child that was told to go");
        // It does what it is asked to, so it is there, deaf.
        owner.must(&format!("signal {} {}", second.process.pid, libc::SIGCONT));
        supervisor.assert_alive("the supervisor");
        assert_eq!(owner.must("status")["supervisor_generation"], 1);
        second.process.assert_alive("the other child");

        let moment = owner.end_by(|process| process.signal(signal).expect("signal the owner"));

        second.process.assert_gone_by(moment + SOON_GONE, "the other child");
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
        control.assert_unharmed();
    }
}

/// `^Z` and `^C` come for the owner's group while it spawns, and the owner catches both. A child that is still in that
/// group must neither stop, which would hold its parent as well, nor end before it is a program.
#[test]
fn keys_typed_while_it_spawns() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner(&scene);
    for key in [libc::SIGTSTP, libc::SIGINT] {
        owner.must(&format!("catch {key}"));
    }
    let children = 300;
    owner.tell(&format!("crowd {children}"));
    let deadline = sys::after(SOON_GONE * 5);
    let answer = loop {
        assert!(Instant::now() < deadline, "a spawn does not return");
        for key in [libc::SIGTSTP, libc::SIGINT] {
            owner.process().signal_group(key).expect("signal the group");
        }
        if let Some(line) = owner.line_by(sys::after(Duration::from_micros(50))) {
            break serde_json::from_slice::<serde_json::Value>(&line).expect("one JSON line");
        }
    };
    let pids = answer["ok"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(pids.len(), children);
    let children: Vec<Process> = pids
        .iter()
        .map(|pid| Process::open(pid.as_i64().expect("a pid") as i32).expect("a child that was started is there"))
        .collect();
    for child in &children {
        child.assert_alive("a child");
        assert_eq!(child.stat().map(|stat| stat.pgrp), Some(child.pid), "it leads a group");
    }

    let moment = owner.kill();

    children.iter().for_each(|child| child.assert_gone_by(moment + SOON_GONE, "a child"));
    control.assert_unharmed();
}
