//! The supervisor is killed, then one family is released, then the owner dies: the others die, and to the released one
//! nothing comes. The host gets no SIGPIPE and sees no child that it did not start.

use super::deaths::{Death, SOON_GONE, for_each};
use super::support::Process;
use super::support::deadline::eventually_some;
use super::support::process::supervisor_of;

#[test]
fn supervisor_is_replaced() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let owner = &mut doomed.owner;
        // A Rust program ignores SIGPIPE; a host that does not would die of one.
        owner.must(&format!("default {}", libc::SIGPIPE));
        let (covered, released) = (owner.spawn("stubborn server"), owner.spawn("deaf daemon canary"));
        let foreign = owner.foreign("sleeper");
        let foreign = scene.seat(&foreign, "sleeper");
        owner.must(&format!("own {}", foreign.process.pid));
        let covered = scene.seat(&covered, "server");
        // The leader, and what has left its group and its session.
        let family = ["daemon", "canary"].map(|role| scene.seat(&released, role));
        let first = owner.supervisor();

        first.signal(libc::SIGKILL).expect("kill the supervisor");
        let second: Process = eventually_some(SOON_GONE, "another supervisor", || {
            supervisor_of(owner.pid()).filter(|found| found.pid != first.pid || found.start_ticks != first.start_ticks)
        });
        // It is at work, and knows the group that was registered with its predecessor.
        owner.must(&format!("signal {} {}", covered.process.pid, libc::SIGCONT));
        assert_eq!(owner.must("status")["supervisor_generation"], 2);
        assert_eq!(owner.must("wait-any")["pid"], 0, "children there are, but none that has ended");
        owner.must(&format!("release {}", released.pid));

        let moment = doomed.die();

        covered.process.assert_gone_by(moment + SOON_GONE, "the covered child");
        foreign.process.assert_gone_by(moment + SOON_GONE, "the group that was taken over");
        second.assert_gone_by(moment + SOON_GONE, "the second supervisor");
        family.iter().for_each(|seat| seat.process.assert_untouched("the released family"));
    });
}
