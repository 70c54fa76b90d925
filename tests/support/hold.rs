//! Holds one thread of another process: it stands still while the others go on.

use super::sys;
use std::{io, ptr};

/// Held until this is dropped, by the thread that made it.
pub struct Held {
    tid: i32,
}

impl Held {
    pub fn thread(tid: i32) -> io::Result<Held> {
        let request = |what| {
            let none = ptr::null_mut::<libc::c_void>();
            // SAFETY: these requests take no memory of ours.
            sys::check(unsafe { libc::ptrace(what, tid, none, none) })
        };
        request(libc::PTRACE_SEIZE)?;
        let held = Held { tid };
        request(libc::PTRACE_INTERRUPT)?;
        sys::wait_pid(tid, libc::__WALL)?;
        Ok(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let none = ptr::null_mut::<libc::c_void>();
        // SAFETY: as above. It fails for a thread that was killed meanwhile.
        let gone = sys::check(unsafe { libc::ptrace(libc::PTRACE_DETACH, self.tid, none, none) }).is_err();
        if gone {
            // Its process cannot be reaped before it is.
            let _ = sys::wait_pid(self.tid, libc::__WALL);
        }
    }
}
