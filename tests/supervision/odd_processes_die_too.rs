//! A stopped process, one whose main thread has exited (a zombie to look at), and one whose name reads like a stat
//! line: told apart, and gone with the owner.

use super::deaths::{Death, SOON_GONE, for_each};
use super::support::Scene;

#[test]
fn odd_processes_die_too() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let shapes = [
            ("stopped", "stopped"),
            ("with stopped", "stopped"),
            ("threads-only", "threads-only"),
            ("with threads-only", "threads-only"),
            ("renamed )%20Z%201%201%201%20( stubborn server", "server"),
            ("renamed %ff%0a%29 setsid stubborn sleeper", "sleeper"),
        ];
        let seats = shapes.map(|(shape, role)| {
            let started = doomed.owner.spawn(shape);
            scene.seat(&started, role)
        });
        seats[0].process.until_state('T');
        seats[1].process.until_state('T');
        assert_eq!(seats[2].process.stat().expect("it is there").state, 'Z');
        let name = std::fs::read(format!("/proc/{}/comm", seats[4].process.pid)).expect("its name");
        assert_eq!(name, b") Z 1 1 1 (\n");

        let moment = doomed.die();

        for (seat, (shape, _)) in seats.iter().zip(shapes) {
            seat.process.assert_gone_by(moment + SOON_GONE, shape);
        }
    });
}

/// Its main thread has exited, others work on: to the supervisor that is a living leader, so its slot stays.
#[test]
fn a_process_without_its_main_thread_stays_covered() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let started = owner.spawn("threads-only");
    let process = scene.seat(&started, "threads-only").process;
    owner.must(&format!("signal {} {}", started.pid, libc::SIGCONT));
    let status = owner.must(&format!("wait {} 300", started.pid));
    assert!(status.is_null(), "it has not ended: {status}");
    assert_eq!(owner.must("status")["slots_in_use"], 1);
    owner.must(&format!("stop {} 300", started.pid));
    process.assert_gone_by(super::support::sys::after(SOON_GONE), "a stopped group");
    control.assert_unharmed();
}
