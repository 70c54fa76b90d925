//! `pthread_atfork(3)`: lets a forked copy close the one lifeline that the single-threaded mode keeps in the host's own
//! table. A raw `clone` or `vfork` of the host does not come by here, so that lifeline's end is never taken as proof.

use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use super::{Errno, fd};

static LIFELINE: AtomicI32 = AtomicI32::new(-1);
static LIFELINE_INODE: AtomicU64 = AtomicU64::new(0);

/// From now on a forked copy closes `fd` (which is `inode`, so a reused number is left alone).
pub(crate) fn close_in_copies(fd: i32, inode: u64) -> Result<(), Errno> {
    static REGISTERED: Once = Once::new();
    LIFELINE_INODE.store(inode, Ordering::SeqCst);
    LIFELINE.store(fd, Ordering::SeqCst);
    let mut failed = 0;
    // SAFETY: the handler only makes async-signal-safe calls.
    REGISTERED.call_once(|| failed = unsafe { libc::pthread_atfork(None, None, Some(close_lifeline)) });
    if failed == 0 { Ok(()) } else { Err(failed) }
}

unsafe extern "C" fn close_lifeline() {
    let lifeline = LIFELINE.swap(-1, Ordering::SeqCst);
    if lifeline >= 0 && fd::file_of(lifeline).is_some_and(|(_, inode)| inode == LIFELINE_INODE.load(Ordering::SeqCst)) {
        // SAFETY: the copy's own descriptor, checked to be the lifeline.
        unsafe { libc::close(lifeline) };
    }
}
