//! Two owners of one home, one dies: the other's children live, in every way in which they could be confused.

use super::deaths::{Death, SOON_GONE};
use super::support::Scene;

#[test]
fn two_owners_are_strangers() {
    for death in Death::ALL {
        let scene = Scene::new();
        let mut living = scene.owner();
        let mut doomed = death.owner(&scene);
        let shapes = ["canary", "setsid canary", "daemon canary", "leave canary"];
        let theirs = shapes.map(|shape| living.spawn(shape));
        let theirs = theirs.map(|started| scene.seat(&started, "canary"));
        let ours = shapes.map(|shape| doomed.owner.spawn(shape));
        let ours = ours.map(|started| scene.seat(&started, "canary"));
        let supervisor = doomed.owner.supervisor();

        let moment = doomed.die();

        for seat in &ours {
            seat.process.assert_gone_by(moment + SOON_GONE, "a child of the dead owner");
        }
        supervisor.assert_gone_by(moment + SOON_GONE, "its supervisor");
        for seat in &theirs {
            seat.process.assert_alive("a child of the living owner");
            assert_eq!(seat.process.pending_signals(), 0, "a child of the living owner was signalled");
        }
        assert_eq!(living.must("status")["slots_in_use"], 4);
    }
}
