//! ETXTBSY: the kernel refuses to execute a file that somebody has open for writing. Another thread's child between
//! fork and exec has it open for microseconds; that is nobody's mistake. A real writer is said.

use super::support::Scene;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

#[test]
fn eight_threads_that_write_scripts_and_spawn_them_never_fail() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    let rounds = if super::support::soak() { 2000 } else { 200 };
    owner.must(&format!("fresh-scripts 8 {rounds} {}", scene.folder().display()));
    assert_eq!(owner.slots_in_use(), 0);
}

#[test]
fn a_real_writer_is_a_clear_error_in_time() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    for (name, text) in
        [("script", &b"#!/bin/sh\nexit 3\n"[..]), ("program", &std::fs::read("/bin/true").expect("read"))]
    {
        let path = scene.folder().join(name);
        std::fs::write(&path, text).expect("write");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("chmod");
        let writer = owner.must(&format!("open-to-write {}", path.display()));
        let begin = Instant::now();
        let refusal = owner.try_program("stdin=null", &path, &[]).expect_err("it is being written");
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        assert_eq!((refusal.step.as_str(), refusal.errno), ("execve", Some(libc::ETXTBSY.into())), "{refusal:?}");
        assert!(refusal.message.contains(&path.display().to_string()), "{refusal:?}");
        assert_eq!(owner.slots_in_use(), 0);
        owner.must(&format!("close {writer}"));
        let pid = owner.program("stdin=null", &path, &[]);
        assert!(owner.wait(pid)["exited"].is_number());
    }
}
