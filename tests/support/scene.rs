//! The stage of one test: a home, a mark, a mailbox in which the actors announce that they are in position, and a
//! clean-up that leaves nothing behind, also when the test panics.

use super::deadline::{SOON, within};
use super::fuse::{Fuse, Hang};
use super::mounts;
use super::owner::{Launch, Owner};
use super::process::{Glance, Process, numbers_in, supervisors};
use super::sys;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Environment variable that every process of a test carries, unless it is its part to lose it.
pub const MARK: &str = "HERMES_TEST";

/// A process that has announced itself: who it is, and what it says about its position.
#[derive(Debug)]
pub struct Seat {
    pub tag: String,
    pub role: String,
    pub process: Process,
    pub pgid: i32,
    pub session: i32,
    /// Where it listens, if it does.
    pub address: Option<SocketAddr>,
    /// Whatever else it has to say.
    pub detail: serde_json::Value,
}

#[derive(Default)]
struct Mailbox {
    seats: Mutex<Vec<Seat>>,
    arrived: Condvar,
}

pub struct Scene {
    home: tempfile::TempDir,
    mark: String,
    mailbox: Arc<Mailbox>,
    postman: Option<thread::JoinHandle<()>>,
    next_tag: AtomicU32,
    /// Everybody who was ever met, with their groups, to be ended with the scene: owners and announced processes.
    met: Arc<Mutex<Vec<(Process, i32)>>>,
    since_ticks: u64,
}

impl Scene {
    pub fn new() -> Scene {
        // A short path: the mailbox' name must fit a socket address.
        let home = tempfile::Builder::new().prefix("hs-").tempdir_in("/tmp").expect("a temporary home");
        let socket = UnixDatagram::bind(home.path().join("mail")).expect("the mailbox");
        let mailbox = Arc::new(Mailbox::default());
        let met = Arc::new(Mutex::new(Vec::new()));
        let postman = {
            let (mailbox, met) = (mailbox.clone(), met.clone());
            thread::spawn(move || deliver(&socket, &mailbox, &met))
        };
        let mark = sys::random_name();
        let since_ticks = sys::boot_ticks();
        Scene { home, mark, mailbox, postman: Some(postman), next_tag: AtomicU32::new(1), met, since_ticks }
    }

    /// A scene that may mount below its folder: in a mount namespace of this thread's own, which what it starts shares.
    /// `None`: that cannot be had here, and why was said.
    pub fn with_private_mounts() -> Option<Scene> {
        if !super::is_root() {
            super::announce_skip("a mount needs root");
            return None;
        }
        if let Err(why) = mounts::become_private() {
            super::announce_skip(&format!("no mount namespace of one's own: {why}"));
            return None;
        }
        Some(Scene::new())
    }

    /// A file system that hangs, on the folder `hung` of a scene with private mounts. `None`: there is no FUSE here, and
    /// that was said.
    ///
    /// To be dropped before any owner is: one whose child hangs in it cannot end.
    pub fn hung(&self, hang: Hang) -> Option<Fuse> {
        let mounted = Fuse::mount(&self.folder().join("hung"), hang);
        mounted.map_err(|why| super::announce_skip(&format!("no FUSE here: {why}"))).ok()
    }

    /// A folder of this scene's own; also the `HERMES_HOME` of its actors, below it.
    pub fn folder(&self) -> &Path {
        self.home.path()
    }

    pub fn hermes_home(&self) -> PathBuf {
        self.home.path().join("home")
    }

    pub fn mail_path(&self) -> PathBuf {
        self.home.path().join("mail")
    }

    /// Lets actors of other users send their mail, and write below this scene's home.
    pub fn open_to_other_users(&self) {
        fs::create_dir_all(self.hermes_home()).expect("the home");
        for path in [self.folder(), &self.hermes_home(), &self.mail_path()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("chmod");
        }
    }

