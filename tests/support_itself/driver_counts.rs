//! The ptrace driver counts one process' system calls and kills it at each of them.

use super::support::ptrace::{End, Plan, Target, run};
use super::support::{Scene, within};
use std::process::Command;
use std::time::{Duration, Instant};

/// Three threads, one after the other, a fork without exec, a vfork and exec, and an end: the same calls every time.
fn busy(scene: &Scene) -> Command {
    let mut command = scene.actor();
    command.args(["child"]).arg(scene.mail_path()).args(["busy", "busy"]);
    command
}

#[test]
fn counts_are_reproducible() {
    let scene = Scene::new();
    let plan = Plan { record: true, ..Plan::count(Target::Program) };
    let runs: Vec<Vec<u64>> = (0..5)
        .map(|_| {
            let report = run(busy(&scene), plan).expect("run");
            assert!(matches!(report.end, End::Finished(status) if status.code() == Some(7)), "{report:?}");
            assert_eq!(report.log.len() as u64, report.stops);
            // Which thread is first after a clone is nobody's to say; what they call, in all, is the same.
            let mut calls: Vec<u64> = report.log.iter().filter_map(|stop| stop.call).collect();
            calls.sort_unstable();
            calls
        })
        .collect();
    assert!(runs[0].len() > 50);
    for other in &runs[1..] {
        let differs = runs[0].iter().zip(other).find(|(a, b)| a != b);
        assert!(runs[0] == *other, "{} and {} calls, {differs:?}", runs[0].len(), other.len());
    }
}

#[test]
fn from_the_mark_on_there_is_less_to_count() {
    let scene = Scene::new();
    let all = run(busy(&scene), Plan::count(Target::Program)).expect("run").stops;
    let marked = run(busy(&scene), Plan::count(Target::ProgramFromMark)).expect("run");
    assert!(marked.stops > 10 && marked.stops < all, "{} of {all}", marked.stops);
    let mut without = Command::new("/bin/true");
    without.env_clear();
    assert_eq!(run(without, Plan::count(Target::ProgramFromMark)).expect("run").end, End::NeverBegan);
}

#[test]
fn a_plain_program_dies_at_every_stop() {
    let mut last = None;
    for stop in 1.. {
        let report = run(Command::new("/bin/true"), Plan::kill(Target::Program, stop)).expect("run");
        match report.end {
            End::Killed => assert_eq!(report.stops, stop),
            End::Finished(status) => {
                assert!(status.success());
                last = Some(stop);
                break;
            }
            other => panic!("stop {stop}: {other:?}"),
        }
    }
    assert!(last.expect("it finishes in the end") > 20);
}

#[test]
fn a_program_of_many_parts_dies_at_every_stop_and_its_children_live() {
    let scene = Scene::new();
    let count = run(busy(&scene), Plan::count(Target::ProgramFromMark)).expect("run").stops;
    let mut survivors = 0;
    let mut spent = Duration::ZERO;
    for stop in 1..=count {
        let start = Instant::now();
        let report = run(busy(&scene), Plan::kill(Target::ProgramFromMark, stop)).expect("run");
        spent += start.elapsed();
        assert_eq!(report.end, End::Killed, "at {stop} of {count}");
        // What it had started by then was never traced, and is not stopped either.
        let left = scene.marked();
        survivors += left.len();
        for process in left {
            let running = || process.stat().is_none_or(|stat| stat.state != 't' && stat.state != 'T');
            assert!(within(Duration::from_secs(5), running), "stop {stop}: {:?}", process.stat());
            let _ = process.signal(libc::SIGKILL);
        }
    }
    assert!(survivors > 0, "no child outlived its parent: that was no test");
    eprintln!("{count} stops, {:?} a run", spent / count as u32);
}

#[test]
fn stops_and_signals_are_delivered_on() {
    let scene = Scene::new();
    let mut command = Command::new("/bin/sh");
    // Stopped by itself, continued by a helper, then ended by a signal of its own.
    command.args(["-c", "trap 'exit 9' USR1; (sleep 0.2; kill -CONT $$) & kill -STOP $$; kill -USR1 $$; exit 3"]);
    let report = run(command, Plan::count(Target::Program)).expect("run");
    assert!(matches!(report.end, End::Finished(status) if status.code() == Some(9)), "{report:?}");
    drop(scene);
}

#[test]
fn the_deadline_ends_a_run_that_hangs() {
    let mut command = Command::new("/bin/sleep");
    command.arg("1000");
    let plan = Plan { deadline: Duration::from_millis(300), ..Plan::count(Target::Program) };
    let start = Instant::now();
    assert_eq!(run(command, plan).expect("run").end, End::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// A stand-in for an owner: it starts a program by the supervisor's name, through a process with no exit signal.
#[test]
fn the_supervisor_is_followed_and_its_owner_is_not() {
    let scene = Scene::new();
    let mut command = scene.actor();
    command.arg("child").arg(scene.mail_path()).args(["stand-in", "stand-in"]);
    let count = run_stand_in(&scene, command, Plan::count(Target::Supervisor));
    assert!(count > 20, "{count}");
    for stop in [1, 2, count / 2, count] {
        let mut command = scene.actor();
        command.arg("child").arg(scene.mail_path()).args(["stand-in", "stand-in"]);
        assert_eq!(run_stand_in(&scene, command, Plan::kill(Target::Supervisor, stop)), stop);
    }
}

fn run_stand_in(scene: &Scene, command: Command, plan: Plan) -> u64 {
    let mut traced = super::support::ptrace::Traced::start(command, plan).expect("start");
    let mut child = traced.child.take().expect("started");
    let owner = scene.seat("stand-in", "stand-in");
    let report = traced.report();
    match plan.kill_at {
        Some(_) => assert_eq!(report.end, End::Killed),
        None => assert!(matches!(report.end, End::Finished(_)), "{report:?}"),
    }
    assert_ne!(report.target, owner.process.pid);
    owner.process.assert_alive("the owner of a killed supervisor");
    let untraced = || super::support::process::status_field(owner.process.pid, "TracerPid:").as_deref() == Some("0");
    assert!(within(Duration::from_secs(5), untraced));
    owner.process.signal(libc::SIGKILL).expect("end the stand-in");
    let _ = child.wait();
    report.stops
}
