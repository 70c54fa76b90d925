//! The home directory is where a supervisor writes down what it did. Whatever is wrong with it, deaths are on time.

use super::support::fuse::Hang;
use super::support::{Scene, mounts};
use super::timing::{assert_gone_in_time, assert_graces};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Long for a call that waits for nothing; short for one that waits for a file system.
const CALL_LIMIT: Duration = Duration::from_secs(2);

#[test]
fn a_home_that_hangs_delays_no_death() {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let home = scene.folder().join("hung/home");
    let Some(mut fuse) = scene.hung(Hang::Names) else { return };
    deaths_with(&scene, &home);
    fuse.end();
}

#[test]
fn a_home_on_a_full_file_system_delays_no_death() {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let home = scene.folder().join("full");
    mounts::mount("tmpfs", &home, 0, "size=16k").expect("tmpfs");
    let mut filler = fs::File::create(home.join("filler")).expect("filler");
    while filler.write_all(&[1; 512]).is_ok() {}
    drop(filler);
    deaths_with(&scene, &home);
    mounts::detach(&home);
}

#[test]
fn a_home_that_cannot_be_written_delays_no_death() {
    let Some(scene) = Scene::with_private_mounts() else { return };
    let home = scene.folder().join("read-only");
    mounts::mount("tmpfs", &home, libc::MS_RDONLY, "").expect("tmpfs");
    deaths_with(&scene, &home);
    mounts::detach(&home);
}

#[test]
fn a_home_that_is_missing_or_no_directory_delays_no_death() {
    let scene = Scene::new();
    deaths_with(&scene, &scene.folder().join("not/there/at/all"));
    fs::write(scene.folder().join("file"), "").expect("a file");
    deaths_with(&scene, &scene.folder().join("file"));
}

fn deaths_with(scene: &Scene, home: &Path) {
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must(&format!("configure grace={} home={}", super::timing::GRACE.as_millis(), home.display()));
    let seats = ["sleeper", "stubborn sleeper", "leave-daemon stubborn sleeper"]
        .map(|shape| scene.seat(owner.spawn(shape), "sleeper"));
    let supervisor = owner.supervisor();
    // Each of these is something to be written down.
    for _ in 0..3 {
        let stopped = owner.spawn("stubborn sleeper");
        scene.seat(&stopped, "sleeper");
        let began = Instant::now();
        owner.must(&format!("stop {} 50", stopped.pid));
        assert!(began.elapsed() < CALL_LIMIT, "a stop took {:?}", began.elapsed());
    }
    let killed_at = owner.kill();
    assert_graces(killed_at, &seats[0], &seats[1]);
    assert_gone_in_time(killed_at, &seats.each_ref(), &supervisor);
    control.assert_unharmed();
}
