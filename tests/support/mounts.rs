//! File systems of a test's own, in a mount namespace that only its thread and what it starts can see. It ends with the
//! last of them, so nothing stays mounted, also when the test is killed.

use super::sys;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fs, io, ptr};

/// Moves this thread, and what it starts from now on, into a mount namespace of its own. Needs root.
pub fn become_private() -> io::Result<()> {
    // SAFETY: plain flags and literals. The thread gets its own working directory, too, which is the same one.
    unsafe {
        sys::check(libc::unshare(libc::CLONE_NEWNS))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        sys::check(libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), private, ptr::null())).map(drop)
    }
}

/// Mounts on this folder, which is made. `kind` is a file system's name, and the source's.
pub fn mount(kind: &str, on: &Path, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    fs::create_dir_all(on)?;
    let text = |bytes: &[u8]| CString::new(bytes).expect("no NUL");
    let (kind, on, options) = (text(kind.as_bytes()), text(on.as_os_str().as_bytes()), text(options.as_bytes()));
    // SAFETY: NUL-terminated strings that outlive the call.
    let mounted = unsafe { libc::mount(kind.as_ptr(), on.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    sys::check(mounted).map(drop)
}

/// Takes it away from the namespace; whoever still uses it keeps it.
pub fn detach(from: &Path) {
    if let Ok(path) = CString::new(from.as_os_str().as_bytes()) {
        // SAFETY: a NUL-terminated string.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    }
}
