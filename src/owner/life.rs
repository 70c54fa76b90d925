//! The supervisor's life, as the owner sees it: one ordinary lock, never held across a clone or an exec.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lock;
use super::runtime::{Runtime, Tie, chores};
use crate::error::{Error, ErrorCode, Result};
use crate::sys::image::Kind;

/// A broken installation is tried again by a call that comes later than this.
const BROKEN_PAUSE: Duration = Duration::from_secs(5);
/// A caller waits this long for a supervisor that is being started.
const START_LIMIT: Duration = Duration::from_secs(10);
/// A caller waits this long for one that was killed and is being replaced.
const REPLACE_LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// None, and none needed.
    Stopped,
    /// A caller wants one: the watcher starts it.
    Wanted,
    Running,
    /// It was killed; the watcher starts the next.
    Replacing,
    /// It cannot be started, and nothing needs it yet.
    Broken {
        error: Error,
        at: Instant,
    },
}

#[derive(Debug)]
pub(crate) struct State {
    pub phase: Phase,
    /// Why the last start failed or the last supervisor ended early.
    pub last_error: Option<String>,
    /// How the program is kept, once one was started.
    pub image: Option<Kind>,
}

pub(crate) struct Life {
    state: Mutex<State>,
    changed: Condvar,
}

impl Life {
    pub(crate) fn new() -> Life {
        Life {
            state: Mutex::new(State { phase: Phase::Stopped, last_error: None, image: None }),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.lock().phase = phase;
        self.changed.notify_all();
    }

    /// A start failed, or a supervisor ended: `error` is what `status` shows, `phase` what comes next.
    pub(crate) fn fail(&self, error: &Error, phase: Phase) {
        let mut state = self.lock();
        state.last_error = Some(error.to_string());
        state.phase = phase;
        drop(state);
        self.changed.notify_all();
    }
}

impl Runtime {
    /// Returns once a supervisor has said ready, or says why there is none; after `at_most` at the latest (without threads
    /// it is this one that starts it, and waits for as long as that takes).
    ///
    /// The caller has taken its slot before: the keeper lets a supervisor go under the same lock and only while no slot
    /// is in use, so a registration in the last moment of the idle time either keeps it or starts the next.
    pub(crate) fn ensure_supervised(&self, at_most: Duration) -> Result<()> {
        if let Tie::Single { single, .. } = &self.tie {
            return single.ensure_supervised(self);
        }
        let begun = Instant::now();
        let mut state = self.life.lock();
        loop {
            let limit = match &state.phase {
                Phase::Running => return Ok(()),
                Phase::Broken { error, at } if at.elapsed() < BROKEN_PAUSE => return Err(error.clone()),
                Phase::Stopped | Phase::Broken { .. } => {
                    state.phase = Phase::Wanted;
                    self.ring(chores::WATCHER);
                    START_LIMIT
                }
                Phase::Wanted => START_LIMIT,
                Phase::Replacing => REPLACE_LIMIT,
            };
            let limit = limit.min(at_most);
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let reason = state.last_error.as_deref().unwrap_or("it does not answer");
                let told = format!("the supervisor has not become ready within {limit:?}: {reason}");
                // The errno tells who has a limit of his own that it is worth trying again.
                let step = "start the supervisor";
                return Err(Error::with_errno(ErrorCode::Supervisor, step, libc::ETIMEDOUT, told));
            }
            let (next, _) = self.life.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            state = next;
        }
    }
}
