//! What is in force in this process, and why.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::life::Phase;
use super::runtime::{Runtime, Tie};
use crate::error::Result;
use crate::identity;
use crate::roster::features;
use crate::sys::clone::Memory;
use crate::sys::image::Kind;
use crate::sys::pidfd;

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
    /// Of these, groups known by number only: their leader was gone when they were taken in, or could not be held.
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
/// Before the first child or group no supervisor has run: then this kernel is tried here, and `supervisor` is `none`.
///
/// In a forked copy of this process: the copy's own state, which has nothing of its parent's.
///
/// # Errors
/// `Supervisor`, if the library cannot be used at all in this process.
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
    let kernel = Kernel::of(runtime);
    vec![
        lifeline(runtime),
        group_signal(runtime, kernel),
        registration(runtime),
        supervisor(runtime, image),
        escapees(kernel),
        reuse_proof(runtime, kernel),
    ]
}

/// What this kernel can do, as bits of [`features`].
#[derive(Clone, Copy)]
struct Kernel(u32);

impl Kernel {
    /// As the supervisor has found. Before there was one, the same questions are asked here.
    fn of(runtime: &Runtime) -> Kernel {
        let header = &runtime.roster.header;
        if header.ready.load(Ordering::SeqCst) > 0 {
            return Kernel(header.features.load(Ordering::SeqCst));
        }
        let pidfd = pidfd::open(runtime.pid).ok();
        let (proc, children) = identity::proc_shows();
        let bits = [
            (features::PIDFD, pidfd.is_some()),
            (features::GROUP_PIDFD, pidfd.as_ref().is_some_and(pidfd::reaches_groups)),
            (features::PROC, proc),
            (features::CHILDREN, children),
        ];
        Kernel(bits.iter().filter(|(_, yes)| *yes).fold(0, |all, (bit, _)| all | bit))
    }

    fn has(self, feature: u32) -> bool {
        self.0 & feature != 0
    }
}

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

fn group_signal(runtime: &Runtime, kernel: Kernel) -> Guarantee {
    let weak = runtime.weak_groups();
    let (value, why) = if !kernel.has(features::PIDFD) {
        ("number", Some("pidfd_open is refused here, so no leader can be held".into()))
    } else if weak > 0 {
        ("number", Some(format!("{weak} groups have no leader that could be held (it is gone, or descriptors are)")))
    } else if kernel.has(features::GROUP_PIDFD) {
        ("pidfd", None)
    } else {
        ("watched", Some("this kernel has no PIDFD_SIGNAL_PROCESS_GROUP (Linux 6.9)".into()))
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

fn supervisor(runtime: &Runtime, image: Option<Kind>) -> Guarantee {
    let Some(kind) = image else {
        let why = runtime.life.lock().last_error.clone();
        let why = why.unwrap_or_else(|| "none has run yet: the first child or group starts one".into());
        return guarantee("supervisor", "none", Some(why));
    };
    let why = if runtime.is_parent_of_supervisor() {
        Some("this process is PID 1 or a subreaper, so the supervisor is its child; it is not let go when idle".into())
    } else {
        let told = "a memfd may not be executed here (vm.memfd_noexec, or a security module)";
        (kind != Kind::Memfd).then(|| told.into())
    };
    guarantee("supervisor", kind.name(), why)
}

fn escapees(kernel: Kernel) -> Guarantee {
    let (value, why) = if !kernel.has(features::PROC) {
        ("off", Some("there is no /proc here, or it shows another pid namespace"))
    } else if !kernel.has(features::PIDFD) {
        ("off", Some("pidfd_open is refused here, so nothing that left its group could be held"))
    } else if !kernel.has(features::CHILDREN) {
        let why = "there is no /proc/PID/task/TID/children here, so what left its group is found by its mark only";
        ("mark", Some(why))
    } else {
        ("mark+walk", None)
    };
    guarantee("escapees", value, why.map(String::from))
}

fn reuse_proof(runtime: &Runtime, kernel: Kernel) -> Guarantee {
    let weak = runtime.weak_groups();
    let (value, why) = if weak > 0 {
        ("weaker", Some(format!("{weak} groups have no leader that could be held, so they are known by number")))
    } else if kernel.has(features::GROUP_PIDFD) {
        ("yes", None)
    } else {
        ("weaker", Some("groups are signalled by number, watched so that it cannot be recycled unseen".into()))
    };
    guarantee("reuse_proof", value, why)
}
