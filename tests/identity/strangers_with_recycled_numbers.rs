//! A group has ended, its number is a stranger's by now, and the roster still has it: the stranger lives, fifty times
//! of fifty. All of it in a pid namespace of the test's own, where numbers are free as soon as they are left.

use super::recycling::{
    Kernel, Kind, SOON, STRANGERS, assert_untouched, children, done_inside, ended_by, let_in_strangers, owner_on,
    recycle, stop,
};
use super::support::process::Stat;
use super::support::{Owner, Scene, Seat, eventually, reuse};
use serde_json::Value;
use std::time::Duration;

/// Asks for stop and signal by turns, each in a thread of its own, and returns the jobs.
fn ask_for_signals(owner: &mut Owner, children: &[Seat]) -> Vec<Value> {
    let ask = |(n, child): (usize, &Seat)| match (n % 2, child.process.pid) {
        (0, pid) => owner.must(&format!("bg stop {pid} 100")),
        (_, pid) => owner.must(&format!("bg signal {pid} {}", libc::SIGTERM)),
    };
    children.iter().enumerate().map(ask).collect()
}

/// A stop may find the group ended, which is what it is for; a signal may not find it; both may find a stranger.
fn answers_name_no_success_that_was_none(owner: &mut Owner, jobs: &[Value]) {
    for (n, job) in jobs.iter().enumerate() {
        match owner.ask(&format!("join {job}")) {
            Ok(_) => assert_eq!(n % 2, 0, "a signal that reached nobody was reported as sent"),
            Err(e) => assert!(["HERMES_ERR_NO_SUCH_GROUP", "HERMES_ERR_IDENTITY"].contains(&&*e.name), "{e:?}"),
        }
    }
}

#[test]
fn stop_and_signal_do_not_touch_them() {
    done_inside!();
    for kernel in [Kernel::Today, Kernel::WithoutGroupPidfd] {
        let scene = Scene::new();
        let mut control = scene.control();
        let mut owner = owner_on(&scene, kernel);
        let children = children(&scene, &mut owner, STRANGERS, Kind::Spawned);
        // Half of the requests come while the supervisor cannot have seen the end of the groups yet.
        let supervisor = owner.supervisor();
        stop(&supervisor);
        let strangers = recycle(&mut owner, &children);
        let half = STRANGERS / 2;
        let mut jobs = ask_for_signals(&mut owner, &children[..half]);
        supervisor.signal(libc::SIGCONT).expect("let it go on");
        jobs.extend(ask_for_signals(&mut owner, &children[half..]));
        answers_name_no_success_that_was_none(&mut owner, &jobs[..half]);
        answers_name_no_success_that_was_none(&mut owner, &jobs[half..]);
        eventually(SOON, "their slots are free", || owner.slots_in_use() == 0);
        assert_untouched(&strangers, &mut control);
    }
}

#[test]
fn the_owners_death_does_not_touch_them() {
    done_inside!();
    for kernel in [Kernel::Today, Kernel::WithoutGroupPidfd] {
        let scene = Scene::new();
        let mut control = scene.control();
        let mut owner = owner_on(&scene, kernel);
        owner.must("configure grace=300");
        let children = children(&scene, &mut owner, STRANGERS, Kind::Mixed);
        let started = owner.spawn("stubborn sleeper");
        let real = scene.seat(&started, "sleeper");
        let supervisor = owner.supervisor();
        stop(&supervisor);
        let strangers = recycle(&mut owner, &children);
        owner.kill();
        supervisor.signal(libc::SIGCONT).expect("let it go on");
        ended_by(&real.process, SOON, "the child that is really ours");
        ended_by(&supervisor, SOON, "the supervisor");
        assert_untouched(&strangers, &mut control);
    }
}

#[test]
fn a_supervisor_started_later_does_not_touch_them() {
    done_inside!();
    for kernel in [Kernel::Today, Kernel::WithoutGroupPidfd] {
        let scene = Scene::new();
        let mut control = scene.control();
        let mut owner = owner_on(&scene, kernel);
        owner.must("configure grace=300");
        let children = children(&scene, &mut owner, STRANGERS, Kind::Mixed);
        let started = owner.spawn("stubborn sleeper");
        let real = scene.seat(&started, "sleeper");
        let first = owner.supervisor();
        stop(&first);
        let strangers = recycle(&mut owner, &children);
        first.signal(libc::SIGKILL).expect("kill the supervisor");
        eventually(SOON, "the next supervisor has freed their slots", || {
            let status = owner.must("status");
            status["supervisor_generation"] == 2 && status["slots_in_use"] == 1
        });
        assert_untouched(&strangers, &mut control);
        let second = owner.supervisor();
        assert_ne!(second.pid, first.pid);
        owner.kill();
        ended_by(&real.process, SOON, "the child that is really ours");
        ended_by(&second, SOON, "the supervisor");
        assert_untouched(&strangers, &mut control);
    }
}

