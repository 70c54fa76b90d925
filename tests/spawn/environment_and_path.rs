//! The child's environment, the mark in it, and how a program's name is looked up.

use super::support::programs::escape;
use super::support::{Owner, Scene};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// In order, as the kernel has it.
fn environment(owner: &mut Owner, options: &str) -> Vec<(String, String)> {
    let pid = owner.program(&format!("stdin=null stdout=piped {options}"), "/bin/cat", &["/proc/self/environ"]);
    let text = owner.must(&format!("read-stdout {pid}"));
    owner.must(&format!("wait {pid}"));
    let lines =
        text.as_str().expect("text").split_terminator('\0').map(|line| line.split_once('=').expect("NAME=value"));
    lines.map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn as_map(environment: &[(String, String)]) -> BTreeMap<String, String> {
    let map: BTreeMap<String, String> = environment.iter().cloned().collect();
    assert_eq!(map.len(), environment.len(), "a name twice: {environment:?}");
    map
}

/// `v1:<32 hex>:<serial>` in its parts.
fn mark_of(environment: &[(String, String)]) -> (String, u32) {
    let marks: Vec<&String> = environment.iter().filter(|(n, _)| n == "HERMES_SPAWN").map(|(_, value)| value).collect();
    assert_eq!(marks.len(), 1, "exactly one mark: {environment:?}");
    let parts: Vec<&str> = marks[0].split(':').collect();
    let [version, id, serial] = parts[..] else { panic!("{}", marks[0]) };
    assert_eq!(version, "v1");
    assert!(id.len() == 32 && id.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c)), "{id}");
    assert_eq!(serial.parse::<u32>().expect("a number").to_string(), serial, "decimal, without ornament");
    (id.to_string(), serial.parse().expect("a number"))
}

#[test]
fn the_environment_is_the_hosts_with_the_changes_in_their_order() {
    let scene = Scene::new();
    let mut command = scene.actor();
    command.env_clear().envs([("KEPT", "1"), ("CHANGED", "old"), ("GONE", "x"), ("EMPTY", ""), ("PATH", "/bin")]);
    let mut owner = scene.owner_from(command, Default::default());
    let given = environment(&mut owner, "env=CHANGED=new=er env_remove=GONE env=ADDED=a%20b env_remove=NOT_THERE");
    let mut map = as_map(&given);
    map.remove("HERMES_SPAWN").expect("the mark");
    let expected = [("ADDED", "a b"), ("CHANGED", "new=er"), ("EMPTY", ""), ("KEPT", "1"), ("PATH", "/bin")];
    assert_eq!(map, expected.map(|(n, v)| (n.to_string(), v.to_string())).into());
    let cleared = environment(&mut owner, "env=BEFORE=1 env_clear env=AFTER=1");
    let map = as_map(&cleared);
    assert_eq!(map.keys().collect::<Vec<_>>(), ["AFTER", "HERMES_SPAWN"]);
    let removed = environment(&mut owner, "env=A=1 env_remove=A env=B=1 env_remove=B env=B=2");
    let map = as_map(&removed);
    assert_eq!((map.get("A"), map.get("B").map(String::as_str)), (None, Some("2")));
}

#[test]
fn every_child_carries_its_own_mark_and_nobody_can_set_another() {
    let scene = Scene::new();
    let mut command = scene.actor();
    // The host is itself somebody's owned child: that mark is not its children's.
    command.env("HERMES_SPAWN", format!("v1:{}:7", "0".repeat(32)));
    let mut owner = scene.owner_from(command, Default::default());
    let mut marks = Vec::new();
    for options in ["", "env_clear", "env_remove=HERMES_SPAWN", "env=HERMES_SPAWN=mine", "group_only", "keep_session"] {
        let environment = environment(&mut owner, options);
        assert_eq!(environment[0].0, "HERMES_SPAWN", "first, where it is found at once");
        marks.push(mark_of(&environment));
    }
    let (id, _) = marks[0].clone();
    assert_ne!(id, "0".repeat(32));
    assert!(marks.iter().all(|(other, _)| *other == id), "one owner: {marks:?}");
    let mut serials: Vec<u32> = marks.iter().map(|(_, serial)| *serial).collect();
    serials.sort_unstable();
    serials.dedup();
    assert_eq!(serials.len(), marks.len(), "a serial each: {marks:?}");
    let mut other = scene.owner();
    assert_ne!(mark_of(&environment(&mut other, "")).0, id, "another owner, another id");
}

