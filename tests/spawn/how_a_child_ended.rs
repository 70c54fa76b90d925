//! How a child ended is told once to the kernel and to everybody who asks, exactly, and never by guess.

use super::support::process::{Stat, numbers_in};
use super::support::{Owner, Process, Scene, eventually};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(10);

fn shell(owner: &mut Owner, line: &str) -> i32 {
    owner.program("stdin=null stdout=null", "/bin/sh", &["-c", line])
}

fn children_of(pid: i32) -> Vec<i32> {
    numbers_in("/proc").into_iter().filter(|&other| Stat::of(other).is_some_and(|stat| stat.ppid == pid)).collect()
}

fn record(kind: i32, code: i32) -> Value {
    json!({ "bytes": 16, "record": { "size": 16, "kind": kind, "code": code, "core_dumped": 0 } })
}

#[test]
fn codes_and_signals_are_exact_in_every_way_of_asking() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("no-core");
    for code in [0, 1, 3, 127, 128, 255] {
        let pid = shell(&mut owner, &format!("exit {code}"));
        assert_eq!(owner.must(&format!("exit-fd {pid}")), record(0, code));
        assert_eq!(owner.wait(pid)["exited"], code, "wait after the exit descriptor");
        assert_eq!(owner.must(&format!("try-wait {pid}"))["exited"], code, "and again");
        assert_eq!(owner.must(&format!("exit-fd {pid}")), record(0, code), "a descriptor for what has ended");
    }
    for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGSEGV, libc::SIGPIPE, 34, 64] {
        let started = owner.spawn(&format!("raise {signal}"));
        let ended = owner.wait_within(started.pid, SOON);
        assert_eq!(ended, json!({ "signalled": signal, "core_dumped": false }));
        assert_eq!(owner.wait(started.pid), ended);
        assert_eq!(owner.must(&format!("exit-fd {}", started.pid)), record(1, signal));
    }
    assert_eq!(owner.slots_in_use(), 0);
    assert_eq!(children_of(owner.pid()), [0; 0], "no zombie");
    control.assert_unharmed();
}

#[test]
fn a_child_that_runs_is_not_waited_for_longer_than_was_said() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let pid = shell(&mut owner, "exec sleep 600");
    assert!(owner.must(&format!("try-wait {pid}")).is_null());
    assert!(owner.wait_within(pid, Duration::ZERO).is_null());
    let begin = Instant::now();
    assert!(owner.wait_within(pid, Duration::from_millis(150)).is_null());
    assert!((Duration::from_millis(150)..Duration::from_secs(2)).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    let waits = [owner.must(&format!("bg wait {pid} 100000")), owner.must(&format!("bg exit-fd {pid}"))];
    Process::open(pid).expect("it runs").signal(libc::SIGKILL).expect("kill");
    assert_eq!(owner.must(&format!("join {}", waits[0]))["signalled"], libc::SIGKILL);
    assert_eq!(owner.must(&format!("join {}", waits[1])), record(1, libc::SIGKILL));
    control.assert_unharmed();
}

#[test]
fn threads_that_wait_at_once_are_all_told() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    for _ in 0..20 {
        let pid = shell(&mut owner, "exec sleep 600");
        let commands = ["wait", "wait", "wait", "exit-fd"];
        let mut waits: Vec<Value> = commands.iter().map(|c| owner.must(&format!("bg {c} {pid}"))).collect();
        waits.push(owner.must(&format!("bg wait {pid} 100000")));
        Process::open(pid).expect("it runs").signal(libc::SIGTERM).expect("end it");
        for (n, job) in waits.iter().enumerate() {
            let told = owner.must(&format!("join {job}"));
            match n {
                3 => assert_eq!(told, record(1, libc::SIGTERM)),
                _ => assert_eq!(told["signalled"], libc::SIGTERM, "{n}: {told}"),
            }
        }
    }
    assert_eq!(children_of(owner.pid()), [0; 0]);
    control.assert_unharmed();
}

#[test]
fn a_status_that_the_host_took_is_unknown_and_not_a_hang() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    for ask in ["wait", "try-wait", "wait 10000"] {
        let pid = shell(&mut owner, "exit 7");
        assert_eq!(owner.must(&format!("reap {pid}"))["status"], 7 << 8, "the host was first");
        let (verb, limit) = ask.split_once(' ').unwrap_or((ask, ""));
        assert_eq!(owner.must(&format!("{verb} {pid} {limit}")), "unknown", "{ask}");
        assert_eq!(owner.wait(pid), "unknown", "and it stays so");
        assert_eq!(owner.must(&format!("exit-fd {pid}")), record(2, 0));
    }
    // A wait that has begun before the host takes the status: whoever was first, nobody hangs.
    for _ in 0..20 {
        let pid = shell(&mut owner, "exec sleep 600");
        let jobs = [format!("bg wait {pid}"), format!("bg reap {pid}"), format!("bg wait {pid} 100000")];
        let jobs = jobs.map(|command| owner.must(&command));
        Process::open(pid).expect("it runs").signal(libc::SIGTERM).expect("end it");
        let [first, host, second] = jobs.map(|job| owner.must(&format!("join {job}")));
        assert_eq!(first, second, "one answer for everybody");
        let host_was_first = host["pid"] == pid;
        assert_eq!(first == "unknown", host_was_first, "{first} {host}");
    }
    eventually(SOON, "no slot is left", || owner.slots_in_use() == 0);
    control.assert_unharmed();
}

