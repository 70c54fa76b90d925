//! An owner whose standard input is /dev/null, closed, or a pipe at its end, or that is a background job of a shell:
//! its child lives while it does, and dies with it.

use super::deaths::{Death, SOON_GONE, for_each_of};
use super::support::scene::actor_program;
use super::support::{Launch, Scene, sys};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

fn check(input: impl Fn(&Scene) -> Command + Sync) {
    let cast = |scene: &Scene, death: Death| {
        let mut command = input(scene);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        death.of(scene.owner_from(command, Launch { over_socket: true }), None)
    };
    for_each_of(&Death::WITHOUT_A_TERMINAL, cast, |scene, mut doomed| {
        let child = doomed.owner.spawn("stubborn sleeper");
        let sleeper = scene.seat(&child, "sleeper");
        for _ in 0..3 {
            doomed.owner.must(&format!("signal {} {}", child.pid, libc::SIGCONT));
        }
        sleeper.process.assert_alive("the child");
        let moment = doomed.die();
        sleeper.process.assert_gone_by(moment + SOON_GONE, "the child");
    });
}

#[test]
fn dev_null() {
    check(|scene| {
        let mut command = scene.actor();
        command.stdin(Stdio::null());
        command
    });
}

#[test]
fn closed() {
    check(|scene| {
        let mut command = scene.actor();
        sys::close_before_exec(&mut command, 0);
        command
    });
}

#[test]
fn a_pipe_at_its_end() {
    check(|scene| {
        let mut command = scene.actor();
        let (read_end, write_end) = sys::pipe().expect("a pipe");
        drop(write_end);
        command.stdin(read_end);
        command
    });
}

#[test]
fn a_background_job() {
    check(|scene| {
        let mut command = scene.dressed("/bin/sh".as_ref());
        command.process_group(0).arg("-c").arg("\"$0\" \"$@\" & wait").arg(actor_program());
        command
    });
}
