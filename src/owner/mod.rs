//! The owner's side of the promise.
//!
//! - [`settings`]: what a host can set.
//! - [`runtime`]: the state of this process, made at the first use and never inherited by a fork.
//! - [`boot`]: how that state comes into being: keeper and watcher with private file tables, or the fallback.
//! - [`roster`]: taking and finding slots.
//! - [`life`]: the supervisor's life: wanted, started, running, retired, broken.
//! - [`keeper`] holds one lifeline, wakes the supervisor and lets an idle one go; [`watcher`] holds the other, starts
//!   supervisors, notices their end and the end of children.
//! - [`program`]: the supervisor's program, in the form that can be executed here.
//! - [`single`]: the fallback without threads.
//! - [`command`], [`environment`], [`spawn`]: starting a child; [`child`], [`leader`], [`exits`],
//!   [`mailbox`], [`stop`]: what can be done with it.
//! - [`groups`]: groups that somebody else started.
//! - [`handover`]: a value from one thread to another.
//! - [`status`]: what is in force, and why.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) mod boot;
pub(crate) mod child;
pub(crate) mod command;
mod environment;
pub(crate) mod exits;
pub(crate) mod groups;
mod handover;
pub(crate) mod keeper;
pub(crate) mod leader;
pub(crate) mod life;
pub(crate) mod mailbox;
mod program;
pub(crate) mod roster;
pub(crate) mod runtime;
pub(crate) mod settings;
pub(crate) mod single;
pub(crate) mod spawn;
pub(crate) mod status;
mod stop;
pub(crate) mod watcher;
mod way_out;

/// Locks, whatever happened to the last holder: every state behind our locks is valid between statements, and a panic
/// elsewhere must not take supervision with it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
