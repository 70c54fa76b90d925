//! close_range(2) is refused by filters that are older than it, or knows no CLOSE_RANGE_UNSHARE; unshare(2) may be
//! refused too. Then one pipe in the host's own table is the lifeline, and only the owner's pidfd is proof.

use super::support::seccomp::{Action, Filter};
use super::support::{Owner, Scene, eventually, sys};
use super::the_promise::{self, SOON, added_descriptors, owner_under, replace_supervisor};

/// `CLOSE_RANGE_UNSHARE` (linux/close_range.h).
const UNSHARE: u32 = 2;

fn without_unshare_flag() -> Filter {
    Filter::new().when_masked(libc::SYS_close_range, 2, UNSHARE, UNSHARE, Action::Errno(libc::EINVAL))
}

fn without_close_range(errno: i32) -> Filter {
    Filter::new().on(libc::SYS_close_range, Action::Errno(errno))
}

fn without_unshare(filter: Filter) -> Filter {
    filter.on(libc::SYS_unshare, Action::Errno(libc::EPERM))
}

#[test]
fn unshare_gives_a_thread_its_own_table_as_well() {
    let scene = Scene::new();
    for filter in [without_unshare_flag(), without_close_range(libc::ENOSYS), without_close_range(libc::EPERM)] {
        let mut owner = owner_under(&scene, &filter, "");
        owner.must("listen");
        owner.must("open-many 500");
        let before = owner.process().descriptors();
        let mut control = scene.control();
        let cast = the_promise::play(&scene, &mut owner);
        assert_eq!(owner.guarantee("lifeline"), ("private-tables".into(), String::new()));
        assert_eq!(added_descriptors(&owner, &before), [""; 0], "none of ours in the host's table");
        hold_nothing_of_the_hosts(&owner);
        replace_supervisor(&owner);
        the_promise::kill_and_look(&mut owner, &mut control, &cast);
    }
}

fn hold_nothing_of_the_hosts(owner: &Owner) {
    let others: Vec<i32> = owner.process().tasks().into_iter().filter(|&tid| tid != owner.pid()).collect();
    assert_eq!(others.len(), 2, "keeper and watcher");
    for tid in others {
        let held = super::support::process::descriptors(&format!("/proc/{}/task/{tid}/fd", owner.pid()));
        let sockets = held.iter().filter(|(_, link)| link.starts_with("socket:")).count();
        assert!(held.len() < 20 && sockets == 0, "{held:?}");
    }
}

#[test]
fn a_child_gets_no_descriptor_of_the_hosts_without_close_range_either() {
    let scene = Scene::new();
    let mut owner = owner_under(&scene, &without_close_range(libc::ENOSYS), "");
    let many = owner.must("open-many 3000");
    let passed = many["last"].as_i64().expect("fd");
    let options = format!("stdin=null stdout=null stderr=null pass={passed}");
    let started = owner.spawn_with(&options, "inspect");
    let seat = scene.seat(&started, "inspect");
    let expected = serde_json::json!(
        { "0": "/dev/null", "1": "/dev/null", "2": "/dev/null", passed.to_string(): "/dev/null" }
    );
    assert_eq!(seat.detail["fds"], expected);
}

/// The strongest that is left: a pipe in the host's table.
fn without_private_tables() -> [Filter; 2] {
    [without_unshare(without_unshare_flag()), without_unshare(without_close_range(libc::ENOSYS))]
}

#[test]
fn without_a_private_table_the_promise_holds_and_status_says_what_is_weaker() {
    let scene = Scene::new();
    for filter in without_private_tables() {
        let mut owner = owner_under(&scene, &filter, "");
        let mut control = scene.control();
        let cast = the_promise::play(&scene, &mut owner);
        let (value, why) = owner.guarantee("lifeline");
        assert_eq!(value, "at-fork+pidfd");
        assert!(why.contains("unshare"), "{why}");
        the_promise::kill_and_look(&mut owner, &mut control, &cast);
    }
}

#[test]
fn there_the_end_of_the_pipe_is_no_death() {
    let scene = Scene::new();
    let mut control = scene.control();
    let [filter, _] = without_private_tables();
    let mut owner = owner_under(&scene, &filter, "");
    let started = owner.spawn("canary");
    let canary = scene.seat(&started, "canary");
    let tag = scene.fresh_tag();
    owner.must(&format!("fork-worker {tag}"));
    let worker = scene.seat(&tag, "worker");
    // A host that closes what it does not know; the test's own line is on 3 and 4.
    owner.must("closerange 5 4294967295");
    let next = owner.ask("spawn tag=next -- canary");
    canary.process.assert_untouched("a child of a living owner");
    if let Err(refusal) = &next {
        assert_eq!(refusal.name, "HERMES_ERR_SUPERVISOR", "{refusal:?}");
        assert!(refusal.message.contains("closed"), "{refusal:?}");
    }
    let pid = owner.pid();
    owner.kill();
    canary.process.assert_gone_by(sys::after(SOON), "the child");
    eventually(SOON, "the supervisor is gone", || super::support::process::supervisor_of(pid).is_none());
    worker.process.assert_alive("a forked copy is not a child of the library's");
    control.assert_unharmed();
}