fn program(folder: &Path, directory: &str, name: &str, says: &str, mode: u32) {
    let directory = folder.join(directory);
    fs::create_dir_all(&directory).expect("mkdir");
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\necho {says}\n")).expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
}

/// What the program of this name prints, or the errno.
fn run(owner: &mut Owner, options: &str, name: &str) -> Result<String, i64> {
    match owner.try_program(&format!("stdin=null stdout=piped {options}"), name, &[]) {
        Ok(pid) => {
            let text = owner.must(&format!("read-stdout {pid}"));
            owner.must(&format!("wait {pid}"));
            Ok(text.as_str().expect("text").trim().to_string())
        }
        Err(refusal) => {
            assert_eq!(refusal.step, "execve", "{refusal:?}");
            assert!(refusal.message.contains(name), "{refusal:?}");
            Err(refusal.errno.expect("an errno"))
        }
    }
}

#[test]
fn a_name_is_looked_up_in_the_path_that_the_child_will_have() {
    let scene = Scene::new();
    let folder = scene.folder();
    program(folder, "one", "tool", "one", 0o755);
    program(folder, "two", "tool", "two", 0o755);
    program(folder, "no", "tool", "no", 0o644);
    program(folder, "no", "only-no", "no", 0o644);
    program(folder, "here", "tool", "here", 0o755);
    let path = |directories: &[&str]| {
        let joined: Vec<String> = directories.iter().map(|d| format!("{}/{d}", folder.display())).collect();
        format!("env=PATH={}:/bin:/usr/bin", joined.join(":"))
    };
    let mut owner = scene.owner();
    let (enoent, eacces) = (Err(libc::ENOENT.into()), Err(libc::EACCES.into()));
    assert_eq!(run(&mut owner, "", "tool"), enoent, "not in the host's");
    assert_eq!(run(&mut owner, &path(&["one", "two"]), "tool").as_deref(), Ok("one"), "the first counts");
    assert_eq!(run(&mut owner, &path(&["missing", "two", "one"]), "tool").as_deref(), Ok("two"));
    assert_eq!(run(&mut owner, &path(&["no", "two"]), "tool").as_deref(), Ok("two"), "goes on after one without x");
    assert_eq!(run(&mut owner, &path(&["no", "missing"]), "only-no"), eacces, "and says so when there is no other");
    assert_eq!(run(&mut owner, &format!("env_clear {}", path(&["one"])), "tool").as_deref(), Ok("one"));
    // Without a PATH the system's own directories are left.
    assert_eq!(run(&mut owner, "env_clear", "true").as_deref(), Ok(""));
    assert_eq!(run(&mut owner, "env_remove=PATH", "true").as_deref(), Ok(""));
    // An empty entry is the directory in which the child starts.
    let here = escape(folder.join("here"));
    assert_eq!(run(&mut owner, &format!("cwd={here} env=PATH="), "tool").as_deref(), Ok("here"));
    assert_eq!(run(&mut owner, &format!("cwd={here} env=PATH=/nowhere::/bin"), "tool").as_deref(), Ok("here"));
    // A name with a slash is a path, seen from there as well.
    assert_eq!(run(&mut owner, &format!("cwd={here}"), "./tool").as_deref(), Ok("here"));
    assert_eq!(run(&mut owner, &format!("cwd={}", escape(folder)), "two/tool").as_deref(), Ok("two"));
    assert_eq!(run(&mut owner, &path(&["one"]), "./tool"), Err(libc::ENOENT.into()));
}

#[test]
fn the_child_starts_in_its_directory_and_the_host_stays_in_its_own() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    let before = owner.must("world")["cwd"].clone();
    let folder = fs::canonicalize(scene.folder()).expect("canonical").display().to_string();
    assert_eq!(owner.printed_by(&format!("cwd={folder}"), "pwd -P").trim(), folder);
    assert_eq!(owner.printed_by("", "pwd -P").trim(), before.as_str().expect("text"));
    assert_eq!(owner.must("world")["cwd"], before);
}
