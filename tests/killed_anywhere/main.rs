//! Owners and supervisors killed at every system call and at any moment: what is owned dies, what was let go lives,
//! nobody else is touched, no helper stays.
//!
//! `HERMES_SPAWN_SOAK=1` runs the long ranges.

#[path = "../support/mod.rs"]
mod support;

/// What `roster.rs` counts with.
mod atomic {
    pub use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
}
#[allow(dead_code, reason = "the tests only read it")]
#[path = "../../supervisor/roster.rs"]
mod roster;

mod idle_exit_races;
mod lanes;
mod owner_at_any_moment;
mod owner_at_every_stop;
#[allow(unsafe_code, reason = "a mapping of a file")]
mod roster_view;
mod stage;
mod supervisor_at_every_stop;
