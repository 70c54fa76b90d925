//! A forked copy without exec holds whatever the owner held, and lives on: the owner's death is seen all the same. A
//! host that closes every descriptor it does not know is not taken for dead, and dies properly later.

use super::deaths::{Death, GRACE, SOON_GONE, for_each};
use super::support::Scene;

#[test]
fn a_forked_worker_does_not_hide_the_owners_death() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let first = doomed.owner.spawn("stubborn server");
        let first = scene.seat(&first, "server");
        // Forked after the library has begun, and before more children.
        let tag = scene.fresh_tag();
        doomed.owner.must(&format!("fork-worker {tag}"));
        let worker = scene.seat(&tag, "worker");
        let second = doomed.owner.spawn("stubborn sleeper");
        let second = scene.seat(&second, "sleeper");

        let moment = doomed.die();

        first.process.assert_gone_by(moment + SOON_GONE, "the first child");
        second.process.assert_gone_by(moment + SOON_GONE, "the second child");
        // Its terminal is the worker's too.
        if doomed.death != Death::Hangup {
            worker.process.assert_alive("the worker, which is none of ours");
        }
    });
}

#[test]
fn closing_everything_is_not_death() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let early = owner.spawn("canary");
    let early = scene.seat(&early, "canary");
    let supervisor = owner.supervisor();

    // As a host does before it starts a program: everything but the standard streams, in one thread of several.
    owner.must("closerange 3 65535");

    // The supervisor does what it is asked to, and has done nothing else.
    owner.must(&format!("signal {} {}", early.process.pid, libc::SIGCONT));
    let only_cont = 1 << (libc::SIGCONT - 1);
    assert_eq!(early.process.pending_signals(), only_cont, "the child was signalled");
    supervisor.assert_alive("the supervisor");
    let late = owner.spawn("stubborn sleeper");
    let late = scene.seat(&late, "sleeper");

    let moment = owner.kill();

    early.process.assert_gone_by(moment + SOON_GONE, "the early child");
    late.process.assert_gone_by(moment + SOON_GONE, "the late child");
    control.assert_unharmed();
}
