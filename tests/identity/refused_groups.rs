//! What must never be owned is refused, with a stable code, the number and the reason, and nothing is half stored.

use super::support::process::Stat;
use super::support::reuse;
use super::support::{Launch, Owner, Scene, Seat, eventually, is_root};
use crate::skip;
use std::os::unix::process::CommandExt;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);
const NOBODY: u32 = 65534;

const UNSAFE: &str = "HERMES_ERR_UNSAFE_GROUP";
const NO_SUCH: &str = "HERMES_ERR_NO_SUCH_GROUP";
const PERMISSION: &str = "HERMES_ERR_PERMISSION";

struct Case {
    group: i32,
    code: &'static str,
    reason: &'static str,
}

fn case(group: i32, code: &'static str, reason: &'static str) -> Case {
    Case { group, code, reason }
}

/// What is to be refused to every owner.
fn cases(scene: &Scene, owner: &mut Owner) -> Vec<Case> {
    let stat = Stat::of(owner.pid()).expect("the owner");
    assert_eq!(stat.pgrp, owner.pid(), "an owner of the tests leads its group");
    // SAFETY: a question.
    let ancestors_group = unsafe { libc::getpgrp() };
    let led = owner.foreign("with sleeper");
    let member = scene.seat(&led, "sleeper");
    assert_ne!(member.process.pid, member.pgid);
    let zombie = owner.foreign("exit 0").pid;
    eventually(SOON, "a zombie that nobody has reaped", || Stat::of(zombie).is_some_and(|s| s.state == 'Z'));
    let dead = owner.foreign("exit 0").pid;
    owner.must(&format!("reap {dead}"));
    assert!(reuse::is_free(dead));
    let supervisor = owner.must("status")["supervisor_pid"].as_i64().expect("a pid") as i32;
    assert_ne!(supervisor, 0);
    vec![
        case(owner.pid(), UNSAFE, "own"),
        case(0, UNSAFE, "never"),
        case(1, UNSAFE, "never"),
        case(-1, UNSAFE, "negative"),
        case(-member.pgid, UNSAFE, "negative"),
        case(i32::MIN, UNSAFE, "negative"),
        case(i32::MAX, NO_SUCH, "no such"),
        case(ancestors_group, UNSAFE, "ancestor"),
        case(supervisor, UNSAFE, "supervisor"),
        case(member.process.pid, NO_SUCH, "does not lead"),
        case(zombie, NO_SUCH, "nothing in it runs"),
        case(dead, NO_SUCH, "no such"),
    ]
}

/// Two groups that could be owned, and were not.
fn bystanders(scene: &Scene, owner: &mut Owner) -> [Seat; 2] {
    [(); 2].map(|()| {
        let started = owner.foreign("canary");
        scene.seat(&started, "canary")
    })
}

fn all_are_refused(owner: &mut Owner, cases: &[Case], [first, last]: &[Seat; 2]) {
    let (before, after) = (first.pgid, last.pgid);
    for Case { group, code, reason } in cases {
        for list in [format!("{group}"), format!("{before} {group} {after}"), format!("{before} {after} {group}")] {
            let refusal = owner.ask(&format!("own {list}")).expect_err("must be refused");
            assert_eq!(refusal.name, *code, "{list}: {refusal:?}");
            assert_eq!(refusal.step, "own_process_groups", "{list}");
            assert!(refusal.message.contains(&group.to_string()), "{list}: the number: {}", refusal.message);
            assert!(refusal.message.contains(reason), "{list}: {reason:?}: {}", refusal.message);
            assert_eq!(owner.slots_in_use(), 1, "own {list} was refused and left something in the roster");
        }
    }
}

#[test]
fn every_refusal_names_number_and_reason_and_stores_nothing() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("sleeper");
    let child = scene.seat(&started, "sleeper");
    let mut cases = cases(&scene, &mut owner);
    let others = is_root().then(|| {
        scene.open_to_other_users();
        scene.stranger(&format!("setuid {NOBODY} canary"))
    });
    if let Some((_, seat)) = &others {
        cases.push(case(seat.pgid, PERMISSION, "another user"));
    }
    let bystanders = bystanders(&scene, &mut owner);
    all_are_refused(&mut owner, &cases, &bystanders);
    owner.kill();
    child.process.assert_gone_by(super::support::sys::after(SOON), "the owned child");
    bystanders.iter().for_each(|seat| seat.process.assert_untouched("a group that was never stored"));
    if let Some((mut stranger, seat)) = others {
        seat.process.assert_untouched("a group of another user");
        seat.process.signal(libc::SIGKILL).expect("end it");
        let _ = stranger.wait();
    }
    control.assert_unharmed();
}

#[test]
fn an_ordinary_user_is_refused_what_is_roots() {
    if !is_root() {
        skip!("two users need root");
    }
    let scene = Scene::new();
    let mut control = scene.control();
    scene.open_to_other_users();
    let (mut stranger, roots) = scene.stranger("canary");
    let mut command = scene.actor();
    command.uid(NOBODY).gid(NOBODY);
    let mut owner = scene.owner_from(command, Launch::default());
    let started = owner.spawn("sleeper");
    let child = scene.seat(&started, "sleeper");
    let mut cases = cases(&scene, &mut owner);
    cases.push(case(roots.pgid, PERMISSION, "another user"));
    let bystanders = bystanders(&scene, &mut owner);
    all_are_refused(&mut owner, &cases, &bystanders);
    owner.kill();
    child.process.assert_gone_by(super::support::sys::after(SOON), "the owned child");
    bystanders.iter().for_each(|seat| seat.process.assert_untouched("a group that was never stored"));
    roots.process.assert_untouched("a group of root's");
    roots.process.signal(libc::SIGKILL).expect("end it");
    let _ = stranger.wait();
    control.assert_unharmed();
}

#[test]
fn owning_twice_is_the_same_as_once_and_letting_go_of_the_unknown_is_no_error() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("sleeper");
    let child = scene.seat(&started, "sleeper");
    let [first, second] = bystanders(&scene, &mut owner);
    let (a, b) = (first.pgid, second.pgid);
    owner.must(&format!("own {a} {a} {} {b} {a}", child.pgid));
    owner.must(&format!("own {b}"));
    assert_eq!(owner.slots_in_use(), 3);
    owner.must(&format!("release {a}"));
    assert_eq!(owner.slots_in_use(), 2);
    for unknown in [a, 0, 1, -1, i32::MIN, i32::MAX, owner.pid()] {
        owner.must(&format!("release {unknown}"));
        owner.must(&format!("once-empty {unknown}"));
    }
    owner.must("own");
    owner.must("release");
    assert_eq!(owner.slots_in_use(), 2);
    owner.kill();
    for seat in [&child, &second] {
        seat.process.assert_gone_by(super::support::sys::after(SOON), "what is still owned");
    }
    first.process.assert_untouched("what was let go");
    control.assert_unharmed();
}