#[test]
fn a_host_that_ignores_sigchld_gets_unknown_and_not_a_hang() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("ignore {}", libc::SIGCHLD));
    // A child that lives on: waiting must not mean waiting for all of them.
    let other = shell(&mut owner, "exec sleep 600");
    for ask in ["wait", "wait 10000"] {
        let pid = shell(&mut owner, "exit 0");
        let (verb, limit) = ask.split_once(' ').unwrap_or((ask, ""));
        assert_eq!(owner.must(&format!("{verb} {pid} {limit}")), "unknown", "{ask}: never 0 by guess");
    }
    let pid = shell(&mut owner, "exit 0");
    assert_eq!(owner.must(&format!("exit-fd {pid}")), record(2, 0));
    eventually(SOON, "try-wait sees it", || owner.must(&format!("try-wait {pid}")) == "unknown");
    owner.must(&format!("stop {other} 5000"));
    assert_eq!(owner.wait(other), "unknown");
    eventually(SOON, "no slot is left", || owner.slots_in_use() == 0);
    control.assert_unharmed();
}

#[test]
fn a_dropped_handle_leaves_no_zombie_and_its_child_covered() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    for _ in 0..10 {
        let ends = shell(&mut owner, "exit 0");
        owner.must(&format!("drop {ends}"));
    }
    let pid = shell(&mut owner, "exec sleep 600");
    let stays = Process::open(pid).expect("it runs");
    owner.must(&format!("drop {pid}"));
    eventually(SOON, "the ten are reaped", || children_of(owner.pid()) == [pid]);
    eventually(SOON, "the eleventh has its slot", || owner.slots_in_use() == 1);
    stays.assert_alive("dropping a handle stops nothing");
    let pid = shell(&mut owner, "exec sleep 600");
    owner.must(&format!("drop {pid}"));
    Process::open(pid).expect("it runs").signal(libc::SIGKILL).expect("kill");
    eventually(SOON, "one that ended later is reaped too", || children_of(owner.pid()) == [stays.pid]);
    owner.kill();
    stays.assert_gone_by(super::support::sys::after(SOON), "a child without a handle");
    control.assert_unharmed();
}

#[test]
fn signal_reaches_the_whole_group_and_says_when_there_is_none() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("with canary");
    let (leader, member) = (scene.seat(&started, "with"), scene.seat(&started, "canary"));
    for bad in [0, -1, 65, 1000] {
        let refusal = owner.ask(&format!("signal {} {bad}", started.pid)).expect_err("no signal");
        assert_eq!(refusal.name, "HERMES_ERR_INVALID_ARGUMENT");
        assert!(refusal.message.contains(&bad.to_string()), "{refusal:?}");
    }
    owner.must(&format!("signal {} {}", started.pid, libc::SIGUSR1));
    assert_ne!(member.process.pending_signals() & 1 << (libc::SIGUSR1 - 1), 0, "the member has it");
    leader.process.assert_gone_by(super::support::sys::after(SOON), "the leader, which USR1 ends");
    owner.must(&format!("stop {} 0", started.pid));
    assert!(member.process.is_gone(), "stop returns when nothing in the group runs");
    assert_eq!(owner.wait(started.pid)["signalled"], libc::SIGUSR1);
    owner.must(&format!("stop {} 0", started.pid));
    let refusal = owner.ask(&format!("signal {} {}", started.pid, libc::SIGTERM)).expect_err("it has ended");
    assert_eq!(refusal.name, "HERMES_ERR_NO_SUCH_GROUP", "{refusal:?}");
    assert!(refusal.message.contains(&started.pid.to_string()), "{refusal:?}");
    control.assert_unharmed();
}

#[test]
fn what_was_released_is_no_longer_ours_to_signal() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("canary");
    let seat = scene.seat(&started, "canary");
    owner.must(&format!("release {}", started.pid));
    for command in [format!("stop {} 0", started.pid), format!("signal {} 9", started.pid)] {
        let refusal = owner.ask(&command).expect_err("released");
        assert_eq!(refusal.name, "HERMES_ERR_NOT_FOUND", "{refusal:?}");
        assert!(refusal.message.contains("released"), "{refusal:?}");
    }
    seat.process.assert_untouched("what was released");
    seat.process.signal(libc::SIGKILL).expect("end it");
    assert_eq!(owner.wait(started.pid)["signalled"], libc::SIGKILL, "its end is still told");
    control.assert_unharmed();
}