#[test]
fn a_group_that_ends_during_the_grace_leaves_its_number_to_a_stranger() {
    done_inside!();
    for kernel in [Kernel::Today, Kernel::WithoutGroupPidfd] {
        // Longer again where the machine was too slow to change all hands in time.
        let in_time = [2_500, 10_000, 30_000].iter().any(|&grace_ms| recycled_during_the_grace(kernel, grace_ms));
        assert!(in_time, "fifty strangers were not started within a grace of 30 s");
    }
}

/// False: KILL came before the last stranger, so nothing is shown.
fn recycled_during_the_grace(kernel: Kernel, grace_ms: u32) -> bool {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_on(&scene, kernel);
    owner.must(&format!("configure grace={grace_ms}"));
    let children = children(&scene, &mut owner, STRANGERS, Kind::Mixed);
    // What makes the grace last: KILL comes for this one, when all numbers have changed hands.
    let started = owner.spawn("stubborn sleeper");
    let stubborn = scene.seat(&started, "sleeper");
    let supervisor = owner.supervisor();
    owner.kill();
    children.iter().for_each(|child| ended_by(&child.process, SOON, "a child that obeys TERM"));
    let strangers = let_in_strangers(&children);
    let in_time = stubborn.process.is_alive();
    let limit = Duration::from_millis(grace_ms.into()) + SOON;
    ended_by(&stubborn.process, limit, "the child that ignores TERM");
    ended_by(&supervisor, SOON, "the supervisor");
    assert_untouched(&strangers, &mut control);
    in_time
}

#[test]
fn a_number_that_came_back_as_ours_is_covered_anew() {
    done_inside!();
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    let first = children(&scene, &mut owner, 2, Kind::Mixed);
    let supervisor = owner.supervisor();
    stop(&supervisor);
    let strangers = recycle(&mut owner, &first);
    // The slots still say these numbers, and now the host wants the groups that have them.
    for stranger in &strangers {
        owner.must(&format!("own {0} {0}", stranger.process.pid));
    }
    supervisor.signal(libc::SIGCONT).expect("let it go on");
    eventually(SOON, "the old slots are free, the new ones are not", || owner.slots_in_use() == 2);
    owner.kill();
    for stranger in &strangers {
        ended_by(&stranger.process, SOON, "a group that was taken over");
    }
    control.assert_unharmed();
}

#[test]
fn a_child_of_the_hosts_with_a_recycled_number_is_not_waited_for_in_its_place() {
    done_inside!();
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    for ask in ["wait", "try-wait", "wait 5000", "exit-fd", "drop"] {
        let started = owner.spawn("sleeper");
        let ours = scene.seat(&started, "sleeper").process;
        ours.signal(libc::SIGKILL).expect("kill our child");
        owner.must(&format!("reap {}", ours.pid));
        eventually(SOON, "its slot is free, or another spawn gets its number", || owner.slots_in_use() == 0);
        reuse::let_a_tick_pass(ours.start_ticks);
        // The host starts one of its own, which gets the number and has ended, too.
        eventually(SOON, "a child of the host's with this number", || {
            std::fs::write("/proc/sys/kernel/ns_last_pid", (ours.pid - 1).to_string()).expect("choose the next pid");
            let next = owner.foreign("exit 9").pid;
            next == ours.pid || owner.must(&format!("reap {next}"))["pid"] != next
        });
        eventually(SOON, "it has ended", || Stat::of(ours.pid).is_some_and(|stat| stat.state == 'Z'));
        let (verb, limit) = ask.split_once(' ').unwrap_or((ask, ""));
        let told = owner.must(&format!("{verb} {} {limit}", ours.pid));
        match ask {
            "drop" => assert!(told.is_null()),
            "exit-fd" => assert_eq!(told["record"]["kind"], 2, "{told}"),
            _ => assert_eq!(told, "unknown", "{ask}"),
        }
        // What `drop` asks for is done by another thread, and this comes after it.
        let probe = owner.program("stdin=null", "/bin/true", &[]);
        owner.must(&format!("exit-fd {probe}"));
        assert_eq!(
            owner.must(&format!("reap {}", ours.pid))["status"],
            9 << 8,
            "{ask}: the host's child is the host's"
        );
    }
    control.assert_unharmed();
}
