//! Where a memfd cannot be had or cannot be executed, the supervisor's program goes into a file without a name, or into
//! a private one; where that is forbidden too, nothing is started and the reason is said.

use super::support::pidns::{Init, outside};
use super::support::process::{Stat, numbers_in};
use super::support::seccomp::{Action, Filter};
use super::support::{Owner, Scene, is_root};
use super::the_promise::{self, owner_under, replace_supervisor};
use crate::{skip, test_name};

/// `MFD_EXEC` (linux/memfd.h), which Linux 6.3 brought.
const MFD_EXEC: u32 = 0x10;

fn exec_flag(errno: i32) -> Filter {
    Filter::new().when_masked(libc::SYS_memfd_create, 1, MFD_EXEC, MFD_EXEC, Action::Errno(errno))
}

fn without_tmpfile(filter: Filter) -> Filter {
    let flag = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u32;
    filter.when_masked(libc::SYS_openat, 2, flag, flag, Action::Errno(libc::EOPNOTSUPP))
}

#[test]
fn before_linux_6_3_a_memfd_is_made_without_the_flag() {
    let scene = Scene::new();
    let mut owner = owner_under(&scene, &exec_flag(libc::EINVAL), "");
    let mut control = scene.control();
    let cast = the_promise::play(&scene, &mut owner);
    assert_eq!(owner.guarantee("supervisor"), ("memfd".into(), String::new()));
    the_promise::kill_and_look(&mut owner, &mut control, &cast);
}

fn by_file(scene: &Scene, owner: &mut Owner, kind: &str) {
    let mut control = scene.control();
    let cast = the_promise::play(scene, owner);
    let (value, why) = owner.guarantee("supervisor");
    assert_eq!(value, kind);
    assert!(why.contains("memfd"), "{why}");
    replace_supervisor(owner);
    the_promise::kill_and_look(owner, &mut control, &cast);
}

/// Also what `vm.memfd_noexec=2` answers.
#[test]
fn a_file_without_a_name_does_as_well() {
    let scene = Scene::new();
    for errno in [libc::EACCES, libc::EPERM] {
        for settings in ["", "threads=0"] {
            let mut owner = owner_under(&scene, &exec_flag(errno), settings);
            if settings.is_empty() {
                by_file(&scene, &mut owner, "tmpfile");
            } else {
                the_promise::holds(&scene, &mut owner);
            }
        }
    }
}

#[test]
fn and_so_does_a_private_file_of_which_nothing_is_left() {
    let scene = Scene::new();
    let before = leftovers();
    let mut owner = owner_under(&scene, &without_tmpfile(exec_flag(libc::EACCES)), "");
    by_file(&scene, &mut owner, "file");
    assert_eq!(leftovers(), before, "the file is unlinked");
}

fn leftovers() -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(std::env::temp_dir()).expect("the temporary folder").flatten();
    let ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with(".spawn-supervisor-");
    entries.map(|entry| entry.file_name()).filter(ours).collect()
}

#[test]
fn where_nothing_can_be_executed_the_reason_is_said_and_no_child_is_started() {
    let scene = Scene::new();
    for settings in ["", "threads=0"] {
        let forbidden = Filter::new().on(libc::SYS_execveat, Action::Errno(libc::EACCES));
        let mut owner = owner_under(&scene, &forbidden, settings);
        let foreign = owner.foreign("sleeper");
        let bystander = scene.seat(&foreign, "sleeper");
        for command in ["spawn program=/bin/true".to_string(), format!("own {}", foreign.pid)] {
            let refusal = owner.ask(&command).expect_err("nothing could watch over it");
            assert_eq!(refusal.name, "HERMES_ERR_SUPERVISOR", "{refusal:?}");
            assert!(refusal.message.contains("execveat"), "{settings}: {refusal:?}");
            assert!(refusal.message.contains("Permission denied"), "{settings}: {refusal:?}");
        }
        let status = owner.must("status");
        assert_eq!((&status["slots_in_use"], &status["supervisor_pid"]), (&0.into(), &0.into()), "{status}");
        assert!(status["last_supervisor_error"].as_str().is_some_and(|e| e.contains("execveat")), "{status}");
        let children: Vec<i32> =
            numbers_in("/proc").into_iter().filter(|&p| Stat::of(p).is_some_and(|s| s.ppid == owner.pid())).collect();
        assert_eq!(children, [foreign.pid], "no child, no zombie");
        owner.kill();
        bystander.process.assert_alive("a group that was refused");
    }
}

/// The kernel's own switch, which each pid namespace has for itself since Linux 6.3.
#[test]
fn the_kernels_own_switch_is_met() {
    if !is_root() {
        skip!("a pid namespace of one's own needs root");
    }
    if outside(test_name!(), Init::Reaps) {
        return;
    }
    let switch = "/proc/sys/vm/memfd_noexec";
    if !std::path::Path::new(switch).exists() {
        skip!("this kernel has no vm.memfd_noexec");
    }
    for (level, kind) in [("1", "memfd"), ("2", "tmpfile")] {
        std::fs::write(switch, level).expect("vm.memfd_noexec of this namespace");
        let scene = Scene::new();
        let mut owner = owner_under(&scene, &Filter::new(), "");
        let mut control = scene.control();
        let cast = the_promise::play(&scene, &mut owner);
        assert_eq!(owner.guarantee("supervisor").0, kind, "vm.memfd_noexec={level}");
        the_promise::kill_and_look(&mut owner, &mut control, &cast);
    }
}
