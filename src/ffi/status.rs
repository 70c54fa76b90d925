//! `hermes_status`.

use std::ffi::c_char;

use super::call::{call, fill, hermes_error};
use super::record::{self, Record};
use crate::{Guarantee, Status, status};

/// One guarantee: how strongly it holds here.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hermes_guarantee {
    /// `lifeline`, `group_signal`, `registration`, `supervisor`, `escapees`, `reuse_proof`. NUL-terminated.
    pub name: [c_char; 16],
    /// What is in force: the weakest that holds for any group now. NUL-terminated.
    pub value: [c_char; 24],
    /// Why it is not the strongest value; empty if it is. NUL-terminated.
    pub why: [c_char; 216],
}

/// Number of entries in `hermes_status_info.guarantees`.
pub const HERMES_GUARANTEES: usize = 6;

/// A look at the library's state in this process.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hermes_status_info {
    /// `sizeof(hermes_status_info)`, set by the caller.
    pub size: u32,
    /// 0 while there is none.
    pub supervisor_pid: i32,
    /// How many supervisors were started in the life of this process.
    pub supervisor_generation: u32,
    /// Groups covered, and starts in progress.
    pub slots_in_use: u32,
    /// Of these: groups that are known by their number only.
    pub weak_groups: u32,
    /// Milliseconds.
    pub grace_ms: u32,
    /// Milliseconds.
    pub idle_ms: u32,
    /// Zero.
    pub reserved: u32,
    /// In the order named at `hermes_guarantee.name`.
    pub guarantees: [hermes_guarantee; HERMES_GUARANTEES],
    /// Why the last supervisor could not be started, or is being replaced; empty if all is well. NUL-terminated.
    pub last_supervisor_error: [c_char; 512],
}

// SAFETY: repr(C), size first, integers only.
unsafe impl Record for hermes_status_info {
    const SMALLEST: u32 = size_of::<hermes_status_info>() as u32;
    const NAME: &'static str = "hermes_status_info";
}

/// What is in force in this process, and why. The first use of the library, if it is the first: its threads are started.
/// Before the first child or group no supervisor has run: `supervisor` is `none` then, and the rest says what this kernel
/// can do.
///
/// Memory: `*info` is written on success only; all text in it is part of it.
/// Units: in the names of the fields.
/// Threads: any; does not wait.
/// Fork: in a forked copy, the copy's own state.
/// Errors: `HERMES_ERR_INVALID_ARGUMENT`; else only if the library cannot be used at all in this process.
///
/// # Safety
/// `info` points to as many bytes as its `size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_status(info: *mut hermes_status_info, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe {
        call(err, || {
            record::check_out(info, "hermes_status")?;
            record::write(info, &describe(&status()?));
            Ok(())
        })
    }
}

fn describe(status: &Status) -> hermes_status_info {
    let mut info = hermes_status_info {
        size: size_of::<hermes_status_info>() as u32,
        supervisor_pid: status.supervisor_pid,
        supervisor_generation: status.supervisor_generation,
        slots_in_use: status.slots_in_use,
        weak_groups: status.weak_groups,
        grace_ms: status.grace.as_millis() as u32,
        idle_ms: status.idle.as_millis() as u32,
        reserved: 0,
        guarantees: [hermes_guarantee { name: [0; 16], value: [0; 24], why: [0; 216] }; HERMES_GUARANTEES],
        last_supervisor_error: [0; 512],
    };
    for (entry, Guarantee { name, value, why }) in info.guarantees.iter_mut().zip(&status.guarantees) {
        fill(&mut entry.name, name);
        fill(&mut entry.value, value);
        fill(&mut entry.why, why.as_deref().unwrap_or_default());
    }
    fill(&mut info.last_supervisor_error, status.last_supervisor_error.as_deref().unwrap_or_default());
    info
}
