//! Two owners of one home, one dies: the other's children live, in every way in which they could be confused.

use super::deaths::{Death, SOON_GONE, for_each};

#[test]
fn two_owners_are_strangers() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let mut living = scene.owner();
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
            seat.process.assert_untouched("a child of the living owner");
        }
        assert_eq!(living.must("status")["slots_in_use"], 4);
    });
}
