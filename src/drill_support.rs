//! For the program's drill only: a worker that is forked without exec, as prefork servers and Python's multiprocessing
//! do.

use crate::error::{Error, Result};

/// Forks a copy of this process that holds everything it inherited and sleeps until it is killed. Returns its pid.
///
/// # Errors
/// `Os`: the fork failed.
pub fn fork_worker() -> Result<i32> {
    crate::sys::process::fork_sleeper().map_err(|errno| Error::os("fork", errno))
}
