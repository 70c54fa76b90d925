//! Groups that somebody else started.

use std::time::Duration;

use super::call::{call, hermes_error};
use super::text;
use crate::{own_process_groups, own_process_groups_within};
use crate::{release_process_group_once_empty, release_process_groups};

/// Takes over `count` process groups: from now on they die with this process. All of them, or none; twice is once.
///
/// Memory: `pgids` is read during the call only; it may be NULL if `count` is 0.
/// Units: `count` is a number of elements, 1,048,576 at most.
/// Threads: any.
/// Fork: in a forked copy the groups become the copy's; its parent's are the parent's still.
/// Errors, with nothing taken over: `HERMES_ERR_UNSAFE_GROUP` (0, 1, negative, this process's own group, the
/// supervisor's, an ancestor's), `HERMES_ERR_NO_SUCH_GROUP`, `HERMES_ERR_PERMISSION` (another user's),
/// `HERMES_ERR_IDENTITY` (/proc does not tell who leads it), `HERMES_ERR_SUPERVISOR`, `HERMES_ERR_ROSTER_FULL`,
/// `HERMES_ERR_INVALID_ARGUMENT`.
///
/// # Safety
/// `pgids` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_own_process_groups(pgids: *const i32, count: usize, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe { call(err, || own_process_groups(text::numbers(pgids, count, "pgids", "hermes_own_process_groups")?)) }
}

/// As `hermes_own_process_groups`, for an event loop, which can try again later.
///
/// Memory: `pgids` is read during the call only; it may be NULL if `count` is 0.
/// Units: `count` as there; `wait_limit_ms`, milliseconds to wait at most for a supervisor that is being started or
/// replaced. 0: 10 s and 3 s, as there.
/// Threads: any.
/// Fork: as there.
/// Errors, with nothing taken over: as there; `HERMES_ERR_SUPERVISOR` with ETIMEDOUT when the limit is over.
///
/// # Safety
/// `pgids` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_own_process_groups_within(
    pgids: *const i32,
    count: usize,
    wait_limit_ms: u32,
    err: *mut hermes_error,
) -> i32 {
    const STEP: &str = "hermes_own_process_groups_within";
    let limit = if wait_limit_ms == 0 { Duration::MAX } else { Duration::from_millis(wait_limit_ms.into()) };
    // SAFETY: the conventions of the header.
    unsafe { call(err, || own_process_groups_within(text::numbers(pgids, count, "pgids", STEP)?, limit)) }
}

/// Lets `count` groups go: they, and what carries their mark, may outlive this process. An unknown number is no error.
///
/// Memory: `pgids` is read during the call only; it may be NULL if `count` is 0.
/// Units: `count` is a number of elements, 1,048,576 at most.
/// Threads: any.
/// Fork: a forked copy has no groups of its parent's, so there is nothing for it to let go.
/// Errors: `HERMES_ERR_INVALID_ARGUMENT`; else only if the library cannot be used at all in this process.
///
/// # Safety
/// `pgids` points to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_release_process_groups(pgids: *const i32, count: usize, err: *mut hermes_error) -> i32 {
    const STEP: &str = "hermes_release_process_groups";
    // SAFETY: the conventions of the header.
    unsafe { call(err, || release_process_groups(text::numbers(pgids, count, "pgids", STEP)?)) }
}

/// Lets a group go when nothing that runs is left in it, and covers it until then. An unknown number is no error.
///
/// Memory: nothing is kept.
/// Threads: any; does not wait.
/// Fork: a forked copy has no groups of its parent's, so there is nothing for it to let go.
/// Errors: only if the library cannot be used at all in this process.
///
/// # Safety
/// `err` as the head of the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hermes_release_process_group_once_empty(pgid: i32, err: *mut hermes_error) -> i32 {
    // SAFETY: the conventions of the header.
    unsafe { call(err, || release_process_group_once_empty(pgid)) }
}