    /// A label that nobody else in this scene has.
    pub fn fresh_tag(&self) -> String {
        format!("t{}", self.next_tag.fetch_add(1, Ordering::Relaxed))
    }

    /// The actor, not started yet: in a group of its own, with this scene's home and mark and no outer owner's mark.
    /// Add arguments (`owner MAIL`, `child MAIL TAG SHAPE...`), or start it with [`Scene::owner`].
    pub fn actor(&self) -> Command {
        self.actor_from(actor_program())
    }

    /// A copy of the actor in this scene's folder, with this mode: for users who cannot reach the original, and for a
    /// path with no telling name in it. The scene's folder and mailbox are opened to everybody.
    pub fn private_actor(&self, mode: u32) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
        open(self.folder(), 0o777);
        open(&self.mail_path(), 0o777);
        let copy = self.folder().join(format!("actor-{mode:o}"));
        // One thread of the test at a time; and by a program of its own, as whatever this process forks meanwhile would
        // hold a file that it writes, and nobody could execute that.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock();
        if !copy.exists() {
            assert!(Command::new("cp").arg(actor_program()).arg(&copy).status().expect("cp").success());
            open(&copy, mode);
        }
        copy
    }

    /// As [`Scene::actor`], from another file.
    pub fn actor_from(&self, program: &Path) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = self.dressed(program);
        command.process_group(0);
        command
    }

    /// As [`Scene::actor_from`], and its group is still to be chosen: the leader of one can make no session.
    pub fn dressed(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        self.dress(&mut command);
        command
    }

    /// Gives a command this scene's home and mark, and takes from it the mark of an owner around the tests.
    pub fn dress(&self, command: &mut Command) {
        command.env("HERMES_HOME", self.hermes_home()).env(MARK, &self.mark);
        command.env_remove("HERMES_SPAWN").env_remove("RUST_BACKTRACE");
    }

    /// An owner that waits for commands.
    pub fn owner(&self) -> Owner {
        self.owner_from(self.actor(), Launch::default())
    }

    /// An owner started in a way of the test's own.
    pub fn owner_from(&self, command: Command, launch: Launch) -> Owner {
        let owner = Owner::start(self, command, launch);
        self.remember(owner.process());
        owner
    }

    /// A second owner that lives beside the one under test, with a child that must survive whatever happens to that.
    pub fn control(&self) -> Control {
        self.control_from(self.actor())
    }

    /// As [`Scene::control`], started in a way of the test's own.
    pub fn control_from(&self, command: Command) -> Control {
        let mut owner = self.owner_from(command, Launch::default());
        let started = owner.spawn("canary");
        let canary = self.seat(&started, "canary");
        Control { owner, canary }
    }

    /// Starts a shape that nobody owns, as a child of the test: a stranger.
    pub fn stranger(&self, shape: &str) -> (std::process::Child, Seat) {
        let tag = self.fresh_tag();
        let mut command = self.actor();
        command.arg("child").arg(self.mail_path()).arg(&tag).args(shape.split_whitespace());
        let child = command.spawn().expect("start a stranger");
        let seat = self.seat(&tag, shape.split_whitespace().last().expect("a shape"));
        (child, seat)
    }

    /// Waits for the process with this tag to announce itself in this role. Each announcement is handed out once.
    #[track_caller]
    pub fn seat(&self, tag: impl AsRef<str>, role: &str) -> Seat {
        let tag = tag.as_ref();
        match self.seat_within(tag, role, SOON) {
            Some(seat) => seat,
            None => {
                // Not under the lock: other threads of the test go on with the mailbox.
                let unread = format!("{:?}", self.mailbox.seats.lock());
                panic!("{role} of {tag} never announced itself; unread: {unread}")
            }
        }
    }

    pub fn seat_within(&self, tag: &str, role: &str, wait: Duration) -> Option<Seat> {
        let end = Instant::now() + wait;
        let mut seats = self.mailbox.seats.lock().expect("mailbox");
        loop {
            if let Some(at) = seats.iter().position(|s| s.tag == tag && s.role == role) {
                return Some(seats.remove(at));
            }
            let left = end.checked_duration_since(Instant::now())?;
            seats = self.mailbox.arrived.wait_timeout(seats, left).expect("mailbox").0;
        }
    }

    /// To be ended with the scene.
    pub fn remember(&self, process: &Process) {
        let group = process.stat().map_or(0, |stat| stat.pgrp);
        self.met.lock().expect("met").push((Process::met(process.pid, process.start_ticks), group));
    }

    /// Every running process that carries this scene's mark.
    pub fn marked(&self) -> Vec<Process> {
        let own = std::process::id() as i32;
        let candidates: Vec<i32> = numbers_in("/proc").into_iter().filter(|&pid| pid != own).collect();
        carriers_of(candidates, &self.mark).into_iter().filter_map(Process::open).collect()
    }
}

