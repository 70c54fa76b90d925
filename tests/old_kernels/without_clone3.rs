//! clone3(2) is refused by filters that are older than it. Then the child itself sets caught signals to their default,
//! and everything else is as ever.

use super::support::Scene;
use super::support::seccomp::{Action, Filter};
use super::the_promise::{self, owner_under};

#[test]
fn the_older_clone_does_as_well() {
    let scene = Scene::new();
    let filter = Filter::new().on(libc::SYS_clone3, Action::Errno(libc::ENOSYS));
    let mut owner = owner_under(&scene, &filter, "");
    let mut control = scene.control();
    let cast = the_promise::play(&scene, &mut owner);
    assert_eq!(owner.guarantee("registration"), ("kernel".into(), String::new()));
    the_promise::kill_and_look(&mut owner, &mut control, &cast);
}
