//! The ways in which an owner can end, and a case played for each of them.

use super::support::deadline::SOON;
use super::support::process::Process;
use super::support::scene::actor_program;
use super::support::{Launch, Owner, Scene, eventually, sys};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Death {
    Kill,
    /// SIGKILL, while four threads of it spawn.
    KillInSpawns,
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
    pub death: Death,
    terminal: Option<OwnedFd>,
}

/// Plays a case for each of these deaths, all at once, on one stage: what takes time is the graces. Beside them lives a
/// control owner, to whose child nothing must have come in the end.
pub fn for_each(deaths: &[Death], case: impl Fn(&Scene, Doomed) + Sync) {
    for_each_of(deaths, |scene, death| death.owner(scene), case);
}

/// As [`for_each`], with owners of the test's own making.
pub fn for_each_of(
    deaths: &[Death],
    cast: impl Fn(&Scene, Death) -> Doomed + Sync,
    case: impl Fn(&Scene, Doomed) + Sync,
) {
    let scene = Scene::new();
    let mut control = scene.control();
    let test = thread::current().name().unwrap_or("a test").to_string();
    let ends: Vec<_> = thread::scope(|scope| {
        let (scene, cast, case) = (&scene, &cast, &case);
        let play = |death: Death| {
            // Its name is what a failure is known by.
            let one = thread::Builder::new().name(format!("{test}, {death:?}"));
            one.spawn_scoped(scope, move || case(scene, cast(scene, death))).expect("a thread")
        };
        let running: Vec<_> = deaths.iter().copied().map(play).collect();
        running.into_iter().map(|one| one.join()).collect()
    });
    if let Some(failure) = ends.into_iter().find_map(Result::err) {
        resume_unwind(failure);
    }
    control.assert_unharmed();
}

impl Death {
    pub const ALL: [Death; 9] = [
        Death::Kill,
        Death::KillInSpawns,
        Death::Term,
        Death::Segv,
        Death::Abort,
        Death::UnderscoreExit,
        Death::Exit,
        Death::Panic,
        Death::Hangup,
    ];

    /// For owners whose standard input is the case itself.
    pub const WITHOUT_A_TERMINAL: [Death; 8] = {
        let [without @ .., _] = Death::ALL;
        without
    };

    /// One of each kind, for cases that are decided before the owner's end and cost a lot: the kernel ends it in the
    /// midst of whatever it did, it leaves by itself and runs its exit handlers, its session loses the terminal.
    pub const KINDS: [Death; 3] = [Death::Kill, Death::Exit, Death::Hangup];

    pub fn owner(self, scene: &Scene) -> Doomed {
        self.owner_from(scene, scene.dressed(actor_program()))
    }

    /// From a command of [`Scene::dressed`].
    pub fn owner_from(self, scene: &Scene, mut command: Command) -> Doomed {
        if self == Death::Hangup {
            return self.owner_on_a_terminal(scene, command);
        }
        // What a panic says is not for the test's reader.
        command.process_group(0).stderr(Stdio::null());
        self.of(scene.owner_from(command, Launch::default()), None)
    }

    /// With a terminal, whether or not it is to die of its loss.
    pub fn owner_on_a_terminal(self, scene: &Scene, command: Command) -> Doomed {
        let (owner, terminal) = on_a_terminal(scene, command);
        self.of(owner, Some(terminal))
    }

    /// For an owner that was started already.
    pub fn of(self, mut owner: Owner, terminal: Option<OwnedFd>) -> Doomed {
        assert!(self != Death::Hangup || terminal.is_some(), "it has no terminal to lose");
        owner.must("no-core");
        owner.must(&format!("configure grace={}", GRACE.as_millis()));
        Doomed { owner, death: self, terminal }
    }
}

impl Doomed {
    /// It ends; this is the moment.
    #[track_caller]
    pub fn die(&mut self) -> Instant {
        if self.death == Death::KillInSpawns {
            self.begin_to_spawn();
        }
        let moment = Instant::now();
        match self.death {
            Death::Kill | Death::KillInSpawns => return self.owner.kill(),
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

    fn begin_to_spawn(&mut self) {
        let slots = |owner: &mut Owner| owner.must("status")["slots_in_use"].as_i64().expect("a number");
        let before = slots(&mut self.owner);
        self.owner.must("storm 4");
        eventually(SOON, "its threads spawn", || slots(&mut self.owner) > before);
    }
}

/// An owner that leads a session of its own on a pseudo-terminal and is its foreground; the master end.
pub fn on_a_terminal(scene: &Scene, mut command: Command) -> (Owner, OwnedFd) {
    let (master, slave) = sys::open_pty().expect("a pseudo-terminal");
    let stream = || Stdio::from(slave.try_clone().expect("dup"));
    command.stdin(stream()).stdout(stream()).stderr(stream());
    sys::lead_session_on(&mut command, slave.as_raw_fd());
    let launch = Launch { over_socket: true };
    (scene.owner_from(command, launch), master)
}

/// Gone that long after the moment, and not sooner than the grace after it: KILL was the last resort.
#[track_caller]
pub fn assert_killed_after_grace(process: &Process, moment: Instant, who: &str) {
    process.assert_gone_by(moment + SOON_GONE, who);
    assert!(moment.elapsed() >= GRACE, "{who} was killed {:?} after the owner's end", moment.elapsed());
}
