//! A child has its three streams and what was passed to it. What else the host has open stays the host's.

use super::support::process::{descriptors, status_field};
use super::support::programs::escape;
use super::support::{Launch, Owner, Process, Scene, eventually};
use std::fs;
use std::time::Duration;

/// `sleep` opens nothing by itself, and its descriptors are read from outside.
fn sleep(owner: &mut Owner, scene: &Scene, options: &str) -> Vec<(i32, String)> {
    let pid = owner.program(options, "/bin/sleep", &["600"]);
    let process = Process::open(pid).expect("it runs");
    scene.remember(&process);
    // The dynamic loader has files open at first.
    let settled = || status_field(pid, "State:").is_some_and(|state| state.starts_with('S'));
    eventually(Duration::from_secs(10), "it sleeps", settled);
    process.descriptors()
}

fn is_pipe(link: &str) -> bool {
    link.starts_with("pipe:")
}

#[test]
fn ten_thousand_open_files_of_the_host_and_three_passed() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    let paths = ["first", "second", "third"].map(|name| scene.folder().join(name));
    paths.iter().for_each(|path| fs::write(path, "x").expect("write"));
    let open = |owner: &mut Owner, n: usize| owner.must(&format!("open {}", escape(&paths[n]))).as_i64().expect("fd");
    let low = open(&mut owner, 0);
    let many = owner.must("open-many 10000");
    let (first, last) = (many["first"].as_i64().expect("fd"), many["last"].as_i64().expect("fd"));
    assert!(last - first >= 9999, "{many}");
    let (high, next) = (open(&mut owner, 1), open(&mut owner, 2));
    let before = owner.process().descriptors();
    // In any order, and one of them twice.
    let passed = format!("pass={high} pass={low} pass={next} pass={high}");
    let found = sleep(&mut owner, &scene, &format!("stdin=null stdout=null stderr=null {passed}"));
    let null = || "/dev/null".to_string();
    let link = |n: usize| paths[n].display().to_string();
    let expected =
        [(0, null()), (1, null()), (2, null()), (low as i32, link(0)), (high as i32, link(1)), (next as i32, link(2))];
    assert_eq!(found, expected);
    let without = sleep(&mut owner, &scene, "stdin=null stdout=null stderr=null");
    assert_eq!(without.len(), 3, "{without:?}");
    assert_eq!(owner.process().descriptors(), before, "the host's table is as it was");
    for fd in [low, high, next] {
        let info = fs::read_to_string(format!("/proc/{}/fdinfo/{fd}", owner.pid())).expect("fdinfo");
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).expect("flags").trim().to_string();
        let flags = i32::from_str_radix(&flags, 8).expect("octal");
        assert_ne!(flags & libc::O_CLOEXEC, 0, "still close-on-exec in the host");
    }
}

#[test]
fn each_stream_is_what_was_asked_for() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    let file = |name: &str| {
        let path = scene.folder().join(name);
        fs::write(&path, "x").expect("write");
        path.display().to_string()
    };
    let (input, output, errors) = (file("input"), file("output"), file("errors"));
    let host = owner.process().descriptors();
    let of_host = |fd: i32| host.iter().find(|(number, _)| *number == fd).expect("open in the host").1.clone();
    assert_eq!(
        sleep(&mut owner, &scene, "stdin=inherit stdout=inherit stderr=inherit"),
        [0, 1, 2].map(|fd| (fd, of_host(fd)))
    );
    let files = sleep(&mut owner, &scene, &format!("stdin={input} stdout={output} stderr={errors}"));
    assert_eq!(files, [(0, input), (1, output), (2, errors)]);
    let pipes = sleep(&mut owner, &scene, "stdin=piped stdout=piped stderr=piped");
    assert_eq!(pipes.len(), 3);
    assert!(pipes.iter().all(|(_, link)| is_pipe(link)), "{pipes:?}");
    let mut links: Vec<&String> = pipes.iter().map(|(_, link)| link).collect();
    links.dedup();
    assert_eq!(links.len(), 3, "a pipe each: {pipes:?}");
    let mixed = sleep(&mut owner, &scene, "stdin=null stdout=piped stderr=inherit");
    assert_eq!((mixed[0].1.as_str(), &mixed[2].1), ("/dev/null", &of_host(2)));
    assert!(is_pipe(&mixed[1].1));
}

