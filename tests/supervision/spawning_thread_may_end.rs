//! The thread that spawned ends: the child lives. The process ends: the child dies. (The kernel's parent-death signal
//! means the thread, and is the classic trap.)

use super::deaths::{Death, SOON_GONE};
use super::support::{Process, Scene};

#[test]
fn spawning_thread_may_end() {
    for death in [Death::Kill, Death::Exit] {
        let scene = Scene::new();
        let mut control = scene.control();
        let mut doomed = death.owner(&scene);
        // The library is begun in a thread that ends, too.
        let answer = doomed.owner.must("thread spawn tag=by-thread -- sleeper");
        let child = scene.seat("by-thread", "sleeper");
        assert_eq!(answer["pid"], child.process.pid);
        let spawner_is_gone = || {
            // Main thread, keeper and watcher; the one that spawned is no more.
            doomed.owner.process().tasks().len() <= 3
        };
        super::support::eventually(SOON_GONE, "the spawning thread has ended", spawner_is_gone);
        // The supervisor has looked at this child since.
        doomed.owner.must(&format!("signal {} {}", child.process.pid, libc::SIGCONT));
        child.process.assert_alive("the child of a thread that has ended");
        let supervisor: Process = doomed.owner.supervisor();

        let moment = doomed.die();

        child.process.assert_gone_by(moment + SOON_GONE, "the child");
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
        control.assert_unharmed();
    }
}
