//! The ways in which an owner can end.

use super::support::process::Process;
use super::support::{Owner, Scene, sys};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Death {
    Kill,
    Term,
    Segv,
    Abort,
    UnderscoreExit,
    Exit,
    Panic,
    /// Its terminal goes away.
    Hangup,
}

/// The grace of the owners here: long enough to see that KILL waits for it, and short.
pub const GRACE: Duration = Duration::from_millis(400);
/// From the owner's end to everybody's.
pub const SOON_GONE: Duration = Duration::from_secs(3);

/// An owner that is to die in one of these ways.
pub struct Doomed {
    pub owner: Owner,
    death: Death,
    terminal: Option<OwnedFd>,
}

impl Death {
    pub const ALL: [Death; 8] = [
        Death::Kill,
        Death::Term,
        Death::Segv,
        Death::Abort,
        Death::UnderscoreExit,
        Death::Exit,
        Death::Panic,
        Death::Hangup,
    ];

    pub fn owner(self, scene: &Scene) -> Doomed {
        let (mut owner, terminal) = match self {
            Death::Hangup => {
                let (owner, terminal) = on_a_terminal(scene);
                (owner, Some(terminal))
            }
            _ => {
                let mut command = scene.actor();
                // What a panic says is not for the test's reader.
                command.stderr(Stdio::null());
                (scene.owner_from(command, Default::default()), None)
            }
        };
        owner.must("no-core");
        owner.must(&format!("configure grace={}", GRACE.as_millis()));
        Doomed { owner, death: self, terminal }
    }
}

impl Doomed {
    /// It ends; this is the moment.
    #[track_caller]
    pub fn die(&mut self) -> Instant {
        let moment = Instant::now();
        match self.death {
            Death::Kill => return self.owner.kill(),
            Death::Term => self.owner.process().signal(libc::SIGTERM).expect("signal the owner"),
            Death::Segv => self.owner.tell("segv"),
            Death::Abort => self.owner.tell("abort"),
            Death::UnderscoreExit => self.owner.tell("_exit 3"),
            Death::Exit => self.owner.close_input(),
            Death::Panic => self.owner.tell("panic"),
            Death::Hangup => drop(self.terminal.take()),
        }
        self.owner.reap();
        moment
    }
}

/// An owner that leads a session of its own on a pseudo-terminal and is its foreground; the master end.
pub fn on_a_terminal(scene: &Scene) -> (Owner, OwnedFd) {
    let (master, slave) = sys::open_pty().expect("a pseudo-terminal");
    // Not `Scene::actor`: the leader of a group cannot make a session.
    let mut command = std::process::Command::new(super::support::scene::actor_program());
    scene.dress(&mut command);
    let stream = || Stdio::from(slave.try_clone().expect("dup"));
    command.stdin(stream()).stdout(stream()).stderr(stream());
    sys::lead_session_on(&mut command, slave.as_raw_fd());
    let launch = super::support::owner::Launch { over_socket: true };
    (scene.owner_from(command, launch), master)
}

/// Gone that long after the moment, and not sooner than the grace after it: KILL was the last resort.
#[track_caller]
pub fn assert_killed_after_grace(process: &Process, moment: Instant, who: &str) {
    process.assert_gone_by(moment + SOON_GONE, who);
    assert!(moment.elapsed() >= GRACE, "{who} was killed {:?} after the owner's end", moment.elapsed());
}
