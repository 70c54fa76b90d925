//! `hermes_configure`.

use std::ffi::c_char;
use std::time::Duration;

use super::call::{call, hermes_error};
use super::record::{self, Record};
use super::text;
use crate::error::{Error, Result};
use crate::{Config, Role, configure};

/// A program that owns all that it starts. Roles are of no consequence yet: what will depend on them, background jobs that
/// outlive a gateway, is not in this version.
pub const HERMES_ROLE_TASK: i32 = 0;
/// A gateway.
pub const HERMES_ROLE_GATEWAY: i32 = 1;

/// Settings. Begin with `HERMES_CONFIG_INIT`, which holds the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hermes_config {
    /// `sizeof(hermes_config)`.
    pub size: u32,
    /// Milliseconds between TERM and KILL once the owner has died: 0 to 3,600,000. Default 3000.
    pub grace_ms: u32,
    /// Milliseconds that the supervisor stays without work: 0 to 86,400,000. Default 30000.
    pub idle_ms: u32,
    /// `HERMES_ROLE_TASK` or `HERMES_ROLE_GATEWAY`.
    pub role: i32,
    /// 1: the library may start its two threads. 0: it must not; see the README for what is weaker then.
    pub threads: u32,
    /// Zero.
    pub reserved: u32,
    /// Absolute path of the home directory; NULL: `$HERMES_HOME`, else `~/.hermes`.
    pub home: *const c_char,
}

// SAFETY: repr(C), size first, integers and a pointer.
unsafe impl Record for hermes_config {
    const SMALLEST: u32 = 32;
    const NAME: &'static str = "hermes_config";
}

/// Sets grace, idle time, role, thread mode and home, before anything else of the library is used in this process.
///
/// Memory: `config` is read during the call only; its strings are copied.
/// Units: in the names of the fields.
/// Threads: any; does not wait.
/// Fork: a forked copy begins with its parent's settings and may set its own.
/// Errors: `HERMES_ERR_INVALID_ARGUMENT` for a value out of range, and when the library is in use already.
///
/// # Safety
/// `config` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_configure(config: *const hermes_config, err: *mut hermes_error) -> i32 {
    const STEP: &str = "hermes_configure";
    // SAFETY: the conventions of the header, here and below.
    unsafe {
        call(err, || {
            let given = record::read(config, STEP)?;
            let home = text::optional(given.home);
            let mut wanted = Config::new()
                .grace(Duration::from_millis(given.grace_ms.into()))
                .idle(Duration::from_millis(given.idle_ms.into()))
                .role(role(given.role)?)
                .threads(flag("threads", given.threads)?);
            if given.reserved != 0 {
                return Err(Error::invalid(STEP, format!("reserved is {}, and must be 0", given.reserved)));
            }
            if let Some(home) = home {
                wanted = wanted.home(home);
            }
            configure(wanted)
        })
    }
}

fn role(number: i32) -> Result<Role> {
    match number {
        HERMES_ROLE_TASK => Ok(Role::Task),
        HERMES_ROLE_GATEWAY => Ok(Role::Gateway),
        _ => Err(Error::invalid("hermes_configure", format!("{number} is no role: 0 task, 1 gateway"))),
    }
}

fn flag(name: &str, number: u32) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::invalid("hermes_configure", format!("{name} is {number}, and must be 0 or 1"))),
    }
}
