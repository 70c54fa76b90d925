//! A process may call itself anything: its line in /proc is read right, and it is killed right.

use super::support::programs::escape;
use super::support::{Scene, sys};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

const NAMES: [&[u8]; 7] =
    [b") Z 1 1 1 (", b"\xff\xfe\x80) X", b") R 0 0 0", b"((((", b"))))", b"a\nb) Z 1\n", b" \t) 1 ("];
const SOON: Duration = Duration::from_secs(10);

#[test]
fn groups_of_every_name_are_owned_and_die_with_their_owner() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    let mut seats = Vec::new();
    for name in NAMES {
        let name = escape(OsStr::from_bytes(name));
        let shape = format!("renamed {name} stubborn sleeper");
        let spawned = owner.spawn(&shape);
        let foreign = owner.foreign(&shape);
        // The leader has left, and what is left of its group has such a name.
        let left = owner.spawn(&format!("leave {shape}"));
        seats.extend([&spawned, &foreign, &left].map(|started| scene.seat(started, "sleeper")));
        owner.must(&format!("own {}", foreign.pid));
        owner.wait(left.pid);
    }
    assert_eq!(owner.slots_in_use(), seats.len() as i64);
    owner.kill();
    for seat in &seats {
        seat.process.assert_gone_by(sys::after(SOON), "a group with such a name");
    }
    control.assert_unharmed();
}

#[test]
fn stop_and_wait_are_not_deceived_by_a_name() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    for name in NAMES {
        let name = escape(OsStr::from_bytes(name));
        let started = owner.spawn(&format!("renamed {name} with stubborn sleeper"));
        let member = scene.seat(&started, "sleeper");
        assert!(owner.must(&format!("try-wait {}", started.pid)).is_null(), "{name}: it runs");
        owner.must(&format!("stop {} 50", started.pid));
        assert!(member.process.is_gone(), "{name}: stop returned before the group was empty");
        assert_eq!(owner.wait(started.pid)["signalled"], libc::SIGTERM, "{name}");
    }
    assert_eq!(owner.slots_in_use(), 0);
    control.assert_unharmed();
}

#[test]
fn a_program_file_may_have_such_a_name_too() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    let path = scene.folder().join(OsStr::from_bytes(b") Z 1 1 1 (\xff"));
    std::fs::copy("/bin/sleep", &path).expect("a copy of sleep");
    let pid = owner.program("stdin=null stdout=null", &path, &["600"]);
    let process = super::support::Process::open(pid).expect("it runs");
    scene.remember(&process);
    assert!(owner.wait_within(pid, Duration::ZERO).is_null());
    owner.must(&format!("stop {pid} 5000"));
    assert!(process.is_gone());
    assert_eq!(owner.wait(pid)["signalled"], libc::SIGTERM);
    control.assert_unharmed();
}
