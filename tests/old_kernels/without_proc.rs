//! There is no /proc, or it shows another pid namespace, in which our numbers are other processes: what left its group
//! cannot be looked for, and `status` says so. The groups themselves die as ever, and none is taken for dead because
//! nobody could be seen in it.

use super::support::pidns::{Init, outside};
use super::support::process::{group_members, supervisor_of};
use super::support::reuse::Stranger;
use super::support::{Owner, Process, Scene, eventually, is_root, mounts, sys};
use super::the_promise::SOON;
use crate::{skip, test_name};
use std::path::Path;

/// True: the test has been run, inside, or cannot be.
macro_rules! done_inside {
    () => {{
        if !is_root() {
            skip!("a mount namespace of one's own needs root");
        }
        if outside(test_name!(), Init::Reaps) {
            return;
        }
    }};
}

#[test]
fn there_is_none() {
    done_inside!();
    groups_die(|| mounts::mount("tmpfs", Path::new("/proc"), 0, "").expect("hide /proc"));
}

/// Under the /proc of the namespace that the test lives in is that of the one around it.
#[test]
fn it_is_that_of_another_namespace() {
    done_inside!();
    groups_die(|| mounts::detach(Path::new("/proc")));
}

fn groups_die(hide: impl Fn() + Send + Sync) {
    let scene = Scene::new();
    let mut control = scene.control();
    let (mut owner, unseen) = std::thread::scope(|scope| {
        let begin = || {
            mounts::become_private().expect("a mount namespace");
            hide();
            // A number that is nobody's in the /proc that is left: nothing there speaks against the group.
            let unseen = (1_000..).find(|number| !Path::new(&format!("/proc/{number}")).exists()).expect("one");
            (scene.owner(), unseen)
        };
        scope.spawn(begin).join().expect("an owner")
    });
    // It could not tell when it was started.
    owner.moved_to(Process::open(owner.pid()).expect("it runs"));
    owner.must("configure grace=300");
    status_tells_it(&mut owner);
    assert_eq!(owner.guarantee("group_signal"), ("pidfd".into(), String::new()), "the rest is as strong as ever");
    assert_eq!(owner.guarantee("supervisor").0, "none", "none has run");
    let left = "trap '' TERM; sleep 600 & exit 0";
    let groups = [left, left, "trap '' TERM; sleep 600 & wait", "sleep 600 & wait"]
        .map(|line| owner.program("stdin=null stdout=null", "/bin/sh", &["-c", line]));
    groups[..2].iter().for_each(|&leader| assert_eq!(owner.wait(leader)["exited"], 0));
    status_tells_it(&mut owner);
    assert_eq!(owner.guarantee("supervisor").0, "memfd");

    let stranger = Stranger::with_pid(unseen).expect("a stranger with this number");
    let refusal = owner.ask(&format!("own {unseen}")).expect_err("nobody can tell who leads it");
    assert_eq!(refusal.name, "HERMES_ERR_IDENTITY", "{refusal:?}");

    let members = groups.map(|group| -> Vec<Process> {
        let members = || group_members(group).into_iter().filter_map(Process::open).collect::<Vec<_>>();
        eventually(SOON, "the group is complete", || !members().is_empty());
        members()
    });
    owner.must(&format!("stop {} 100", groups[0]));
    assert!(members[0].iter().all(Process::is_gone), "stop returned before the group was empty");
    assert_eq!(owner.slots_in_use(), 3);
    let pid = owner.pid();
    owner.kill();
    for member in members.iter().flatten() {
        member.assert_gone_by(sys::after(SOON), "a member of an owned group");
    }
    eventually(SOON, "the supervisor is gone", || supervisor_of(pid).is_none());
    stranger.assert_untouched();
    control.assert_unharmed();
}

fn status_tells_it(owner: &mut Owner) {
    let (value, why) = owner.guarantee("escapees");
    assert_eq!(value, "off");
    assert!(why.contains("/proc"), "{why}");
}
