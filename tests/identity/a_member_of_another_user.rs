//! A group of ours has a member that belongs to another user: it is not signalled, it is reported, and nothing else is
//! delayed or spared by it.

use super::support::{Launch, Owner, Scene, Seat, is_root, sys};
use crate::skip;
use std::os::unix::process::CommandExt;
use std::process::Child;
use std::time::{Duration, Instant};

const NOBODY: u32 = 65534;

/// An owner that is an ordinary user, its child `with stubborn sleeper` (leader and member), and a member that root
/// put into the group.
struct Mixed {
    owner: Owner,
    leader: Seat,
    member: Seat,
    roots: Seat,
    child: Child,
}

fn mixed_group(scene: &Scene) -> Mixed {
    scene.open_to_other_users();
    let mut command = scene.actor();
    command.uid(NOBODY).gid(NOBODY);
    let mut owner = scene.owner_from(command, Launch::default());
    owner.must("configure grace=500");
    // In the test's own session: a group cannot be joined from another.
    let started = owner.spawn_with("keep_session", "with stubborn sleeper");
    let (leader, member) = (scene.seat(&started, "with"), scene.seat(&started, "sleeper"));
    let tag = scene.fresh_tag();
    let mut command = scene.actor();
    command.arg("child").arg(scene.mail_path()).args([&tag, "canary"]).process_group(leader.pgid);
    let child = command.spawn().expect("root joins the group");
    let roots = scene.seat(&tag, "canary");
    assert_eq!(roots.pgid, leader.pgid);
    Mixed { owner, leader, member, roots, child }
}

impl Mixed {
    fn rest_is_dead_and_root_untouched(&mut self) {
        for seat in [&self.leader, &self.member] {
            assert!(seat.process.is_gone(), "{} of the group lives", seat.role);
        }
        self.roots.process.assert_untouched("the member of another user");
    }

    fn end(mut self) {
        self.roots.process.signal(libc::SIGKILL).expect("end it");
        let _ = self.child.wait();
    }
}

#[test]
fn stop_says_that_it_is_left() {
    if !is_root() {
        skip!("two users need root");
    }
    let scene = Scene::new();
    let mut control = scene.control();
    let mut mixed = mixed_group(&scene);
    let begin = Instant::now();
    let refusal = mixed.owner.ask(&format!("stop {} 200", mixed.leader.pgid)).expect_err("something is left");
    assert!(begin.elapsed() < Duration::from_secs(4), "a stop that cannot succeed is bounded");
    assert_eq!(refusal.name, "HERMES_ERR_STILL_ALIVE", "{refusal:?}");
    assert!(refusal.message.contains(&mixed.leader.pgid.to_string()), "{refusal:?}");
    assert!(refusal.message.contains("another user"), "{refusal:?}");
    mixed.rest_is_dead_and_root_untouched();
    // It stays covered, and its leader's end is still told.
    assert_eq!(mixed.owner.wait(mixed.leader.pgid)["signalled"], libc::SIGTERM);
    assert_eq!(mixed.owner.slots_in_use(), 1);
    control.assert_unharmed();
    mixed.end();
}

#[test]
fn the_owners_death_ends_the_rest_in_time_and_the_log_says_so() {
    if !is_root() {
        skip!("two users need root");
    }
    let scene = Scene::new();
    let mut control = scene.control();
    let mut mixed = mixed_group(&scene);
    let other = mixed.owner.spawn("stubborn sleeper");
    let other = scene.seat(&other, "sleeper");
    let supervisor = mixed.owner.supervisor();
    mixed.owner.kill();
    other.process.assert_gone_by(sys::after(Duration::from_secs(4)), "a group of the owner's alone");
    // Grace and one second, whatever is stuck; the rest is for a slow machine.
    supervisor.assert_gone_by(sys::after(Duration::from_secs(4)), "the supervisor");
    mixed.rest_is_dead_and_root_untouched();
    let log = std::fs::read_to_string(scene.hermes_home().join("reaped.jsonl")).expect("reaped.jsonl");
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let outcome = |pgid: i32| lines.iter().find(|line| line["pgid"] == pgid).map(|line| line["outcome"].clone());
    assert_eq!(outcome(mixed.leader.pgid).expect("a line"), "eperm", "{log}");
    assert_eq!(outcome(other.pgid).expect("a line"), "kill", "{log}");
    control.assert_unharmed();
    mixed.end();
}