/// Which of them carry this mark. Reading another process' environment can block for ever (its memory map
/// may be locked), so a thread does it that is left behind at the one that does not answer.
fn carriers_of(mut candidates: Vec<i32>, mark: &str) -> Vec<i32> {
    candidates.retain(|&pid| Glance::at(pid).is_some_and(|found| found.runs()));
    let entry = format!("{MARK}={mark}");
    let mut found = Vec::new();
    while !candidates.is_empty() {
        let (asked, answers) = mpsc::channel();
        let (batch, wanted) = (candidates.clone(), entry.clone());
        thread::spawn(move || {
            for pid in batch {
                let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                let carries = environ.split(|&c| c == 0).any(|e| e == wanted.as_bytes());
                if asked.send(carries).is_err() {
                    return;
                }
            }
        });
        let mut read = 0;
        while let Ok(carries) = answers.recv_timeout(Duration::from_secs(2)) {
            found.extend(carries.then_some(candidates[read]));
            read += 1;
        }
        candidates.drain(..(read + 1).min(candidates.len()));
    }
    found
}

/// The mailbox' thread: opens a pidfd for whoever announces itself, while the message is fresh.
fn deliver(socket: &UnixDatagram, mailbox: &Mailbox, met: &Mutex<Vec<(Process, i32)>>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length) = socket.recv(&mut buffer) {
        if length == 0 {
            return;
        }
        let message: serde_json::Value = serde_json::from_slice(&buffer[..length]).expect("an announcement");
        let number = |name: &str| message[name].as_i64().unwrap_or(0);
        let text = |name: &str| message[name].as_str().unwrap_or_default().to_string();
        let process = Process::met(number("pid") as i32, number("start") as u64);
        let again = Process::met(process.pid, process.start_ticks);
        met.lock().expect("met").push((again, number("pgid") as i32));
        let seat = Seat {
            tag: text("tag"),
            role: text("role"),
            process,
            pgid: number("pgid") as i32,
            session: number("sid") as i32,
            address: text("address").parse().ok(),
            detail: message["detail"].clone(),
        };
        mailbox.seats.lock().expect("mailbox").push(seat);
        mailbox.arrived.notify_all();
    }
}

