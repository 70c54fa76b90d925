//! `reaped.jsonl`: who ended whose group, how, and how long it took.

use super::support::{Launch, Owner, Scene, Started, within};
use super::timing::{GRACE, assert_gone_in_time, configure};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const LIMIT_BYTES: usize = 1 << 20;

/// Whole lines only; each must be JSON.
fn lines(scene: &Scene, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(scene.hermes_home().join(file)).unwrap_or_default();
    text.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The one line about this group, once it is there.
#[track_caller]
fn line_of(scene: &Scene, owner: &Owner, pgid: i32) -> Value {
    let about = || {
        let found = lines(scene, "reaped.jsonl").into_iter();
        found.filter(|l| l["owner"]["pid"] == owner.pid() && l["pgid"] == pgid).collect::<Vec<_>>()
    };
    assert!(within(Duration::from_secs(10), || !about().is_empty()), "nothing about group {pgid}");
    let found = about();
    assert_eq!(found.len(), 1, "{found:?}");
    let line = found[0].clone();
    assert_eq!(line["v"], 1);
    assert_eq!(line["owner"]["start"], owner.process().start_ticks);
    line
}

#[test]
fn each_group_that_the_owner_left_has_its_line() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let began_unix_ms = unix_ms();
    let obedient = owner.spawn("sleeper");
    let stubborn = owner.spawn("stubborn sleeper");
    let seats = [&obedient, &stubborn].map(|started| scene.seat(started, "sleeper"));
    // A group that ends while nobody looks. The supervisor, which knows it, finds it gone when it comes to end it, or
    // lets it go before, if it hears of its leader's end before it hears of the owner's.
    let supervisor = owner.supervisor();
    let (mut foreign, seat) = scene.stranger("sleeper");
    owner.must(&format!("own {}", seat.process.pid));
    owner.must(&format!("signal {} {}", stubborn.pid, libc::SIGCONT));
    supervisor.signal(libc::SIGSTOP).expect("stop it");
    supervisor.until_state('T');
    foreign.kill().expect("kill");
    foreign.wait().expect("reap");
    owner.kill();
    supervisor.signal(libc::SIGCONT).expect("continue it");
    let continued_at = std::time::Instant::now();
    assert_gone_in_time(continued_at, &seats.each_ref(), &supervisor);
    let grace_ms = GRACE.as_millis() as u64;
    let mut expected = vec![(obedient.pid, "term", 0..grace_ms), (stubborn.pid, "kill", grace_ms..grace_ms + 1_000)];
    if lines(&scene, "reaped.jsonl").len() > expected.len() {
        expected.push((seat.process.pid, "gone", 0..grace_ms));
    }
    let count = expected.len();
    for (pgid, outcome, ms) in expected {
        let line = line_of(&scene, &owner, pgid);
        assert_eq!((&line["cause"], &line["outcome"]), (&"owner_gone".into(), &outcome.into()), "{line}");
        assert!(ms.contains(&line["ms"].as_u64().expect("ms")), "{line}");
        assert!((began_unix_ms..=unix_ms()).contains(&line["at"].as_u64().expect("at")), "{line}");
    }
    assert_eq!(lines(&scene, "reaped.jsonl").len(), count, "and nothing else");
    control.assert_unharmed();
}

/// As `mkdir -p` would make it, for its owner alone.
#[test]
fn a_home_is_made_with_whatever_is_missing_above_it() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    let home = scene.folder().join("not/there/yet");
    owner.must(&format!("configure home={}", home.display()));
    stop_one(&scene, &mut owner);
    assert!(within(Duration::from_secs(10), || home.join("reaped.jsonl").exists()), "nothing was written");
    for made in [&home, &scene.folder().join("not")] {
        let mode = fs::metadata(made).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", made.display());
    }
}

#[test]
fn a_relative_home_in_the_environment_is_below_the_directory_of_the_first_use() {
    let scene = Scene::new();
    let folder = scene.folder().join("work");
    fs::create_dir(&folder).expect("mkdir");
    let mut command = scene.actor();
    command.env("HERMES_HOME", "here/home").current_dir(&folder);
    let mut owner = scene.owner_from(command, Launch::default());
    assert_eq!(owner.must("status")["home"], folder.join("here/home").display().to_string());
    stop_one(&scene, &mut owner);
    let written = || folder.join("here/home/reaped.jsonl").exists();
    assert!(within(Duration::from_secs(10), written), "nothing was written");
}

fn stop_one(scene: &Scene, owner: &mut Owner) {
    let started = owner.spawn("sleeper");
    scene.seat(&started, "sleeper");
    owner.must(&format!("stop {} 1000", started.pid));
}

#[test]
fn each_stop_has_its_line_also_when_the_owner_dies_at_once() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    configure(&mut owner);
    let mut stop = |shape: &str, grace_ms: u32| -> Started {
        let started = owner.spawn(shape);
        scene.seat(&started, "sleeper");
        owner.must(&format!("stop {} {grace_ms}", started.pid));
        started
    };
    let stubborn = stop("stubborn sleeper", 100);
    let obedient: Vec<Started> = (0..5).map(|_| stop("sleeper", 2_000)).collect();
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    assert_gone_in_time(killed_at, &[], &supervisor);
    for started in &obedient {
        let line = line_of(&scene, &owner, started.pid);
        assert_eq!((&line["cause"], &line["outcome"]), (&"stop".into(), &"term".into()), "{line}");
        assert!(line["ms"].as_u64().is_some_and(|ms| ms < 2_000), "{line}");
    }
    let line = line_of(&scene, &owner, stubborn.pid);
    assert_eq!((&line["cause"], &line["outcome"]), (&"stop".into(), &"kill".into()), "{line}");
    assert!(line["ms"].as_u64().is_some_and(|ms| (100..1_100).contains(&ms)), "{line}");
    control.assert_unharmed();
}

#[test]
fn a_file_of_a_mebibyte_is_moved_aside_and_the_one_before_it_is_lost() {
    let scene = Scene::new();
    let mut control = scene.control();
    let home = scene.hermes_home();
    fs::create_dir_all(&home).expect("home");
    fs::write(home.join("reaped.jsonl.1"), "older\n").expect("older");
    let mut full = vec![b'x'; LIMIT_BYTES];
    *full.last_mut().expect("not empty") = b'\n';
    fs::write(home.join("reaped.jsonl"), &full).expect("full");
    let mut owner = scene.owner();
    configure(&mut owner);
    let started = owner.spawn("sleeper");
    scene.seat(&started, "sleeper");
    let supervisor = owner.supervisor();
    let killed_at = owner.kill();
    assert_gone_in_time(killed_at, &[], &supervisor);
    assert_eq!(line_of(&scene, &owner, started.pid)["outcome"], "term");
    assert!(fs::read(home.join("reaped.jsonl.1")).is_ok_and(|moved| moved == full), "the full one was not moved");
    assert_eq!(lines(&scene, "reaped.jsonl").len(), 1);
    control.assert_unharmed();
}

fn unix_ms() -> u64 {
    std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_millis() as u64
}
