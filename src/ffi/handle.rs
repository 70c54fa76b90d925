//! Children as handles.
//!
//! A handle is a number in the clothes of a pointer: it is looked up and never followed. So one that was freed, made up
//! or inherited through a fork gets an error, not a crash.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorCode, Result};
use crate::per_process::PerProcess;
use crate::{Child, sys};

/// A child, in C. See the head of the header for what a handle is.
pub struct hermes_child {
    _opaque: [u8; 0],
}

/// What stands behind a handle.
pub(super) struct Handle {
    pub child: Child,
    /// The caller's ends of the pipes, as far as nobody has taken them.
    pipes: Mutex<[Option<OwnedFd>; 3]>,
    /// A call on it has panicked: what it left behind is not known.
    poisoned: AtomicBool,
}

type Table = HashMap<usize, Arc<Handle>>;

static TABLE: PerProcess<Mutex<Table>> = PerProcess::new();

/// The last number given away. No part of the table: a forked copy, whose table is empty, goes on counting, so that a
/// handle of its parent's is never the number of a child of its own.
static LAST: AtomicUsize = AtomicUsize::new(1);

/// Handles lie this far apart, and are odd: the address of a structure is never one.
const STRIDE: usize = 16;

fn table() -> MutexGuard<'static, Table> {
    TABLE.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new handle for a child.
pub(super) fn open(mut child: Child) -> *mut hermes_child {
    let pipes = [
        child.stdin.take().map(OwnedFd::from),
        child.stdout.take().map(OwnedFd::from),
        child.stderr.take().map(OwnedFd::from),
    ];
    let handle = Arc::new(Handle { child, pipes: Mutex::new(pipes), poisoned: AtomicBool::new(false) });
    let number = LAST.fetch_add(STRIDE, Ordering::SeqCst) + STRIDE;
    table().insert(number, handle);
    std::ptr::without_provenance_mut(number)
}

/// Forgets a handle. NULL and what is no handle are ignored.
pub(super) fn free(handle: *mut hermes_child) {
    let removed = table().remove(&handle.addr());
    // Outside the lock: dropping talks to the watcher.
    drop(removed);
}

/// Calls `body` with what stands behind the handle. A panic in it poisons the handle.
pub(super) fn with<T>(
    handle: *const hermes_child,
    step: &'static str,
    body: impl FnOnce(&Handle) -> Result<T>,
) -> Result<T> {
    let handle = find(handle, step)?;
    match catch_unwind(AssertUnwindSafe(|| body(&handle))) {
        Ok(result) => result,
        Err(panic) => {
            handle.poisoned.store(true, Ordering::SeqCst);
            resume_unwind(panic)
        }
    }
}

fn find(handle: *const hermes_child, step: &'static str) -> Result<Arc<Handle>> {
    let known = table().get(&handle.addr()).cloned();
    let Some(known) = known else {
        let told = if handle.is_null() {
            "the child's handle is NULL".to_string()
        } else {
            format!("{handle:p} is no child of process {}: freed, or from before a fork", sys::process::pid())
        };
        return Err(Error::invalid(step, told));
    };
    if known.poisoned.load(Ordering::SeqCst) {
        let told = format!("a call on child {} has panicked before; only freeing it is left", known.child.pid());
        return Err(Error::new(ErrorCode::Poisoned, step, told));
    }
    Ok(known)
}

impl Handle {
    pub(super) fn pipes(&self) -> MutexGuard<'_, [Option<OwnedFd>; 3]> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;
    use crate::Command;
    use crate::ffi::call::call;
    use crate::ffi::{hermes_child_free, hermes_child_pid, hermes_child_stop};

    fn sleeper() -> *mut hermes_child {
        open(Command::new("sleep").arg("600").spawn_owned().expect("sleep"))
    }

    #[test]
    fn a_panic_poisons_its_own_handle() {
        let (bad, good) = (sleeper(), sleeper());
        let group = hermes_child_pid(bad);
        // SAFETY: NULL is no error record, here and below.
        let code = unsafe { call(null_mut(), || with(bad, "test", |_| panic!("a defect"))) };
        assert_eq!(code, ErrorCode::Panic as i32);

        let poisoned = ErrorCode::Poisoned as i32;
        assert_eq!(hermes_child_pid(bad), poisoned);
        // SAFETY: as above.
        unsafe {
            assert_eq!(hermes_child_stop(bad, 0, null_mut()), poisoned);
            assert_eq!(hermes_child_stop(good, 0, null_mut()), 0);
        }
        hermes_child_free(bad);
        hermes_child_free(good);
        assert_eq!(hermes_child_pid(bad), ErrorCode::InvalidArgument as i32, "freed");
        assert_eq!(sys::process::probe_group(group), Ok(()), "the child is owned as before");
    }
}
