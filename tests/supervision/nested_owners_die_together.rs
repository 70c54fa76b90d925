//! An owner that is itself an owned child of another: killing the outer one takes everything, each by its own
//! supervisor. What the inner one has let go lives.

use super::deaths::{Death, SOON_GONE, for_each};
use super::support::owner::Door;
use super::support::scene::actor_program;
use super::support::sys;

#[test]
fn nested_owners_die_together() {
    for_each(&Death::ALL, |scene, mut outer| {
        let door = Door::open(scene);
        let (program, mail, path) = (actor_program().display(), scene.mail_path(), door.path.display().to_string());
        let streams = "stdin=null stdout=null";
        outer.owner.must(&format!("spawn program={program} {streams} -- owner {} --via {path}", mail.display()));
        let mut inner = door.owner(None);
        scene.remember(inner.process());
        inner.must("configure grace=400");
        let covered = inner.spawn("with stubborn server");
        let (covered, member) = (scene.seat(&covered, "with"), scene.seat(&covered, "server"));
        let escaped = inner.spawn("leave-daemon stubborn sleeper");
        let escaped = scene.seat(&escaped, "sleeper");
        let outliving = inner.spawn("deaf setsid canary");
        let outliving = [scene.seat(&outliving, "setsid"), scene.seat(&outliving, "canary")];
        inner.must(&format!("release {}", outliving[0].process.pid));
        let supervisors = [outer.owner.supervisor(), inner.supervisor()];

        let moment = outer.die();

        inner.process().assert_gone_by(moment + SOON_GONE, "the inner owner");
        for seat in [&covered, &member, &escaped] {
            // The inner supervisor begins when the inner owner ends.
            seat.process.assert_gone_by(sys::after(SOON_GONE), &format!("{} of the inner owner", seat.role));
        }
        supervisors.iter().for_each(|supervisor| supervisor.assert_gone_by(sys::after(SOON_GONE), "a supervisor"));
        outliving.iter().for_each(|seat| seat.process.assert_untouched("what the inner owner had let go"));
    });
}
