//! TERM to supervisor, owner and child within a millisecond, in all six orders, as a service manager stops a unit.

use super::deaths::{GRACE, SOON_GONE};
use super::support::{Process, Scene};
use std::time::Instant;

#[test]
fn term_to_all_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let scene = Scene::new();
        let mut control = scene.control();
        let mut owner = scene.owner();
        owner.must(&format!("configure grace={}", GRACE.as_millis()));
        let (child, deaf) = (owner.spawn("with sleeper"), owner.spawn("stubborn server"));
        let (child, member) = (scene.seat(&child, "with"), scene.seat(&child, "sleeper"));
        let deaf = scene.seat(&deaf, "server");
        let supervisor = owner.supervisor();

        let everybody = [&supervisor, owner.process(), &child.process].map(|p| Process::met(p.pid, p.start_ticks));
        let moment = Instant::now();
        for who in order {
            everybody[who].signal(libc::SIGTERM).expect("TERM");
        }
        owner.reap();

        for (who, what) in [(&child, "the leader"), (&member, "its member"), (&deaf, "the deaf one")] {
            who.process.assert_gone_by(moment + SOON_GONE, &format!("{order:?}: {what}"));
        }
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
        control.assert_unharmed();
    }
}
