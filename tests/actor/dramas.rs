//! Whole lives of owners, played without a word to the test: what was reached stands in shared memory, so the owner can
//! be killed at any system call and nothing of the test's own is in the way.

use crate::announce;
use crate::progress::Progress;
use crate::raw;
use crate::shapes::own_program;
use hermes_spawn::{Child, Command, Config, Result, Stdio};
use serde_json::Value;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};

pub use crate::progress::{act, word};

/// Plays the drama of this name.
pub fn play(name: &str, folder: &str, foreign: &str) -> ! {
    let stage = Stage::new(Path::new(folder), foreign.parse().expect("a group"));
    match name {
        "owner" => stage.whole_life(),
        "supervised" => stage.supervised_life(),
        "storm" => stage.storm(),
        "idle-races" => stage.idle_races(),
        "raced-registration" => stage.raced_registration(),
        _ => panic!("no such drama: {name}"),
    }
}

struct Stage {
    progress: Progress,
    /// Where the children announce themselves.
    mail: UnixDatagram,
    foreign: i32,
}

impl Stage {
    fn new(folder: &Path, foreign: i32) -> Stage {
        let progress = Progress::at(&folder.join("progress")).expect("the progress");
        let mail = folder.join(format!("drama-{}", std::process::id()));
        announce::set_mail(&mail.display().to_string(), "drama");
        // An earlier owner may have had the same pid.
        let _ = std::fs::remove_file(&mail);
        let mail = UnixDatagram::bind(mail).expect("the drama's mailbox");
        Stage { progress, mail, foreign }
    }

    fn act(&self, act: u64) {
        self.progress.set(word::ACT, act);
    }

    fn spawn(&self, tag: &str, shape: &str) -> Child {
        let child = command(tag, shape).spawn_owned().expect("spawn");
        self.progress.set(word::SPAWNED, self.progress.get(word::SPAWNED) + 1);
        child
    }

    /// Waits until so many processes have announced themselves, and notes their pids.
    fn in_position(&self, count: usize) {
        let mut message = [0; 2048];
        for _ in 0..count {
            let length = self.mail.recv(&mut message).expect("an announcement");
            let said: Value = serde_json::from_slice(&message[..length]).expect("an announcement");
            let tag = said["tag"].as_str().unwrap_or_default();
            let role = said["role"].as_str().unwrap_or_default();
            let pid = said["pid"].as_u64().expect("a pid");
            let place = match (tag, role) {
                ("free", "daemon") => word::FREE_LEADER,
                ("free", _) => word::FREE_ESCAPEE,
                _ => word::OTHERS,
            };
            self.progress.set(place, pid);
        }
    }

    /// Initialise, spawn three children, own a foreign group, release one, stop one, exit.
    fn whole_life(&self) -> ! {
        crate::tasks::mark();
        self.act(act::BEGUN);
        hermes_spawn::configure(Config::new().grace(Duration::from_millis(act::GRACE_MS))).expect("configure");
        let kept = self.spawn("kept", "stubborn daemon sleeper");
        let free = self.spawn("free", "deaf daemon sleeper");
        let stopped = self.spawn("stopped", "sleeper");
        self.in_position(5);
        self.act(act::OWNING);
        hermes_spawn::own_process_groups(&[self.foreign]).expect("own");
        self.act(act::OWNED);
        self.act(act::RELEASING);
        hermes_spawn::release_process_groups(&[free.pgid()]).expect("release");
        self.act(act::RELEASED);
        stopped.stop(Duration::from_millis(500)).expect("stop");
        self.act(act::STOPPED);
        drop(kept);
        std::process::exit(0)
    }

    /// Everything a supervisor is asked for, one after the other, until it is let go; then a family to be covered by
    /// whatever supervisor there is. Waits for its input to end.
    fn supervised_life(&self) -> ! {
        let times = Config::new().grace(Duration::from_millis(act::GRACE_MS)).idle(Duration::from_millis(2));
        hermes_spawn::configure(times).expect("configure");
        let played = self.scenes();
        if let Err(error) = &played {
            eprintln!("the drama failed in act {}: {error}", self.progress.get(word::ACT));
        }
        self.act(if played.is_ok() { act::COVERED } else { act::FAILED });
        raw::pause_for_ever()
    }

    fn scenes(&self) -> Result<()> {
        self.act(act::BEGUN);
        let timed = |step: u64, deed: &dyn Fn() -> Result<()>| {
            let began = Instant::now();
            let outcome = deed();
            let took_ms = began.elapsed().as_millis() as u64;
            if took_ms > self.progress.get(word::SLOWEST_MS) {
                self.progress.set(word::SLOWEST_MS, took_ms);
                self.progress.set(word::SLOWEST, step);
            }
            self.act(step);
            outcome
        };
        let (first, left) = (std::cell::OnceCell::new(), std::cell::OnceCell::new());
        let keep = |cell: &std::cell::OnceCell<Child>, child: Child| drop(cell.set(child));
        let own =
            |cell: &std::cell::OnceCell<Child>, deed: &dyn Fn(&Child) -> Result<()>| deed(cell.get().expect("set"));
        timed(act::SPAWNED, &|| command("first", "stubborn sleeper").spawn_owned().map(|c| keep(&first, c)))?;
        timed(act::LEADERLESS, &|| command("left", "leave stubborn sleeper").spawn_owned().map(|c| keep(&left, c)))?;
        self.in_position(2);
        timed(act::WAITED, &|| own(&left, &|c| c.wait().map(drop)))?;
        timed(act::OWNED, &|| hermes_spawn::own_process_groups(&[self.foreign]))?;
        timed(act::SIGNALLED, &|| own(&first, &|c| c.signal(libc::SIGCONT)))?;
        timed(act::STOPPED, &|| own(&left, &|c| c.stop(Duration::from_millis(5))))?;
        timed(act::STOPPED + 1, &|| own(&first, &|c| c.stop(Duration::from_millis(5))))?;
        timed(act::RELEASED, &|| hermes_spawn::release_process_groups(&[self.foreign]))?;
        // Nothing is covered now: after the idle time there is no supervisor.
        timed(act::IDLE, &|| self.until_let_go())?;
        timed(act::COVERING, &|| command("family", "stubborn daemon sleeper").spawn_owned().map(drop))?;
        timed(act::COVERING + 1, &|| command("fast", "leave sleeper").spawn_owned().map(drop))?;
        self.in_position(3);
        Ok(())
    }

