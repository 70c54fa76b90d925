//! Groups that somebody else started.

use super::call::{call, hermes_error};
use super::text;
use crate::{own_process_groups, release_process_group_once_empty, release_process_groups};

/// Takes over `count` process groups: from now on they die with this process. All of them, or none; twice is once.
///
/// Any thread. In a forked copy the groups become the copy's. `pgids` is only read; it may be NULL if `count` is 0.
///
/// Errors, with nothing stored: `HERMES_ERR_UNSAFE_GROUP` (0, 1, negative, this process's own group, the supervisor's,
/// an ancestor's), `HERMES_ERR_NO_SUCH_GROUP`, `HERMES_ERR_PERMISSION` (another user's), `HERMES_ERR_SUPERVISOR`,
/// `HERMES_ERR_ROSTER_FULL`.
///
/// # Safety
/// `pgids` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_own_process_groups(pgids: *const i32, count: usize, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe { call(err, || own_process_groups(text::numbers(pgids, count, "hermes_own_process_groups")?)) }
}

/// Lets `count` groups go: they, and what carries their mark, may outlive this process. An unknown number is no error.
///
/// Any thread. In a forked copy: the copy has no groups, so this does nothing. `pgids` as above.
///
/// # Safety
/// `pgids` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_release_process_groups(pgids: *const i32, count: usize, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe { call(err, || release_process_groups(text::numbers(pgids, count, "hermes_release_process_groups")?)) }
}

/// Lets a group go when nothing that runs is left in it, and covers it until then. An unknown number is no error.
///
/// Any thread. In a forked copy: the copy has no groups, so this does nothing.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_release_process_group_once_empty(pgid: i32, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe { call(err, || release_process_group_once_empty(pgid)) }
}
