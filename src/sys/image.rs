//! The supervisor's program as something that can be executed: a sealed memfd, else a file without a name, else a
//! private file.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use super::fd::own;
use super::{Errno, check, fd, memory};

static SUPERVISOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/supervisor"));

/// How the supervisor's program is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memfd,
    /// `O_TMPFILE`: a file that never had a name.
    Tmpfile,
    /// A 0700 file, unlinked as soon as it is open.
    File,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Memfd => "memfd",
            Kind::Tmpfile => "tmpfile",
            Kind::File => "file",
        }
    }
}

/// `MFD_EXEC` (linux/memfd.h, Linux 6.3): asks for a memfd that may be executed whatever `vm.memfd_noexec` says, as
/// far as it says less than 2.
const MFD_EXEC: u32 = 0x10;

/// A memfd with the program, sealed: what is executed is what was compiled in.
pub(crate) fn in_memfd() -> Result<OwnedFd, Errno> {
    let fd = match memory::memfd(c"spawn-supervisor", MFD_EXEC) {
        Err(libc::EINVAL) => memory::memfd(c"spawn-supervisor", 0)?,
        other => other?,
    };
    fill(&fd)?;
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    memory::seal(&fd, seals)?;
    Ok(fd)
}

/// A file in `dir` with the program, open for reading only (a writable one cannot be executed: ETXTBSY).
pub(crate) fn in_directory(dir: &std::path::Path) -> Result<(OwnedFd, Kind), Errno> {
    let path = CString::new(dir.as_os_str().as_bytes()).map_err(|_| libc::EINVAL)?;
    match nameless(&path) {
        Ok(fd) => Ok((fd, Kind::Tmpfile)),
        Err(_) => Ok((unlinked(&path)?, Kind::File)),
    }
}

fn nameless(dir: &CStr) -> Result<OwnedFd, Errno> {
    // SAFETY: a NUL-terminated path; the descriptor is ours alone.
    let fd = unsafe { own(check(libc::open(dir.as_ptr(), libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC, 0o700))?) };
    fill(&fd)?;
    reopen(&fd)
}

fn unlinked(dir: &CStr) -> Result<OwnedFd, Errno> {
    let mut template = dir.to_bytes().to_vec();
    template.extend_from_slice(b"/.spawn-supervisor-XXXXXX\0");
    // SAFETY: a writable, NUL-terminated template; the file is ours alone (0600, O_EXCL).
    let fd = unsafe { own(check(libc::mkostemp(template.as_mut_ptr().cast(), libc::O_CLOEXEC))?) };
    // SAFETY: the descriptor is ours.
    let ready =
        check(unsafe { libc::fchmod(fd.as_raw_fd(), 0o700) }).and_then(|_| fill(&fd)).and_then(|()| reopen(&fd));
    // SAFETY: the same, still NUL-terminated path.
    unsafe { libc::unlink(template.as_ptr().cast()) };
    ready
}

/// The same file, read-only; the writable descriptor is closed by the caller's drop before anything executes it.
fn reopen(writable: &OwnedFd) -> Result<OwnedFd, Errno> {
    let path = CString::new(format!("/proc/thread-self/fd/{}", writable.as_raw_fd())).map_err(|_| libc::EINVAL)?;
    fd::open(&path, libc::O_RDONLY)
}

fn fill(fd: &OwnedFd) -> Result<(), Errno> {
    let mut rest = SUPERVISOR;
    while !rest.is_empty() {
        match fd::write(fd.as_raw_fd(), rest)? {
            0 => return Err(libc::ENOSPC),
            n => rest = &rest[n..],
        }
    }
    Ok(())
}
