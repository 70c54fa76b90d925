//! The thread that spawned ends: the child lives. The process ends: the child dies. (The kernel's parent-death signal
//! means the thread, and is the classic trap.)

use super::deaths::{Death, SOON_GONE, for_each};
use super::support::{Process, eventually};

#[test]
fn spawning_thread_may_end() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let tag = scene.fresh_tag();
        // The library is begun in a thread that ends, too.
        let answer = doomed.owner.must(&format!("thread spawn tag={tag} -- sleeper"));
        let child = scene.seat(&tag, "sleeper");
        assert_eq!(answer["pid"], child.process.pid);
        let spawner_is_gone = || {
            // Main thread, keeper and watcher; the one that spawned is no more.
            doomed.owner.process().tasks().len() <= 3
        };
        eventually(SOON_GONE, "the spawning thread has ended", spawner_is_gone);
        // The supervisor has looked at this child since.
        doomed.owner.must(&format!("signal {} {}", child.process.pid, libc::SIGCONT));
        child.process.assert_alive("the child of a thread that has ended");
        let supervisor: Process = doomed.owner.supervisor();

        let moment = doomed.die();

        child.process.assert_gone_by(moment + SOON_GONE, "the child");
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
    });
}
