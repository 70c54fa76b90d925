//! The keeper: a thread that holds lifeline A in a private file table and sleeps on the bell.
//!
//! It writes the byte that wakes the supervisor, wakes the watcher, and lets an idle supervisor go.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::life::Phase;
use super::runtime::{Runtime, chores};
use crate::sys::{fd, futex};

/// After news of a child the keeper looks for more by itself, at growing distances, before it sleeps for good.
const FIRST_DOZE: Duration = Duration::from_millis(1);
const LAST_DOZE: Duration = Duration::from_millis(8);

/// Ends of pipes in the keeper's table. Their numbers mean nothing to any other thread.
pub(super) struct Ends {
    pub lifeline: OwnedFd,
    pub to_watcher: OwnedFd,
}

/// Sleeps and serves for ever: only the end of the process image closes the lifeline.
pub(super) fn keep(runtime: &'static Runtime, ends: Ends) -> ! {
    let bell = &runtime.roster.header.bell;
    let mut idle = Idle::Busy;
    let mut doze = Duration::ZERO;
    loop {
        let seen = bell.load(Ordering::SeqCst);
        let wanted = runtime.chores.swap(0, Ordering::SeqCst);
        // A full pipe needs no further byte: the supervisor has not looked yet.
        if wanted & chores::LOOK != 0 {
            let _ = fd::write(ends.lifeline.as_raw_fd(), b".");
            doze = FIRST_DOZE;
        }
        if wanted & chores::WATCHER != 0 {
            let _ = fd::write(ends.to_watcher.as_raw_fd(), b".");
        }
        let (next, timeout) = idle.look(runtime, &ends);
        idle = next;
        runtime.keeper_dozes.store(doze > Duration::ZERO, Ordering::SeqCst);
        if doze > Duration::ZERO {
            futex::wait(bell, seen, Some(timeout.map_or(doze, |timeout| timeout.min(doze))));
            doze = if doze < LAST_DOZE { doze * 2 } else { Duration::ZERO };
        } else if runtime.chores.load(Ordering::SeqCst) == 0 {
            // Who has left a chore since the word above was stored wakes us; who left one before is seen here.
            futex::wait(bell, seen, timeout);
        }
    }
}

/// Where the keeper stands with a supervisor that has nothing to do.
#[derive(Clone, Copy)]
enum Idle {
    /// Slots are in use, or there is no supervisor to let go.
    Busy,
    /// No slot is in use; at `due` a last scan is asked for. `pause` is what the next round waits.
    Waiting { due: Instant, pause: Duration },
    /// The supervisor looks for processes that still carry our mark.
    Scanning { request: u32, pause: Duration },
}

/// A marked process that lives on without a group of ours keeps the supervisor; it is looked for less and less often.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

impl Idle {
    fn look(self, runtime: &'static Runtime, ends: &Ends) -> (Idle, Option<Duration>) {
        if !may_retire(runtime) {
            return (Idle::Busy, None);
        }
        let header = &runtime.roster.header;
        let wait =
            |due: Instant, pause| (Idle::Waiting { due, pause }, Some(due.saturating_duration_since(Instant::now())));
        match self {
            Idle::Busy => {
                let pause = runtime.settings.idle;
                wait(Instant::now() + pause, pause)
            }
            Idle::Waiting { due, pause } if Instant::now() < due => wait(due, pause),
            Idle::Waiting { pause, .. } => {
                let request = header.scan_request.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
                let _ = fd::write(ends.lifeline.as_raw_fd(), b".");
                (Idle::Scanning { request, pause }, None)
            }
            Idle::Scanning { request, pause } => {
                let answer = header.scan_answer.load(Ordering::SeqCst);
                if (answer >> 32) as u32 != request {
                    return (self, None);
                }
                if answer as u32 == 0 {
                    retire(runtime, ends);
                    return (Idle::Busy, None);
                }
                let pause = (pause * 2).clamp(Duration::from_secs(1), LONGEST_PAUSE.max(runtime.settings.idle));
                wait(Instant::now() + pause, pause)
            }
        }
    }
}

fn may_retire(runtime: &Runtime) -> bool {
    // A supervisor that is the host's own child stays: its end would be a SIGCHLD that the host did not ask for.
    !runtime.is_parent_of_supervisor()
        && runtime.slots_in_use() == 0
        && matches!(runtime.life.lock().phase, Phase::Running)
}

/// Lets the supervisor go. The word `retired` is what makes it exit without looking at slots: one that merely saw its
/// lifeline end would end the next child of a living owner.
fn retire(runtime: &'static Runtime, ends: &Ends) {
    let header = &runtime.roster.header;
    let mut state = runtime.life.lock();
    if runtime.slots_in_use() > 0 || !matches!(state.phase, Phase::Running) {
        return;
    }
    header.retired.store(header.generation.load(Ordering::SeqCst), Ordering::SeqCst);
    state.phase = Phase::Stopped;
    drop(state);
    let _ = fd::write(ends.lifeline.as_raw_fd(), b".");
}
