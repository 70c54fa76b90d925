//! Whatever a test starts is gone with its scene, also when the test panics.

use super::support::process::group_members;
use super::support::{Process, Scene, sys};
use std::time::Duration;

/// Shapes that are hard to end, and the roles in which they announce themselves.
const HARD: [(&str, &[&str]); 7] = [
    ("stubborn chain server", &["server", "wrapper"]),
    ("fork-chain", &["fork-chain"]),
    ("leave-daemon stubborn sleeper", &["sleeper"]),
    ("clean-daemon stubborn server", &["server"]),
    ("postgres", &["postmaster", "backend", "backend"]),
    ("stopped", &["stopped"]),
    ("two setsid sleeper / setpgid sleeper", &["setsid", "setpgid", "sleeper", "sleeper", "two"]),
];

#[test]
fn nothing_is_left_behind_a_panic() {
    let (send, seen) = std::sync::mpsc::channel();
    let test = std::thread::Builder::new().name("meant to panic".into()).spawn(move || {
        let scene = Scene::new();
        let mut owner = scene.owner();
        for (shape, roles) in HARD {
            let started = owner.spawn(shape);
            for role in roles {
                let process = scene.seat(&started, role).process;
                send.send(Process::met(process.pid, process.start_ticks)).expect("send");
            }
        }
        std::panic::resume_unwind(Box::new("as planned"));
    });
    assert!(test.expect("a thread").join().is_err());
    let met: Vec<Process> = seen.iter().collect();
    assert_eq!(met.len(), HARD.iter().map(|(_, roles)| roles.len()).sum::<usize>());
    for process in met {
        process.assert_gone_by(sys::after(Duration::ZERO), "left behind");
        assert!(group_members(process.pid).is_empty(), "members of group {}", process.pid);
    }
}

#[test]
fn a_control_owner_notices_a_signal() {
    let scene = Scene::new();
    let mut control = scene.control();
    control.assert_unharmed();
    control.canary.process.signal(libc::SIGTERM).expect("blocked");
    let noticed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| control.assert_unharmed()));
    assert!(noticed.is_err());
}
