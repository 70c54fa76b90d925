//! What the integration tests share: a scene with owners to script, processes to watch, deadlines, and a clean stage
//! afterwards. A test crate says `#[path = "../support/mod.rs"] mod support;`.
//!
//! Rules of the house: nothing is ever waited for by a fixed sleep, nothing is ever killed by name, and whatever a
//! test starts is gone when its [`scene::Scene`] is dropped, also by a panic.

#![allow(dead_code, reason = "each test crate uses a part of this")]
#![allow(unused_imports, reason = "as above")]
#![allow(unsafe_code, reason = "system calls that std has no words for; each with its reason")]

pub mod deadline;
pub mod fuse;
pub mod hold;
pub mod mounts;
pub mod owner;
pub mod pidns;
pub mod process;
pub mod programs;
pub mod progress;
pub mod ptrace;
pub mod reuse;
pub mod scene;
pub mod seccomp;
pub mod sys;

pub use deadline::{eventually, within};
pub use owner::{Launch, Owner, Started};
pub use process::Process;
pub use scene::{Control, Scene, Seat};

/// Says on standard error, past the test harness' capture, why a test cannot be done here, and returns from it. Where
/// `CI` is set a skip is a failure: a machine that cannot show the promise must not look as if it had.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)*) => {{
        $crate::support::announce_skip(&format!($($reason)*));
        return;
    }};
}

/// The part of [`skip!`] that is a function.
pub fn announce_skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_string();
    announce(&format!("SKIPPED {test}: {reason}"));
    assert!(std::env::var_os("CI").is_none(), "skipped under CI: {reason}");
}

/// A line on standard error, past the test harness' capture, which `eprintln!` is not.
pub fn announce(line: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Whether this test runs as root: forced pid reuse, namespaces of one's own and other users need it.
pub fn is_root() -> bool {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Whether the long ranges and races are asked for.
pub fn soak() -> bool {
    std::env::var_os("HERMES_SPAWN_SOAK").is_some_and(|v| v == "1")
}
