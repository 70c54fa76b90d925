//! What can be set is set before the first use, within its range, or not at all.

use super::support::{Owner, Scene};

#[track_caller]
fn is_refused(owner: &mut Owner, setting: &str, says: &[&str]) {
    let refusal = owner.ask(&format!("configure {setting}")).expect_err(setting);
    assert_eq!(
        (refusal.name.as_str(), refusal.step.as_str()),
        ("HERMES_ERR_INVALID_ARGUMENT", "configure"),
        "{setting}"
    );
    for said in says {
        assert!(refusal.message.contains(said), "{setting}: {said:?} is not in {:?}", refusal.message);
    }
}

#[test]
fn what_is_in_use_stays_as_it_is() {
    let scene = Scene::new();
    for first_use in ["status", "spawn tag=t -- sleeper", "own", "release 12345"] {
        let mut owner = scene.owner();
        owner.must("configure grace=1234 idle=5678");
        owner.must("configure grace=1200 idle=5600");
        owner.must(first_use);
        is_refused(&mut owner, "grace=1 idle=1", &["too late"]);
        let status = owner.must("status");
        assert_eq!((&status["grace_ms"], &status["idle_ms"]), (&1200.into(), &5600.into()), "{first_use}");
    }
}

#[test]
fn values_out_of_range_are_refused_and_nothing_is_set() {
    let scene = Scene::new();
    let mut owner = scene.owner();
    is_refused(&mut owner, "idle=77 grace=3600001", &["grace", "3600.001s", "3600s"]);
    is_refused(&mut owner, "grace=77 idle=86400001", &["idle", "86400.001s", "86400s"]);
    is_refused(&mut owner, "grace=77 home=some/where", &["home", "some/where", "absolute"]);
    let status = owner.must("status");
    assert_eq!((&status["grace_ms"], &status["idle_ms"]), (&3000.into(), &30_000.into()), "the defaults");
    assert_eq!(status["home"], scene.hermes_home().display().to_string(), "the home of the environment");
}

#[test]
fn the_ends_of_the_ranges_are_in_them() {
    let scene = Scene::new();
    for (grace_ms, idle_ms) in [(0, 0), (3_600_000, 86_400_000)] {
        let mut owner = scene.owner();
        owner.must(&format!("configure grace={grace_ms} idle={idle_ms} home=/some/where/profiles/name"));
        let status = owner.must("status");
        assert_eq!((&status["grace_ms"], &status["idle_ms"]), (&grace_ms.into(), &idle_ms.into()));
        assert_eq!(status["home"], "/some/where", "the home of a profile leads to its root");
    }
}
