//! Under a subreaper an orphan's parent is not process 1. "Its parent is 1" means nothing to us, there or elsewhere.

use super::support::process::{Stat, numbers_in, supervisor_of};
use super::support::{Launch, Process, Scene, eventually, sys};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

/// Leaves an orphan of its own, notes its pid in the file `$0`, starts the owner, and stays when that has ended.
const HOST: &str = r#"(sleep 600 & echo $! > "$0"); "$@" & wait $!; exec sleep 600"#;

#[test]
fn escapees_are_found_and_other_orphans_are_left_alone() {
    let scene = Scene::new();
    let mut control = scene.control();
    let note = scene.folder().join("orphan");
    let actor = scene.actor();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", HOST]).arg(&note).arg(actor.get_program()).process_group(0);
    for (name, value) in actor.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // SAFETY: one system call.
    unsafe { command.pre_exec(|| sys::check(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1)).map(drop)) };
    let mut owner = scene.owner_from(command, Launch { over_socket: true });
    let reaper = Stat::of(owner.pid()).expect("the owner").ppid;
    owner.must("configure grace=300");
    let daemon = owner.spawn("daemon stubborn sleeper");
    let escapee = scene.seat(&daemon, "sleeper");
    let left = owner.spawn("leave-daemon sleeper");
    let ours = scene.seat(&left, "sleeper");
    owner.wait(left.pid);
    let supervisor = owner.supervisor();
    let orphan = std::fs::read_to_string(&note).expect("its pid").trim().parse().expect("a number");
    let stranger = Process::open(orphan).expect("an orphan of the host's");
    for process in [&escapee.process, &ours.process, &supervisor, &stranger] {
        eventually(SOON, "taken in by the subreaper", || process.stat().is_some_and(|stat| stat.ppid == reaper));
    }
    owner.process().signal(libc::SIGKILL).expect("kill the owner");
    for seat in [&escapee, &ours] {
        seat.process.assert_gone_by(sys::after(SOON), "an escapee under a subreaper");
    }
    supervisor.assert_gone_by(sys::after(SOON), "the supervisor");
    stranger.assert_alive("an orphan that was never ours");
    control.assert_unharmed();
}

#[test]
fn an_owner_that_is_a_subreaper_gets_no_zombie_of_ours_and_keeps_its_supervisor() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("subreaper");
    owner.must("configure grace=300 idle=50");
    let started = owner.spawn("sleeper");
    scene.seat(&started, "sleeper");
    let first = owner.supervisor();
    assert_eq!(first.stat().expect("it runs").ppid, owner.pid());
    first.signal(libc::SIGKILL).expect("kill the supervisor");
    let covered = || owner.must("status")["supervisor_generation"] == 2;
    eventually(SOON, "the next supervisor", covered);
    eventually(SOON, "the first is reaped", || first.stat().is_none());
    let second = owner.supervisor();
    owner.must(&format!("stop {} 1000", started.pid));
    owner.wait(started.pid);
    assert_eq!(owner.slots_in_use(), 0);
    // An end of the supervisor would be a SIGCHLD that the host did not ask for, so there is no idle exit.
    assert!(!second.gone_by(sys::after(Duration::from_millis(500))), "let go, as a child of its owner");
    let (_, why) = owner.guarantee("supervisor");
    assert!(why.contains("subreaper"), "status says so: {why:?}");
    assert_eq!(children_of(owner.pid()), [second.pid], "nothing else is there for the host to find");
    let daemon = owner.spawn("daemon stubborn sleeper");
    let escapee = scene.seat(&daemon, "sleeper");
    eventually(SOON, "the owner's own child", || escapee.process.stat().is_some_and(|s| s.ppid == owner.pid()));
    owner.kill();
    escapee.process.assert_gone_by(sys::after(SOON), "an escapee that its owner had taken in");
    eventually(SOON, "the supervisor is gone", || supervisor_of(owner.pid()).is_none());
    control.assert_unharmed();
}

/// Also zombies.
fn children_of(pid: i32) -> Vec<i32> {
    numbers_in("/proc").into_iter().filter(|&other| Stat::of(other).is_some_and(|stat| stat.ppid == pid)).collect()
}
