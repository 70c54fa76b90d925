//! The supervisor is killed, then one group is released, then the owner is killed: the others die, the released one
//! lives. The host gets no SIGPIPE and sees no child that it did not start.

use super::deaths::{GRACE, SOON_GONE};
use super::support::deadline::eventually_some;
use super::support::process::supervisor_of;
use super::support::{Process, Scene};

#[test]
fn supervisor_is_replaced() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    // A Rust program ignores SIGPIPE; a host that does not would die of one.
    owner.must(&format!("default {}", libc::SIGPIPE));
    let (covered, released) = (owner.spawn("stubborn server"), owner.spawn("stubborn sleeper"));
    let foreign = owner.foreign("sleeper");
    let foreign = scene.seat(&foreign, "sleeper");
    owner.must(&format!("own {}", foreign.process.pid));
    let (covered, released) = (scene.seat(&covered, "server"), scene.seat(&released, "sleeper"));
    let first = owner.supervisor();

    first.signal(libc::SIGKILL).expect("kill the supervisor");
    let second: Process = eventually_some(SOON_GONE, "another supervisor", || {
        supervisor_of(owner.pid()).filter(|found| found.pid != first.pid || found.start_ticks != first.start_ticks)
    });
    // It is at work, and knows the group that was registered with its predecessor.
    owner.must(&format!("signal {} {}", covered.process.pid, libc::SIGCONT));
    assert_eq!(owner.must("status")["supervisor_generation"], 2);
    assert_eq!(owner.must("wait-any")["pid"], 0, "children there are, but none that has ended");
    owner.must(&format!("release {}", released.process.pid));

    let moment = owner.kill();

    covered.process.assert_gone_by(moment + SOON_GONE, "the covered child");
    foreign.process.assert_gone_by(moment + SOON_GONE, "the group that was taken over");
    second.assert_gone_by(moment + SOON_GONE, "the second supervisor");
    released.process.assert_alive("the released one");
    control.assert_unharmed();
}
