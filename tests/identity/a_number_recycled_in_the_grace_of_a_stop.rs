//! `stop` has sent TERM, the group ends in the grace, and its number is a stranger's when KILL is due: the stranger
//! lives, fifty times of fifty, whether the supervisor saw the change or slept through it. So does it when `signal` is
//! asked for meanwhile.

use super::recycling::{
    Kernel, SOON, STRANGERS, assert_untouched, done_inside, let_in_strangers, owner_on, recycle, stop,
};
use super::support::owner::Refusal;
use super::support::{Scene, Seat, eventually};
use serde_json::Value;
use std::time::{Duration, Instant};

#[test]
fn is_a_strangers_and_he_lives() {
    done_inside!();
    for kernel in [Kernel::Today, Kernel::WithoutGroupPidfd] {
        // Longer again where the machine was too slow to change all hands in time.
        let in_time = [2_000, 8_000, 30_000].iter().any(|&grace_ms| recycled_during_the_grace(kernel, grace_ms));
        assert!(in_time, "fifty numbers did not change hands within a grace of 30 s");
    }
}

/// False: KILL came before the numbers had changed hands, so nothing is shown.
fn recycled_during_the_grace(kernel: Kernel, grace_ms: u64) -> bool {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = owner_on(&scene, kernel);
    let begun: Vec<_> = (0..STRANGERS).map(|_| owner.spawn("canary")).collect();
    let children: Vec<Seat> = begun.iter().map(|started| scene.seat(started, "canary")).collect();
    let supervisor = owner.supervisor();
    let (grace, asked_at) = (Duration::from_millis(grace_ms), Instant::now());
    let jobs: Vec<Value> =
        children.iter().map(|child| owner.must(&format!("bg stop {} {grace_ms}", child.process.pid))).collect();
    eventually(SOON, "TERM has reached every child", || children.iter().all(|c| c.process.pending_signals() != 0));
    let all_are_due_at = Instant::now() + grace;

    // The supervisor sees these end.
    let (seen, slept_through) = children.split_at(STRANGERS / 2);
    let (jobs_seen, jobs_slept_through) = jobs.split_at(seen.len());
    for (child, job) in seen.iter().zip(jobs_seen) {
        child.process.signal(libc::SIGKILL).expect("end the child");
        owner.must(&format!("join {job}"));
        owner.wait(child.process.pid);
    }
    let mut strangers = let_in_strangers(seen);

    // And not these; when it goes on, KILL is due.
    stop(&supervisor);
    if slept_through.iter().any(|child| child.process.is_gone()) || asked_at.elapsed() > grace {
        return false;
    }
    strangers.extend(recycle(&mut owner, slept_through));
    let signal = |child: &Seat| owner.must(&format!("bg signal {} {}", child.process.pid, libc::SIGTERM));
    let signals: Vec<Value> = children.iter().map(signal).collect();
    for child in &children {
        let told = owner.ask(&format!("signal-leader {} {}", child.process.pid, libc::SIGTERM));
        assert_eq!(told.expect_err("the leader has ended").name, "HERMES_ERR_NOT_FOUND");
    }
    assert!(!strangers[0].process.gone_by(all_are_due_at), "a stranger has ended before anybody could touch him");
    supervisor.signal(libc::SIGCONT).expect("let it go on");

    for job in jobs_slept_through {
        // It is what a stop is for that the group has ended.
        owner.ask(&format!("join {job}")).map_or_else(|refusal| says_it_has_ended(&refusal), drop);
    }
    for job in &signals {
        says_it_has_ended(&owner.ask(&format!("join {job}")).expect_err("it reached nobody"));
    }
    eventually(SOON, "their slots are free", || owner.slots_in_use() == 0);
    assert_untouched(&strangers, &mut control);
    true
}

fn says_it_has_ended(refusal: &Refusal) {
    assert!(["HERMES_ERR_NO_SUCH_GROUP", "HERMES_ERR_IDENTITY"].contains(&&*refusal.name), "{refusal:?}");
}
