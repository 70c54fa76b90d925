//! Signal masks of threads: `pthread_sigmask(3)`, never the raw call. glibc keeps two signals open for itself, and a
//! thread that blocked those would hang the host's `setuid()`.

use std::mem::MaybeUninit;

/// All signals of this thread are blocked until this is dropped.
pub(crate) struct BlockAll(libc::sigset_t);

impl BlockAll {
    pub(crate) fn new() -> BlockAll {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: both sets are initialised by the calls; the mask is this thread's own.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            BlockAll(before.assume_init())
        }
    }
}

impl Drop for BlockAll {
    fn drop(&mut self) {
        // SAFETY: puts back the mask that `new` found.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

/// SIGCHLD to its default. While it is ignored, the kernel throws away how children ended.
pub(crate) fn default_sigchld() {
    // SAFETY: no handler is installed, so no code of ours can run in one.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}
