//! Before Linux 6.9 a group is signalled by its number, and its leader is watched; pidfds have no inodes of their own.

use super::support::seccomp::{Action, Filter};
use super::support::{Owner, Scene, eventually};
use super::the_promise::{self, SOON, owner_under, replace_supervisor};

/// `PIDFD_SIGNAL_PROCESS_GROUP` (linux/pidfd.h).
const TO_GROUP: u32 = 4;

fn without_group_signal() -> Filter {
    Filter::new().when_masked(libc::SYS_pidfd_send_signal, 3, TO_GROUP, TO_GROUP, Action::Errno(libc::EINVAL))
}

/// Nothing tells pidfds apart, so their inodes are not used.
fn without_pidfs(filter: Filter) -> Filter {
    /// Where a supervisor finds its roster.
    const ROSTER: u32 = 3;
    filter.when(libc::SYS_fstat, 0, ROSTER, Action::Allow).on(libc::SYS_fstat, Action::Errno(libc::ENOSYS))
}

#[test]
fn groups_are_signalled_by_a_number_that_is_watched() {
    let scene = Scene::new();
    let mut owner = owner_under(&scene, &without_group_signal(), "");
    let mut control = scene.control();
    let expect_watched = |owner: &mut Owner| {
        let (value, why) = owner.guarantee("group_signal");
        assert_eq!(value, "watched");
        assert!(why.contains("PIDFD_SIGNAL_PROCESS_GROUP"), "{why}");
    };
    expect_watched(&mut owner);
    let started = owner.spawn("sleeper");
    scene.seat(&started, "sleeper");
    expect_watched(&mut owner);
    owner.must(&format!("stop {} 1000", started.pid));
    owner.wait(started.pid);
    let cast = the_promise::play(&scene, &mut owner);
    // The leader of one group has gone, and here that leaves its number only.
    eventually(SOON, "the supervisor has seen that", || owner.guarantee("group_signal").0 == "number");
    let (value, why) = owner.guarantee("reuse_proof");
    assert_eq!(value, "weaker");
    assert!(!why.is_empty());
    assert_eq!(owner.guarantee("lifeline").0, "private-tables", "the rest is as strong as ever");
    the_promise::kill_and_look(&mut owner, &mut control, &cast);
}

#[test]
fn and_a_supervisor_started_later_knows_them_too() {
    let scene = Scene::new();
    let mut owner = owner_under(&scene, &without_group_signal(), "");
    let mut control = scene.control();
    let cast = the_promise::play(&scene, &mut owner);
    replace_supervisor(&owner);
    the_promise::kill_and_look(&mut owner, &mut control, &cast);
}

#[test]
fn without_pidfs_a_child_is_known_by_its_start() {
    let scene = Scene::new();
    let mut owner = owner_under(&scene, &without_pidfs(Filter::new()), "");
    the_promise::holds(&scene, &mut owner);
    let mut owner = owner_under(&scene, &without_pidfs(without_group_signal()), "");
    the_promise::holds(&scene, &mut owner);
}
