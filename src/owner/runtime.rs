//! The state of this process: made at the first use, never inherited by a fork.
//!
//! A forked copy has no threads of ours, no mapping (MADV_DONTFORK) and no descriptors of ours, so it starts afresh.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::boot;
use super::exits::Exits;
use super::life::Life;
use super::lock;
use super::settings::{self, Settings};
use super::single::Single;
use crate::error::Result;
use crate::identity::{self, Ancestor};
use crate::per_process::PerProcess;
use crate::roster::{Roster, features};
use crate::sys::clone::Memory;
use crate::sys::{futex, process};

/// How owner and supervisor are tied together.
pub(crate) enum Tie {
    /// Keeper and watcher hold a lifeline each in a private file table.
    Threads { watcher_tid: i32 },
    /// One pipe in the host's table. The reason is for `status`.
    Single { single: Single, why: String },
}

/// What the keeper is asked to do, as bits.
pub(crate) mod chores {
    /// Wake the supervisor: the roster has changed.
    pub const LOOK: u32 = 1;
    /// Wake the watcher: there are orders.
    pub const WATCHER: u32 = 2;
}

pub(crate) struct Runtime {
    pub pid: i32,
    pub roster: &'static Roster,
    pub settings: Settings,
    /// Found out by trying.
    pub memory: Memory,
    pub tie: Tie,
    pub life: Life,
    pub exits: Exits,
    pub chores: AtomicU32,
    /// The keeper sleeps for milliseconds only and looks for chores then.
    pub keeper_dozes: AtomicBool,
    /// Own and release are one at a time: all slots in `Claimed` belong to the call that holds this.
    pub registry: Mutex<()>,
    /// Held for the instant in which a slot is taken or a request is put into (or out of) its mailbox: a request must
    /// not reach the slot's next tenant. Never across a system call that waits.
    pub mail: Mutex<()>,
    pub ancestors: Vec<Ancestor>,
    /// Where the search for a free slot begins.
    pub next_slot: AtomicUsize,
}

impl Runtime {
    pub(super) fn new(
        roster: &'static Roster,
        settings: Settings,
        memory: Memory,
        tie: Tie,
        ancestors: Vec<Ancestor>,
    ) -> Runtime {
        Runtime {
            pid: process::pid(),
            roster,
            settings,
            memory,
            tie,
            life: Life::new(),
            exits: Exits::new(),
            chores: AtomicU32::new(0),
            keeper_dozes: AtomicBool::new(false),
            registry: Mutex::new(()),
            mail: Mutex::new(()),
            ancestors,
            next_slot: AtomicUsize::new(0),
        }
    }

    /// The runtime of this process; the first call makes it.
    pub(crate) fn current() -> Result<&'static Runtime> {
        let mut booted = lock(CURRENT.get());
        if let Some(runtime) = *booted {
            return Ok(runtime);
        }
        let runtime = boot::boot(settings::in_force())?;
        *booted = Some(runtime);
        Ok(runtime)
    }

    /// False in a forked copy of the process that made this: the roster is not mapped there and must not be touched.
    pub(crate) fn is_mine(&self) -> bool {
        let mine = CURRENT.known().and_then(|runtime| *lock(runtime));
        mine.is_some_and(|mine| std::ptr::eq(mine, self))
    }

    /// A supervisor has said ready. Only now, with the process that started it gone, is its parent its parent for good:
    /// init, or this process if it is PID 1 or a subreaper.
    pub(super) fn note_supervisors_parent(&self) {
        let header = &self.roster.header;
        if identity::parent_of(header.supervisor_pid.load(Ordering::SeqCst)) == Some(self.pid) {
            header.features.fetch_or(features::PARENT_IS_OWNER, Ordering::SeqCst);
        }
    }

    /// The host is PID 1 or a subreaper, so the supervisor is its child.
    pub(crate) fn is_parent_of_supervisor(&self) -> bool {
        self.roster.header.features.load(Ordering::SeqCst) & features::PARENT_IS_OWNER != 0
    }

    /// `/proc` is there and shows this pid namespace, as the supervisor has found.
    pub(crate) fn proc_is_ours(&self) -> bool {
        self.roster.header.features.load(Ordering::SeqCst) & features::PROC != 0
    }

    /// A child writes down who it is: where pidfds have inodes of their own, as the supervisor found, which is to
    /// compare; and where what the child writes is seen here.
    pub(crate) fn children_can_identify_themselves(&self) -> bool {
        self.memory == Memory::Shared && self.has_pidfs()
    }

    /// Pidfds have inodes of their own, as a supervisor found.
    pub(crate) fn has_pidfs(&self) -> bool {
        self.roster.header.features.load(Ordering::SeqCst) & features::PIDFS != 0
    }

    /// Asks the keeper for `chores`. Bell and chores are looked at in this order on the other side, so none is lost.
    pub(crate) fn ring(&self, chores: u32) {
        if let Tie::Single { single, .. } = &self.tie {
            if chores & chores::LOOK != 0 {
                single.wake();
            }
            return;
        }
        self.chores.fetch_or(chores, Ordering::SeqCst);
        self.wake_keeper();
    }

    /// A group was registered. Waking a thread costs an eighth of a spawn: a keeper that is about to look anyway is not
    /// woken, so that of a burst of them the first one alone pays for it.
    pub(crate) fn ring_soon(&self) {
        if let Tie::Single { .. } = &self.tie {
            return self.ring(chores::LOOK);
        }
        self.chores.fetch_or(chores::LOOK, Ordering::SeqCst);
        if !self.keeper_dozes.load(Ordering::SeqCst) {
            self.wake_keeper();
        }
    }

    fn wake_keeper(&self) {
        self.roster.header.bell.fetch_add(1, Ordering::SeqCst);
        futex::wake(&self.roster.header.bell);
    }
}

/// The lock inside was made by this process, so no forked copy waits for a thread that it lacks.
static CURRENT: PerProcess<Mutex<Option<&'static Runtime>>> = PerProcess::new();

/// Whether this process has used the library already.
pub(super) fn is_booted() -> bool {
    lock(CURRENT.get()).is_some()
}