impl Scene {
    /// KILL to everybody who was met or carries the mark, and to their groups. True: there was nobody left.
    ///
    /// A list of processes is never up to date while they fork; the signal to a group is, so known groups are
    /// signalled whether or not anybody was seen in them, unless somebody is in there who is none of ours.
    fn end_everybody(&self, met: &[(Process, i32)]) -> bool {
        let carriers = self.marked();
        let ours = |pid: i32| carriers.iter().chain(met.iter().map(|(p, _)| p)).any(|p| p.pid == pid && p.is_alive());
        let mut groups: Vec<i32> = met.iter().map(|(_, group)| *group).collect();
        groups.extend(carriers.iter().filter_map(|p| p.stat()).map(|stat| stat.pgrp));
        groups.sort_unstable();
        groups.dedup();
        // SAFETY: no arguments.
        let own_group = unsafe { libc::getpgrp() };
        let everybody: Vec<(i32, Glance)> =
            numbers_in("/proc").into_iter().filter_map(|pid| Some((pid, Glance::at(pid)?))).collect();
        for group in groups.into_iter().filter(|&group| group > 1 && group != own_group) {
            // Whoever has joined since the look at the marks is asked for his.
            let members = everybody.iter().filter(|(_, who)| who.pgrp == group && who.runs()).map(|(pid, _)| *pid);
            let mut unknown: Vec<i32> = members.filter(|&pid| !ours(pid)).collect();
            // The number of a group that has ended may be another's since that look: of one with a leader, then.
            if sys::group_of(group) == Some(group) && !ours(group) && !unknown.contains(&group) {
                unknown.push(group);
            }
            let marked = carriers_of(unknown.clone(), &self.mark);
            let runs = |pid: i32| Glance::at(pid).is_some_and(|found| found.runs());
            let stranger = unknown.iter().any(|&pid| !marked.contains(&pid) && runs(pid));
            if !stranger {
                let _ = sys::kill(-group, libc::SIGKILL);
            }
        }
        for process in met.iter().map(|(p, _)| p).chain(&carriers) {
            let _ = process.signal(libc::SIGKILL);
        }
        carriers.is_empty() && met.iter().all(|(process, _)| process.is_gone())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let met: Vec<(Process, i32)> = std::mem::take(&mut *self.met.lock().expect("met"));
        let supervisors: Vec<Process> = supervisors()
            .into_iter()
            .filter(|(owner, s)| s.start_ticks >= self.since_ticks && met.iter().any(|(p, _)| p.pid == *owner))
            .map(|(_, supervisor)| supervisor)
            .collect();
        self.end_everybody(&met);
        let clean = within(SOON, || self.end_everybody(&met));
        // Their owners are dead and they have nothing left to do: that they would leave by themselves is not waited for.
        for supervisor in &supervisors {
            let _ = supervisor.signal(libc::SIGKILL);
            supervisor.gone_by(sys::after(SOON));
        }
        if let (Ok(bell), Some(postman)) = (UnixDatagram::unbound(), self.postman.take()) {
            let _ = bell.send_to(&[], self.mail_path());
            let _ = postman.join();
        }
        if !clean && !thread::panicking() {
            panic!("the scene could not be cleaned: {:?} {:?}", self.marked(), met);
        }
    }
}

/// The owner that lives on, and its child, which blocks every signal and so keeps what anybody sent it.
pub struct Control {
    pub owner: Owner,
    pub canary: Seat,
}

impl Control {
    /// Alive, covered, and never signalled by anybody.
    #[track_caller]
    pub fn assert_unharmed(&mut self) {
        self.owner.process().assert_alive("the control owner");
        self.canary.process.assert_untouched("the control owner's child");
        let status = self.owner.ask("status").expect("status of the control owner");
        assert_eq!(status["slots_in_use"], 1, "the control owner's child is covered: {status}");
    }
}

/// The example program `actor`, built beside this test.
pub fn actor_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(given) = std::env::var_os("HERMES_TEST_ACTOR") {
            return given.into();
        }
        let own = std::env::current_exe().expect("own path");
        let profile = own.parent().and_then(Path::parent).expect("target/PROFILE/deps/TEST");
        let program = profile.join("examples/actor");
        // `cargo test` builds examples, `cargo test --test NAME` does not: an old actor would be tested in silence.
        let age = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
        if age(&program) < age(&own) {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut build = Command::new(cargo);
            build.args(["build", "--quiet", "--example", "actor", "--manifest-path"]);
            build.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
            build.arg("--target-dir").arg(profile.parent().expect("target"));
            if profile.ends_with("release") {
                build.arg("--release");
            }
            assert!(build.status().expect("cargo build --example actor").success(), "the actor does not build");
        }
        assert!(program.exists(), "no {}", program.display());
        program
    })
}