/// An owner whose streams are closed; it talks over a socket.
fn owner_without_streams(scene: &Scene) -> Owner {
    let mut owner = scene.owner_from(scene.actor(), Launch { over_socket: true });
    owner.must("closerange 0 2");
    owner
}

fn open_streams(owner: &Owner) -> Vec<(i32, String)> {
    owner.process().descriptors().into_iter().filter(|(fd, _)| *fd <= 2).collect()
}

#[test]
fn a_host_without_streams_gets_nothing_of_ours_there_and_neither_does_its_child() {
    let scene = Scene::new();
    let mut owner = owner_without_streams(&scene);
    assert_eq!(sleep(&mut owner, &scene, ""), [], "closed in the host, closed in the child");
    assert_eq!(open_streams(&owner), []);
    let some = sleep(&mut owner, &scene, "stdin=null stdout=piped");
    assert_eq!(some.len(), 2, "{some:?}");
    assert_eq!(some[0], (0, "/dev/null".into()));
    assert!(some[1].0 == 1 && is_pipe(&some[1].1), "{some:?}");
    let errors_only = sleep(&mut owner, &scene, "stderr=null");
    assert_eq!(errors_only, [(2, "/dev/null".into())]);
    let all = sleep(&mut owner, &scene, "stdin=piped stdout=piped stderr=piped");
    assert_eq!(all.iter().map(|(fd, _)| *fd).collect::<Vec<_>>(), [0, 1, 2]);
    owner.must("status");
    let exits = owner.program("stdin=null", "/bin/sh", &["-c", "exit 4"]);
    assert_eq!(owner.must(&format!("exit-fd {exits}"))["record"]["code"], 4);
    assert_eq!(open_streams(&owner), [], "nothing of ours on 0, 1 or 2");
}

#[test]
fn files_that_have_the_streams_numbers_in_the_host_go_where_they_were_sent() {
    let scene = Scene::new();
    let mut owner = owner_without_streams(&scene);
    let path = |name: &str| scene.folder().join(name).display().to_string();
    let (a, b, c) = (path("a"), path("b"), path("c"));
    fs::write(&b, "x").expect("write");
    // The host opens them in this order, so each has the number of another stream: a is 0, b is 1, c is 2.
    let found = sleep(&mut owner, &scene, &format!("stdout={a} stdin={b} stderr={c}"));
    assert_eq!(found, [(0, b.clone()), (1, a.clone()), (2, c.clone())]);
    let found = sleep(&mut owner, &scene, &format!("stderr={a} stdout={c} stdin={b}"));
    assert_eq!(found, [(0, b.clone()), (1, c.clone()), (2, a.clone())]);
    // One that has its own number already, close-on-exec, and must be there after exec.
    let found = sleep(&mut owner, &scene, &format!("stdin={b} stdout={a} stderr={c}"));
    assert_eq!(found, [(0, b), (1, a), (2, c)]);
    assert_eq!(open_streams(&owner), []);
}

#[test]
fn the_librarys_threads_hold_nothing_of_the_hosts() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    owner.must("listen");
    owner.must("open-many 1000");
    let before = owner.process().descriptors();
    let started = owner.spawn("sleeper");
    scene.seat(&started, "sleeper");
    assert_eq!(owner.process().descriptors(), before, "no descriptor of ours in the host's table");
    let others: Vec<i32> = owner.process().tasks().into_iter().filter(|&tid| tid != owner.pid()).collect();
    assert_eq!(others.len(), 2, "keeper and watcher");
    for tid in others {
        let held = descriptors(&format!("/proc/{}/task/{tid}/fd", owner.pid()));
        assert!(held.len() < 20, "{held:?}");
        let of_host =
            |link: &str| link.starts_with("socket:") || before.iter().any(|(_, l)| l == link && link != "/dev/null");
        assert!(held.iter().all(|(_, link)| !of_host(link)), "a copy of the host's: {held:?}");
    }
}
