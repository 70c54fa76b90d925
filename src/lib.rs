//! What you start for a task dies with you, however you die. What you asked to outlive you, does. Nothing else is ever
//! touched.
//!
//! [`Command::spawn_owned`] starts a child that ends when this process ends: by `kill -9`, out of memory, a crash, a
//! clean exit. [`own_process_groups`] takes over groups that somebody else started, [`release_process_groups`] lets
//! them go. A tiny program, the supervisor, does the killing; it holds nothing of the host's.
//!
//! How it works, file by file:
//!
//! - `supervisor/roster.rs`: the memory that owner and supervisor share, and who may change what in it.
//! - `src/owner/`: this side. `spawn.rs` is the way into the roster, `keeper.rs` and `watcher.rs` hold the lifelines.
//! - `supervisor/`: the other side. `endgame.rs` is what happens when the owner is gone, `kill.rs` sends every signal.
//! - `src/identity.rs`: who a pid is.
//! - `src/ffi/`: the C ABI, from which `include/hermes_spawn.h` is made.
//! - `src/sys/`: system calls, and all other `unsafe`.
//!
//! # Threads, signals, forks
//!
//! All functions may be called from any thread. The library adds two threads to the process, with all signals blocked
//! and file tables of their own; it installs no handler, changes no disposition, and leaves no descriptor in the
//! host's table but those asked for. A forked copy starts fresh: its first call makes a state of its own, and handles
//! from before the fork answer with an error.

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("hermes-spawn runs on Linux 5.9 and later, on x86_64 and aarch64");

#[path = "../supervisor/mark.rs"]
#[allow(dead_code, missing_docs)]
mod mark;
#[path = "../supervisor/roster.rs"]
#[allow(dead_code, missing_docs)]
mod roster;
#[path = "../supervisor/stat.rs"]
#[allow(dead_code, missing_docs)]
mod stat;

/// What `roster.rs` counts with; the interleaving test puts its own in this place.
mod atomic {
    pub(crate) use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
}

#[doc(hidden)]
pub mod drill_support;
mod error;
#[doc(hidden)]
pub mod ffi;
mod identity;
mod owner;
mod per_process;
#[doc(hidden)]
pub mod program_support;
mod sys;

pub use error::{Error, ErrorCode, Result};
pub use owner::child::Child;
pub use owner::command::{Command, Stdio};
pub use owner::groups::{own_process_groups, own_process_groups_within};
pub use owner::groups::{release_process_group_once_empty, release_process_groups};
pub use owner::leader::ExitStatus;
pub use owner::settings::{Config, Role, configure};
pub use owner::status::{Guarantee, Status, status};

/// The README's example compiles, or the tests fail.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
