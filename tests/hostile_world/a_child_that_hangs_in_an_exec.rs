//! What is owned and hangs in an exec of its own, in a file system: nobody can read its `/proc/PID/stat` meanwhile (since
//! Linux 6.18). Whatever is asked about it is answered, and nobody else's end waits for it.

use super::support::fuse::{Fuse, Hang};
use super::support::process::status_field;
use super::support::{Control, Owner, Scene, Seat, Started, eventually};
use super::timing::{GRACE, SLACK, assert_gone_in_time, configure};
use std::time::Instant;

/// Long for a call that waits for nothing; short for one that waits for the file system.
const CALL_LIMIT: std::time::Duration = SLACK;

struct Case<'a> {
    // Dropped before the owner is, which might not end as long as something hangs.
    fuse: Fuse,
    scene: &'a Scene,
    control: Control,
    owner: Owner,
    obedient: Seat,
}

impl<'a> Case<'a> {
    fn new(scene: &'a Scene) -> Option<Case<'a>> {
        let fuse = scene.hung(Hang::Data)?;
        let control = scene.control();
        let mut owner = scene.owner();
        configure(&mut owner);
        let obedient = owner.spawn("sleeper");
        let obedient = scene.seat(&obedient, "sleeper");
        Some(Case { fuse, scene, control, owner, obedient })
    }

    /// Starts it, by a command of the owner's that takes a shape, and waits until it hangs.
    #[track_caller]
    fn hung(&mut self, start: fn(&mut Owner, &str) -> Started) -> i32 {
        let started = start(&mut self.owner, &format!("in-exec {}", self.fuse.file().display()));
        eventually(SLACK, "it hangs in the file system", || self.fuse.unanswered() == 1);
        started.pid
    }

    /// Asks, and may be refused; the answer must not wait for the file system.
    #[track_caller]
    fn is_answered(&mut self, command: &str) -> Result<serde_json::Value, super::support::owner::Refusal> {
        let asked_at = Instant::now();
        let answer = self.owner.ask(command);
        assert!(asked_at.elapsed() < CALL_LIMIT, "{command} took {:?}", asked_at.elapsed());
        answer
    }

    #[track_caller]
    fn supervisor_is_replaced(&mut self) {
        let generation = |owner: &mut Owner| owner.must("status")["supervisor_generation"].as_u64();
        let before = generation(&mut self.owner);
        self.owner.supervisor().signal(libc::SIGKILL).expect("kill the supervisor");
        eventually(SLACK, "another supervisor", || generation(&mut self.owner) > before);
        // It has been through the whole roster.
        let probe = self.owner.spawn("sleeper");
        self.scene.seat(&probe, "sleeper");
        self.is_answered(&format!("stop {} 1000", probe.pid)).expect("stop another child");
    }

    /// The owner dies: the obedient child and the supervisor go on time, and the one that hangs was sent KILL.
    fn owner_dies(mut self, hung: i32) {
        let supervisor = self.owner.supervisor();
        let killed_at = self.owner.kill();
        self.obedient.process.assert_gone_by(killed_at + GRACE, "what obeys TERM");
        assert_gone_in_time(killed_at, &[&self.obedient], &supervisor);
        self.fuse.end();
        eventually(SLACK, "it is gone", || status_field(hung, "State:").is_none_or(|state| state.contains('Z')));
        self.control.assert_unharmed();
    }
}

#[test]
fn nothing_that_is_asked_about_a_child_waits_for_it() {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let Some(mut case) = Case::new(&scene) else { return };
    let child = case.hung(Owner::spawn);

    assert_eq!(case.is_answered(&format!("try-wait {child}")), Ok(serde_json::Value::Null));
    assert_eq!(case.is_answered(&format!("wait {child} 100")), Ok(serde_json::Value::Null));
    case.is_answered(&format!("signal {child} {}", libc::SIGCONT)).expect("a signal");
    case.is_answered(&format!("drop {child}")).expect("a handle can be dropped");
    case.supervisor_is_replaced();
    case.owner_dies(child);
}

/// KILL does not end what waits in the kernel: that is said, and in time.
#[test]
fn a_stop_says_that_it_survives() {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let Some(mut case) = Case::new(&scene) else { return };
    let child = case.hung(Owner::spawn);

    let refusal = case.is_answered(&format!("stop {child} 100")).expect_err("it lives");
    assert_eq!(refusal.name, "HERMES_ERR_STILL_ALIVE", "{refusal:?}");
    // Released, it is somebody else's business, which is found out by a look at who is in the group.
    case.is_answered(&format!("release {child}")).expect("release");
    let refusal = case.is_answered(&format!("stop {child} 100")).expect_err("it is not ours");
    assert_eq!(refusal.name, "HERMES_ERR_NOT_FOUND", "{refusal:?}");
    case.owner_dies(child);
}

#[test]
fn a_group_taken_over_while_it_hangs_holds_nobody_up() {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let Some(mut case) = Case::new(&scene) else { return };
    let hung = case.hung(Owner::foreign);

    case.is_answered(&format!("own {hung}")).expect("own");
    // Once more, and with another.
    let other = case.owner.foreign("sleeper");
    let other = scene.seat(&other, "sleeper");
    case.is_answered(&format!("own {hung} {}", other.pgid)).expect("own again");
    case.supervisor_is_replaced();
    assert_eq!(case.owner.slots_in_use(), 3);
    assert_eq!(case.owner.must("status")["weak_groups"], 0);
    case.owner_dies(hung);
}
