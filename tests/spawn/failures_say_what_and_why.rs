//! A child that cannot be started is an error with a code, a step, an errno and the path. Nothing is left of it.

use super::support::process::{Stat, numbers_in};
use super::support::programs::escape;
use super::support::{Launch, Owner, Scene};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What was asked for and what must be said of it.
struct Case {
    options: String,
    program: String,
    args: &'static [&'static str],
    code: &'static str,
    step: &'static str,
    errno: Option<i32>,
    /// In the message: the path, and whatever tells this failure from the others.
    says: Vec<String>,
}

const SPAWN: &str = "HERMES_ERR_SPAWN";
const INVALID: &str = "HERMES_ERR_INVALID_ARGUMENT";

fn file(folder: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
    path.display().to_string()
}

fn exec(program: String, errno: i32, more: &[&str]) -> Case {
    let says = [program.as_str()].iter().chain(more).map(|s| s.to_string()).collect();
    Case { options: String::new(), program, args: &[], code: SPAWN, step: "execve", errno: Some(errno), says }
}

fn in_directory(cwd: String, errno: i32) -> Case {
    let options = format!("cwd={}", escape(&cwd));
    Case {
        options,
        program: "/bin/true".into(),
        args: &[],
        code: SPAWN,
        step: "chdir",
        errno: Some(errno),
        says: vec![cwd],
    }
}

fn invalid(options: &str, program: &str, args: &'static [&'static str], says: &str) -> Case {
    let (options, program, says) = (options.into(), program.into(), vec![says.into()]);
    Case { options, program, args, code: INVALID, step: "spawn_owned", errno: None, says }
}

fn cases(folder: &Path) -> Vec<Case> {
    let path = |name: &str| folder.join(name).display().to_string();
    let plain = file(folder, "plain", "#!/bin/sh\n", 0o644);
    let bad_interpreter = file(folder, "orphaned", "#!/no/such/interpreter -x\n", 0o755);
    let no_interpreter = file(folder, "bare", "exit 0\n", 0o755);
    let empty = file(folder, "empty", "", 0o755);
    let subfolder = path("folder");
    fs::create_dir(&subfolder).expect("mkdir");
    let long = format!("/tmp/{}", "x".repeat(300));
    let terminal =
        |options: &str| Case { options: options.into(), step: "tty", ..exec("/bin/true".into(), libc::ENOTTY, &[]) };
    let unsaid = |case: Case, says: &str| Case { says: vec![says.into()], ..case };
    vec![
        in_directory(path("missing"), libc::ENOENT),
        in_directory(plain.clone(), libc::ENOTDIR),
        exec(path("missing"), libc::ENOENT, &["No such file"]),
        exec(format!("{plain}/below"), libc::ENOTDIR, &[]),
        exec(long, libc::ENAMETOOLONG, &[]),
        exec(subfolder, libc::EACCES, &[]),
        exec(plain, libc::EACCES, &["Permission denied"]),
        exec(bad_interpreter, libc::ENOENT, &["/no/such/interpreter", "interpreter"]),
        exec(no_interpreter, libc::ENOEXEC, &[]),
        exec(empty, libc::ENOEXEC, &[]),
        unsaid(exec("no-such-program-in-path".into(), libc::ENOENT, &[]), "PATH"),
        invalid("", "", &[], "empty"),
        invalid("", "a\0b", &[], "NUL"),
        invalid("", "/bin/true", &["one", "t\0wo"], "NUL"),
        invalid("cwd=a%00b", "/bin/true", &[], "NUL"),
        invalid("env=A=b%00c", "/bin/true", &[], "NUL"),
        invalid("env=A%00=b", "/bin/true", &[], "NUL"),
        invalid("env=A%3db=c", "/bin/true", &[], "'='"),
        invalid("env==c", "/bin/true", &[], "empty"),
        unsaid(terminal("controlling_tty stdin=null"), "descriptor 0"),
        unsaid(terminal("controlling_tty keep_session stdin=null"), "descriptor 0"),
        unsaid(Case { options: "pass=77".into(), step: "fcntl", ..exec("/bin/true".into(), libc::EBADF, &[]) }, "77"),
        // Standard streams are not passed but connected; they are no failure. The one that is open comes first.
        unsaid(
            Case { options: "pass=2 pass=88".into(), step: "fcntl", ..exec("/bin/true".into(), libc::EBADF, &[]) },
            "88",
        ),
    ]
}

/// No process below the owner, not even a zombie, and no slot in use.
fn nothing_is_left(owner: &mut Owner, what: &str) {
    let children: Vec<(i32, Stat)> = numbers_in("/proc")
        .into_iter()
        .filter_map(|pid| Some((pid, Stat::of(pid)?)))
        .filter(|(_, stat)| stat.ppid == owner.pid())
        .collect();
    assert!(children.is_empty(), "{what}: {children:?}");
    assert_eq!(owner.slots_in_use(), 0, "{what}: a slot is in use");
    let found = owner.must("wait-any");
    assert_eq!(found["errno"], libc::ECHILD, "{what}: the host has something to wait for: {found}");
}

#[test]
fn every_failure_has_its_own_step_errno_and_path_and_leaves_nothing() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    for Case { options, program, args, code, step, errno, says } in cases(scene.folder()) {
        let what = format!("{options} {program:?} {args:?}");
        let refusal = owner.try_program(&options, &program, args).expect_err(&what);
        assert_eq!(refusal.name, code, "{what}: {refusal:?}");
        assert_eq!(refusal.step, step, "{what}: {refusal:?}");
        assert_eq!(refusal.errno, errno.map(i64::from), "{what}: {refusal:?}");
        for said in &says {
            assert!(refusal.message.contains(said), "{what}: {said:?} is not in {:?}", refusal.message);
        }
        nothing_is_left(&mut owner, &what);
    }
    let pid = owner.program("stdin=null", "/bin/true", &[]);
    assert_eq!(owner.wait(pid)["exited"], 0, "and then one that can be started is");
}

/// root may enter and read everything, so this is an ordinary user's.
#[test]
fn a_directory_without_search_permission_is_named() {
    use std::os::unix::process::CommandExt;
    let scene = Scene::new();
    scene.open_to_other_users();
    let closed = scene.folder().join("closed");
    fs::create_dir(&closed).expect("mkdir");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o644)).expect("chmod");
    let mut command = scene.actor();
    if super::support::is_root() {
        command.uid(65534).gid(65534);
    }
    let mut owner = scene.owner_from(command, Launch::default());
    let closed = closed.display().to_string();
    for (options, program, step) in
        [(format!("cwd={closed}"), "/bin/true".to_string(), "chdir"), (String::new(), format!("{closed}/x"), "execve")]
    {
        let refusal = owner.try_program(&options, &program, &[]).expect_err("no permission");
        assert_eq!((refusal.step.as_str(), refusal.errno), (step, Some(libc::EACCES.into())), "{refusal:?}");
        assert!(refusal.message.contains(&closed), "{refusal:?}");
        nothing_is_left(&mut owner, step);
    }
}

/// What leaks a little, leaks much.
#[test]
fn many_failures_leave_no_more_than_one() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    owner.try_program("", "/no/such/program", &[]).expect_err("missing");
    let descriptors = owner.process().descriptors();
    for _ in 0..200 {
        owner.try_program("stdin=piped stdout=piped stderr=piped", "/no/such/program", &[]).expect_err("missing");
    }
    assert_eq!(owner.process().descriptors(), descriptors);
    nothing_is_left(&mut owner, "200 failures");
}
