//! Where a memfd cannot be had or cannot be executed, the supervisor's program goes into a file without a name, or into
//! a private one; where that is forbidden too, nothing is started and the reason is said. Where only execveat is
//! refused, the memfd is executed by its name in /proc.

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

/// A filter that is older than execveat, or does not want it.
#[test]
fn a_memfd_whose_execveat_is_refused_is_executed_by_its_path() {
    for errno in [libc::EACCES, libc::EPERM, libc::ENOSYS] {
        for settings in ["", "threads=0"] {
            let scene = Scene::new();
            let mut control = scene.control();
            let mut owner = owner_under(&scene, &Filter::new().on(libc::SYS_execveat, Action::Errno(errno)), settings);
            let cast = the_promise::play(&scene, &mut owner);
            assert_eq!(owner.guarantee("supervisor"), ("memfd".into(), String::new()), "{errno} {settings}");
            the_promise::kill_and_look(&mut owner, &mut control, &cast);
        }
    }
}

fn without_files(filter: Filter) -> Filter {
    let fresh = (libc::O_CREAT | libc::O_EXCL) as u32;
    without_tmpfile(filter).when_masked(libc::SYS_openat, 2, fresh, fresh, Action::Errno(libc::EROFS))
}

#[test]
fn where_nothing_can_be_executed_the_reason_is_said_and_no_child_is_started() {
    let scene = Scene::new();
    nothing_is_started(&scene, &without_files(exec_flag(libc::EPERM)), "memfd: create: Operation not permitted");
}

fn nothing_is_started(scene: &Scene, filter: &Filter, reason: &str) {
    let mut control = scene.control();
    for settings in ["", "threads=0"] {
        let mut owner = owner_under(scene, filter, settings);
        let foreign = owner.foreign("canary");
        let bystander = scene.seat(&foreign, "canary");
        for command in ["spawn program=/bin/true".to_string(), format!("own {}", foreign.pid)] {
            let refusal = owner.ask(&command).expect_err("nothing could watch over it");
            assert_eq!(refusal.name, "HERMES_ERR_SUPERVISOR", "{refusal:?}");
            let no_file = format!("{}: create: Read-only file system", std::env::temp_dir().display());
            for said in [reason, &no_file] {
                assert!(refusal.message.contains(said), "{settings}: {refusal:?}");
            }
        }
        let status = owner.must("status");
        assert_eq!((&status["slots_in_use"], &status["supervisor_pid"]), (&0.into(), &0.into()), "{status}");
        assert!(status["last_supervisor_error"].as_str().is_some_and(|e| e.contains(reason)), "{status}");
        let children: Vec<i32> =
            numbers_in("/proc").into_iter().filter(|&p| Stat::of(p).is_some_and(|s| s.ppid == owner.pid())).collect();
        assert_eq!(children, [foreign.pid], "no child, no zombie");
        owner.kill();
        bystander.process.assert_untouched("a group that was refused");
    }
    control.assert_unharmed();
}

/// True: the test has been run, inside, or cannot be. Inside, `vm.memfd_noexec` is this.
macro_rules! done_where_memfd_noexec_is_one {
    () => {{
        if !is_root() {
            skip!("a pid namespace of one's own needs root");
        }
        if outside(test_name!(), Init::Reaps) {
            return;
        }
        if std::fs::write(MEMFD_NOEXEC, "1").is_err() {
            skip!("this kernel has no vm.memfd_noexec");
        }
    }};
}

const MEMFD_NOEXEC: &str = "/proc/sys/vm/memfd_noexec";

/// With `vm.memfd_noexec=1` a memfd that was not asked for with `MFD_EXEC` is made, filled and sealed like any other; its
/// execution alone is refused. So a filter that knows no `MFD_EXEC` makes every memfd one of these.
#[test]
fn one_that_is_made_and_sealed_and_then_refused_is_replaced_by_a_file() {
    done_where_memfd_noexec_is_one!();
    for settings in ["", "threads=0"] {
        for (filter, kind) in [(exec_flag(libc::EINVAL), "tmpfile"), (without_tmpfile(exec_flag(libc::EINVAL)), "file")]
        {
            let scene = Scene::new();
            let mut owner = owner_under(&scene, &filter, settings);
            let mut control = scene.control();
            let cast = the_promise::play(&scene, &mut owner);
            let (value, why) = owner.guarantee("supervisor");
            assert_eq!(value, kind, "{settings}");
            assert!(why.contains("memfd"), "{why}");
            the_promise::kill_and_look(&mut owner, &mut control, &cast);
        }
    }
}

#[test]
fn or_refused_with_both_reasons() {
    done_where_memfd_noexec_is_one!();
    let scene = Scene::new();
    nothing_is_started(&scene, &without_files(exec_flag(libc::EINVAL)), "memfd: execveat: Permission denied");
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
    if !std::path::Path::new(MEMFD_NOEXEC).exists() {
        skip!("this kernel has no vm.memfd_noexec");
    }
    for (level, kind) in [("1", "memfd"), ("2", "tmpfile")] {
        std::fs::write(MEMFD_NOEXEC, level).expect("vm.memfd_noexec of this namespace");
        let scene = Scene::new();
        let mut owner = owner_under(&scene, &Filter::new(), "");
        let mut control = scene.control();
        let cast = the_promise::play(&scene, &mut owner);
        assert_eq!(owner.guarantee("supervisor").0, kind, "vm.memfd_noexec={level}");
        the_promise::kill_and_look(&mut owner, &mut control, &cast);
    }
}
