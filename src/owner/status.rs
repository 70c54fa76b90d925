//! What is in force in this process, and why.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::life::Phase;
use super::runtime::{Runtime, Tie};
use crate::error::Result;
use crate::roster::features;
use crate::sys::clone::Memory;
use crate::sys::image::Kind;

/// One guarantee: how strongly it holds on this kernel, and why not more strongly where that is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// `lifeline`, `group_signal`, `registration`, `supervisor`, `escapees` or `reuse_proof`.
    pub name: &'static str,
    /// In force; see the README for what each value means.
    pub value: &'static str,
    /// Why it is not the strongest value.
    pub why: Option<String>,
}

/// A look at the library's state in this process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The supervisor's pid; 0 while there is none.
    pub supervisor_pid: i32,
    /// How many supervisors were started in the life of this process.
    pub supervisor_generation: u32,
    /// Groups covered, and starts in progress.
    pub slots_in_use: u32,
    /// Of these, groups whose leader was gone when they were taken over: known by number only.
    pub weak_groups: u32,
    /// How long TERM is given before KILL when this process dies.
    pub grace: Duration,
    /// How long the supervisor stays without work.
    pub idle: Duration,
    /// The home directory; `None` if none can be found, and then nothing is written.
    pub home: Option<PathBuf>,
    /// Why the last supervisor could not be started, or why children are uncovered at the moment.
    pub last_supervisor_error: Option<String>,
    /// In a fixed order.
    pub guarantees: Vec<Guarantee>,
}

/// What is in force in this process: the supervisor, the slots, and which guarantees this kernel gives.
///
/// Some are known only once a supervisor has run: before the first child or group, `group_signal`, `escapees` and
/// `supervisor` say so.
///
/// # Errors
/// Only if the library cannot be used at all in this process.
pub fn status() -> Result<Status> {
    let runtime = Runtime::current()?;
    let header = &runtime.roster.header;
    let state = runtime.life.lock();
    let unsupervised = match (&runtime.tie, &state.phase) {
        (Tie::Single { single, .. }, _) if header.ready.load(Ordering::SeqCst) > 0 && !single.is_supervised() => {
            Some("the supervisor has ended; without threads the next spawn, own, stop or signal starts another")
        }
        (_, Phase::Replacing) => Some("the supervisor was killed and is being replaced"),
        _ => None,
    };
    let last_error = state.last_error.clone().or(unsupervised.map(String::from));
    let image = state.image;
    drop(state);
    Ok(Status {
        supervisor_pid: runtime.supervisor_pid(),
        supervisor_generation: header.generation.load(Ordering::SeqCst),
        slots_in_use: runtime.slots_in_use(),
        weak_groups: runtime.weak_groups(),
        grace: runtime.settings.grace,
        idle: runtime.settings.idle,
        home: runtime.settings.home.clone(),
        last_supervisor_error: last_error,
        guarantees: guarantees(runtime, image),
    })
}

impl Runtime {
    /// 0 while there is none, or one that was let go.
    fn supervisor_pid(&self) -> i32 {
        let header = &self.roster.header;
        // Without threads nobody notices its end but who looks.
        if let Tie::Single { single, .. } = &self.tie
            && !single.is_supervised()
        {
            return 0;
        }
        let generation = header.generation.load(Ordering::SeqCst);
        let serves =
            header.ready.load(Ordering::SeqCst) == generation && header.retired.load(Ordering::SeqCst) < generation;
        if serves { header.supervisor_pid.load(Ordering::SeqCst) } else { 0 }
    }
}

fn guarantees(runtime: &Runtime, image: Option<Kind>) -> Vec<Guarantee> {
    let known = runtime.roster.header.ready.load(Ordering::SeqCst) > 0;
    let found = runtime.roster.header.features.load(Ordering::SeqCst);
    let has = |feature| known && found & feature != 0;
    vec![
        lifeline(runtime),
        group_signal(known, has(features::GROUP_PIDFD)),
        registration(runtime),
        supervisor(runtime, image, has(features::PARENT_IS_OWNER)),
        escapees(),
        reuse_proof(runtime, has(features::GROUP_PIDFD)),
    ]
}

const NOT_YET: &str = "no supervisor has run yet, so this kernel was not tried";

fn guarantee(name: &'static str, value: &'static str, why: Option<String>) -> Guarantee {
    Guarantee { name, value, why }
}

fn lifeline(runtime: &Runtime) -> Guarantee {
    match &runtime.tie {
        Tie::Threads { .. } => {
            let lost = runtime.roster.header.lifeline_lost.load(Ordering::SeqCst) != 0;
            let why = lost.then(|| {
                "one of the two lifelines ended while this process lives: a thread of the library was killed".into()
            });
            guarantee("lifeline", "private-tables", why)
        }
        Tie::Single { why, .. } => guarantee("lifeline", "at-fork+pidfd", Some(why.clone())),
    }
}

fn group_signal(known: bool, by_pidfd: bool) -> Guarantee {
    let (value, why) = match (known, by_pidfd) {
        (true, true) => ("pidfd", None),
        (true, false) => ("watched", Some("this kernel has no PIDFD_SIGNAL_PROCESS_GROUP (Linux 6.9)".into())),
        (false, _) => ("watched", Some(NOT_YET.into())),
    };
    guarantee("group_signal", value, why)
}

fn registration(runtime: &Runtime) -> Guarantee {
    match runtime.memory {
        Memory::Shared => guarantee("registration", "kernel", None),
        Memory::Copied => {
            let why = "vfork is emulated by fork here (Valgrind does that), so a child cannot write down who it is";
            guarantee("registration", "after-spawn", Some(why.into()))
        }
    }
}

fn supervisor(runtime: &Runtime, image: Option<Kind>, is_our_child: bool) -> Guarantee {
    let why = match image {
        Some(_) if is_our_child => Some(
            "this process is PID 1 or a subreaper, so the supervisor is its child; it is not let go when idle".into(),
        ),
        Some(Kind::Memfd) => None,
        Some(_) => Some("a memfd may not be executed here (vm.memfd_noexec, or a security module)".into()),
        None => Some(runtime.life.lock().last_error.clone().unwrap_or_else(|| NOT_YET.into())),
    };
    guarantee("supervisor", image.unwrap_or(Kind::Memfd).name(), why)
}

fn escapees() -> Guarantee {
    if std::path::Path::new("/proc/thread-self/children").exists() {
        return guarantee("escapees", "mark+walk", None);
    }
    let why = "there is no /proc/PID/task/TID/children here, so what left its group is found by its mark only";
    guarantee("escapees", "mark", Some(why.into()))
}

fn reuse_proof(runtime: &Runtime, by_pidfd: bool) -> Guarantee {
    let weak = runtime.weak_groups();
    if weak > 0 {
        let why =
            format!("{weak} groups had no leader any more when they were taken over, so they are known by number");
        return guarantee("reuse_proof", "weaker", Some(why));
    }
    if by_pidfd {
        return guarantee("reuse_proof", "yes", None);
    }
    guarantee(
        "reuse_proof",
        "weaker",
        Some("groups are signalled by number, watched so that it cannot be recycled unseen".into()),
    )
}
