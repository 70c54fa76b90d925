//! A user who may have no more processes: each step on the way to a child fails once, and says what to do about it.

use super::support::{Launch, Owner, Scene, is_root};
use crate::skip;
use std::os::unix::process::CommandExt;
use std::sync::atomic::{AtomicU32, Ordering};

const NO_ROOM: &str = "RLIMIT_NPROC";
const NOBODY: u32 = 65534;

/// An owner of a user of its own: the kernel counts the processes of a user.
fn owner(scene: &Scene) -> Owner {
    static NEXT: AtomicU32 = AtomicU32::new(1 << 30);
    scene.open_to_other_users();
    let mut command = scene.actor();
    command.uid(NEXT.fetch_add(1, Ordering::SeqCst) + 16 * std::process::id()).gid(NOBODY);
    scene.owner_from(command, Launch::default())
}

#[test]
fn a_supervisor_that_finds_none_says_so() {
    if !is_root() {
        skip!("a user of one's own needs root");
    }
    // Room for the owner alone; with one thread; with both; and for the process between it and the supervisor.
    for (limit, step) in [(1, "clone"), (2, "spawn-watcher"), (3, "clone"), (4, "clone")] {
        let scene = Scene::new();
        let mut owner = owner(&scene);
        owner.must(&format!("processes {limit}"));
        let refusal = owner.try_program("stdin=null", "/bin/true", &[]).expect_err("no room");
        assert_eq!(refusal.name, "HERMES_ERR_SUPERVISOR", "{limit}: {refusal:?}");
        let says = |what: &str| assert!(refusal.message.contains(what), "{limit}: {what} is not in {refusal:?}");
        says(step);
        says("Resource temporarily unavailable");
        says(NO_ROOM);
        assert!(!refusal.message.contains("noexec"), "{limit}: the wrong way out: {refusal:?}");
    }
}

#[test]
fn a_child_that_finds_none_says_so() {
    if !is_root() {
        skip!("a user of one's own needs root");
    }
    let scene = Scene::new();
    let mut owner = owner(&scene);
    owner.spawn("sleeper");
    // The owner with its two threads, the supervisor, and the child that there is.
    owner.must("processes 5");
    let refusal = owner.try_program("stdin=null", "/bin/true", &[]).expect_err("no room");
    assert_eq!((refusal.name.as_str(), refusal.step.as_str()), ("HERMES_ERR_SPAWN", "clone"), "{refusal:?}");
    assert_eq!(refusal.errno, Some(libc::EAGAIN.into()));
    assert!(refusal.message.contains(NO_ROOM), "{refusal:?}");
    assert_eq!(owner.slots_in_use(), 1, "nothing is left of it");
}
