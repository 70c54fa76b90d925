//! One lane's stage: a scene, a control owner beside it, a foreign group, and the questions that follow a kill.

use super::support::pidns::{self, Init};
use super::support::process::{Stat, numbers_in};
use super::support::progress::{Progress, act};
use super::support::scene::Control;
use super::support::{Process, Scene, Seat, is_root, within};
use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The supervisor promises grace and one second; the rest is for a debug build on a loaded machine.
pub const LIMIT: Duration = Duration::from_millis(act::GRACE_MS + 1_000 + 1_500);

/// For the first line of a test: in a pid namespace of its own (where that can be made) the supervisor's looks at all
/// processes are short and always the same, so that every system call can be tried. True: it has been run there.
pub fn apart(test: &str) -> bool {
    is_root() && pidns::outside(test, Init::Reaps)
}

pub struct Stage {
    pub scene: Scene,
    pub control: Control,
    pub progress: Progress,
    foreign: Option<(Child, Seat)>,
    /// Carriers of the scene's mark that were there before the first run.
    furniture: Vec<i32>,
}

impl Stage {
    pub fn new() -> Stage {
        let scene = Scene::new();
        let control = scene.control();
        let progress = Progress::at(&scene.folder().join("progress")).expect("progress");
        let furniture = scene.marked().iter().map(|process| process.pid).collect();
        Stage { scene, control, progress, foreign: None, furniture }
    }

    /// A drama, not started yet, with its foreign group: a canary, which shows whatever is sent to it.
    pub fn drama(&mut self, name: &str) -> Command {
        self.progress.clear();
        if self.foreign.as_ref().is_none_or(|(_, seat)| seat.process.is_gone() || seat.process.pending_signals() != 0) {
            self.end_foreign();
            self.foreign = Some(self.scene.stranger("canary"));
        }
        let mut command = self.scene.actor();
        command.arg("drama").arg(name).arg(self.scene.folder()).arg(self.foreign().pid.to_string());
        command
    }

    pub fn foreign(&self) -> &Process {
        &self.foreign.as_ref().expect("there is one").1.process
    }

    pub fn end_foreign(&mut self) {
        if let Some((mut child, _)) = self.foreign.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Alive, and nobody has sent it anything.
    pub fn foreign_is_untouched(&self) -> bool {
        self.foreign().is_alive() && self.foreign().pending_signals() == 0
    }

    /// Carriers of the scene's mark that a run has left: not the control owner's family, not the foreign group, and
    /// none of `but`.
    pub fn left(&self, but: &[i32]) -> Vec<Process> {
        let foreign = self.foreign.as_ref().map(|(_, seat)| seat.process.pid);
        let known = |pid: &i32| self.furniture.contains(pid) || foreign == Some(*pid) || but.contains(pid);
        self.scene.marked().into_iter().filter(|process| !known(&process.pid)).collect()
    }

    /// Waits until neither a helper of this owner nor a carrier of the mark is left. What is left at the limit, told.
    pub fn end_of(&self, owner: i32, killed_at: Instant, but: &[i32]) -> Result<(), String> {
        let deadline = killed_at + LIMIT;
        let (mut helpers, mut left) = (Vec::new(), Vec::new());
        let done = within(LIMIT.saturating_sub(killed_at.elapsed()), || {
            helpers = helpers_of(owner);
            // Most of a run is this wait, and polling all of /proc meanwhile would only slow it down.
            for helper in helpers.iter().filter_map(|&pid| Process::open(pid)) {
                helper.gone_by(deadline);
            }
            helpers = helpers_of(owner);
            if helpers.is_empty() {
                left = self.left(but);
            }
            helpers.is_empty() && left.is_empty()
        });
        if done {
            return Ok(());
        }
        let told = |pid: i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            format!("{pid} [{line}] {:?} wchan {:?}", Stat::of(pid), fs::read_to_string(format!("/proc/{pid}/wchan")))
        };
        let told = |pids: &mut dyn Iterator<Item = i32>| pids.map(told).collect::<Vec<_>>().join("\n  ");
        let left_pids: Vec<i32> = left.iter().map(|process| process.pid).collect();
        let (helpers, left) = (told(&mut helpers.into_iter()), told(&mut left_pids.into_iter()));
        for process in &self.left(but) {
            let _ = process.signal(libc::SIGKILL);
        }
        Err(format!("{:?} after the kill of {owner}: helpers: [{helpers}]\nleft: [{left}]", killed_at.elapsed()))
    }

    /// Ends what was let go in a run, by its mark.
    pub fn end_all(&self) {
        let clean = || {
            let left = self.left(&[]);
            left.iter().for_each(|process| drop(process.signal(libc::SIGKILL)));
            left.is_empty()
        };
        assert!(within(Duration::from_secs(10), clean), "the stage could not be cleared");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.end_foreign();
    }
}

/// The supervisor of this owner and whatever it has forked: by the command line, which a fork keeps.
pub fn helpers_of(owner: i32) -> Vec<i32> {
    let line = format!("spawn-supervisor\0{owner}\0");
    let named = |pid: &i32| {
        let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        (name.starts_with(b"spawn-superviso") || name.starts_with(b"memfd:"))
            && Stat::of(*pid).is_some_and(|stat| stat.runs())
            && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|found| found == line.as_bytes())
    };
    numbers_in("/proc").into_iter().filter(named).collect()
}
