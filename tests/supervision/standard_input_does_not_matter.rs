//! An owner whose standard input is /dev/null, closed, or a pipe at its end, or that is a background job of a shell:
//! its child lives while it does, and dies with it.

use super::deaths::{GRACE, SOON_GONE};
use super::support::owner::Launch;
use super::support::scene::actor_program;
use super::support::{Owner, Scene, sys};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

fn check(scene: &Scene, mut command: Command) {
    command.stdout(Stdio::null());
    let mut control = scene.control();
    let mut owner: Owner = scene.owner_from(command, Launch { over_socket: true });
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let child = owner.spawn("stubborn sleeper");
    let sleeper = scene.seat(&child, "sleeper");
    for _ in 0..3 {
        owner.must(&format!("signal {} {}", child.pid, libc::SIGCONT));
    }
    sleeper.process.assert_alive("the child");
    let moment = owner.kill();
    sleeper.process.assert_gone_by(moment + SOON_GONE, "the child");
    control.assert_unharmed();
}

#[test]
fn dev_null() {
    let scene = Scene::new();
    let mut command = scene.actor();
    command.stdin(Stdio::null());
    check(&scene, command);
}

#[test]
fn closed() {
    let scene = Scene::new();
    let mut command = scene.actor();
    sys::close_before_exec(&mut command, 0);
    check(&scene, command);
}

#[test]
fn a_pipe_at_its_end() {
    let scene = Scene::new();
    let mut command = scene.actor();
    let (read_end, write_end) = sys::pipe().expect("a pipe");
    drop(write_end);
    command.stdin(read_end);
    check(&scene, command);
}

#[test]
fn a_background_job() {
    let scene = Scene::new();
    let mut command = Command::new("/bin/sh");
    scene.dress(&mut command);
    command.process_group(0).arg("-c").arg("\"$0\" \"$@\" & wait").arg(actor_program());
    check(&scene, command);
}
