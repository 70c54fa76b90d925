//! Children as handles.
//!
//! A handle is a number in the clothes of a pointer: it is looked up and never followed. So one that was freed, made up
//! or inherited through a fork gets an error, not a crash. Numbers are not used again.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
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

#[derive(Default)]
struct Table {
    last: u64,
    handles: HashMap<u64, Arc<Handle>>,
}

static TABLE: PerProcess<Mutex<Table>> = PerProcess::new();

/// Handles are multiples of this, like addresses, and begin far below any: 0 is never one.
const STRIDE: u64 = 16;

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
    let mut table = table();
    table.last += STRIDE;
    let number = table.last;
    table.handles.insert(number, handle);
    std::ptr::without_provenance_mut(number as usize)
}

/// Forgets a handle. NULL and what is no handle are ignored.
pub(super) fn free(handle: *mut hermes_child) {
    let removed = table().handles.remove(&(handle.addr() as u64));
    // Outside the lock: dropping talks to the watcher.
    drop(removed);
}

/// Calls `body` with what stands behind the handle. A panic in it poisons the handle.
pub(super) fn with<T>(
    handle: *const hermes_child,
    step: &'static str,
    body: impl FnOnce(&Handle) -> Result<T>,
) -> Result<T> {
    let known = table().handles.get(&(handle.addr() as u64)).cloned();
    let Some(handle) = known else {
        let told = if handle.is_null() {
            "the child's handle is NULL".to_string()
        } else {
            format!("{handle:p} is no child of process {}: freed, or from before a fork", sys::process::pid())
        };
        return Err(Error::invalid(step, told));
    };
    if handle.poisoned.load(Ordering::SeqCst) {
        let told = format!("a call on child {} has panicked before; only freeing it is left", handle.child.pid());
        return Err(Error::new(ErrorCode::Poisoned, step, told));
    }
    match catch_unwind(AssertUnwindSafe(|| body(&handle))) {
        Ok(result) => result,
        Err(panic) => {
            handle.poisoned.store(true, Ordering::SeqCst);
            resume_unwind(panic)
        }
    }
}

impl Handle {
    pub(super) fn pipes(&self) -> MutexGuard<'_, [Option<OwnedFd>; 3]> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