    /// Four threads that spawn, and end what they have spawned, for ever.
    fn storm(&self) -> ! {
        let short = Config::new().grace(Duration::from_millis(act::GRACE_MS));
        hermes_spawn::configure(short).expect("configure");
        crate::storms::perform(&["storm", "4"]).unwrap_or_else(|_| panic!("the storm does not begin"));
        raw::pause_for_ever()
    }

    /// Registers again and again in the last moment of the idle time, until killed: each new child must be covered,
    /// and nobody may have touched it.
    fn idle_races(&self) -> ! {
        hermes_spawn::configure(Config::new().idle(IDLE).grace(Duration::from_millis(act::GRACE_MS)))
            .expect("configure");
        let mut random = Random(std::process::id() as u64);
        for round in 1.. {
            let outcome = self.idle_race(&mut random);
            if let Err(told) = outcome {
                eprintln!("round {round}: {told}");
                self.act(act::FAILED);
                raw::pause_for_ever();
            }
            self.progress.set(word::ROUNDS, round);
        }
        unreachable!("killed before")
    }

    fn idle_race(&self, random: &mut Random) -> std::result::Result<(), String> {
        let said = |error: hermes_spawn::Error| error.to_string();
        let generation = hermes_spawn::status().map_err(said)?.supervisor_generation;
        let idle_since = Instant::now();
        // Around the moment at which the keeper asks for the last scan, and that at which it has the answer.
        random.spin_until(idle_since + IDLE / 2, IDLE * 2);
        let child = sleeper().spawn_owned().map_err(said)?;
        let now = hermes_spawn::status().map_err(said)?.supervisor_generation;
        let word = if now == generation { word::KEPT } else { word::REPLACED };
        self.progress.set(word, self.progress.get(word) + 1);
        // Covered: a supervisor knows it well enough to signal it.
        child.signal(libc::SIGCONT).map_err(|e| format!("not covered: {e}"))?;
        // Time for one that was let go to do harm, now and then.
        if random.next().is_multiple_of(4) {
            random.spin_until(Instant::now(), Duration::from_millis(4));
        }
        // SAFETY: our own child, not waited for: the number is still its own.
        unsafe { libc::kill(child.pid(), libc::SIGUSR1) };
        match child.wait().map_err(said)? {
            hermes_spawn::ExitStatus::Signalled { signal: libc::SIGUSR1, .. } => Ok(()),
            other => Err(format!("the newborn of a living owner was ended: {other:?}")),
        }
    }

    /// One registration in the last moment of the idle time, to be killed over.
    fn raced_registration(&self) -> ! {
        hermes_spawn::configure(Config::new().idle(IDLE).grace(Duration::from_millis(act::GRACE_MS)))
            .expect("configure");
        let mut random = Random(std::process::id() as u64);
        let first = sleeper().spawn_owned().expect("spawn");
        // SAFETY: as above.
        unsafe { libc::kill(first.pid(), libc::SIGKILL) };
        let _ = first.wait();
        random.spin_until(Instant::now() + IDLE / 2, IDLE * 2);
        let generation = hermes_spawn::status().expect("status").supervisor_generation;
        let child = sleeper().spawn_owned().expect("spawn in the last moment");
        self.progress.set(word::OTHERS, child.pid() as u64);
        self.progress
            .set(word::REPLACED, (hermes_spawn::status().expect("status").supervisor_generation - generation).into());
        self.act(act::COVERED);
        raw::pause_for_ever()
    }

    /// Polls, as nothing tells a host that its supervisor was let go.
    fn until_let_go(&self) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while hermes_spawn::status()?.supervisor_pid != 0 {
            if Instant::now() > deadline {
                self.progress.set(word::NOT_LET_GO, 1);
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Short, so that many races fit into a second.
const IDLE: Duration = Duration::from_millis(1);

fn sleeper() -> Command {
    let mut command = Command::new("/bin/sleep");
    command.arg("600").stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A generator of moments (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = (self.0 ^ 0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.0 >> 8
    }

    /// Until a random time up to `within` after `from`: a sleep would end at a timer's edge.
    fn spin_until(&mut self, from: Instant, within: Duration) {
        let moment = from + Duration::from_nanos(self.next() % within.as_nanos() as u64);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
    }
}

fn command(tag: &str, shape: &str) -> Command {
    let mut command = Command::new(own_program());
    command.args(["child", announce::mail().0, tag]).args(shape.split(' '));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}
