//! Shared memory: memfd_create(2), its seals, and the mappings.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::fd::{above_stdio, own};
use super::{Errno, check, last_errno, process};
use crate::roster::{ROSTER_BYTES, Roster};

/// A memfd with room for seals; `flags` adds `MFD_EXEC` and the like.
pub(super) fn memfd(name: &CStr, flags: u32) -> Result<OwnedFd, Errno> {
    // SAFETY: a NUL-terminated name; the descriptor is ours alone.
    unsafe {
        let fd = check(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | flags))?;
        above_stdio(own(fd))
    }
}

pub(super) fn seal(fd: &OwnedFd, seals: i32) -> Result<(), Errno> {
    // SAFETY: an operation on a descriptor that we hold.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) }).map(|_| ())
}

/// A fresh roster: its memory, zeroed, and the descriptor by which the supervisor maps it too.
///
/// Sealed against shrinking and growing, so neither side can be made to fault. The mapping is never undone.
pub(crate) fn create_roster() -> Result<(&'static Roster, OwnedFd), Errno> {
    let fd = memfd(c"roster", 0)?;
    // SAFETY: sizes a file that is ours.
    check(unsafe { libc::ftruncate(fd.as_raw_fd(), ROSTER_BYTES as libc::off_t) })?;
    seal(&fd, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL)?;
    let map = map(ROSTER_BYTES, libc::MAP_SHARED, Some(&fd))?;
    // A forked copy must not reach its parent's roster, a core file must not hold 18 MiB of holes, and a huge page
    // would make 2 MiB of one slot. None of these is a reason to fail.
    advise(map, ROSTER_BYTES, libc::MADV_DONTFORK);
    advise(map, ROSTER_BYTES, libc::MADV_DONTDUMP);
    advise(map, ROSTER_BYTES, libc::MADV_NOHUGEPAGE);
    // SAFETY: page-aligned, ROSTER_BYTES long, mapped for ever, zero is a valid value of every field, and every field
    // is an atomic, so sharing it with the supervisor is no data race.
    Ok((unsafe { &*map.cast::<Roster>() }, fd))
}

/// Tells the process that made it from its forked copies, by a word that reads 1 in the one and 0 in the others
/// (MADV_WIPEONFORK). Without kernel support (before 4.14, or refused) by the pid, which proves less, since numbers come
/// back, and takes a system call.
pub(crate) enum ForkWitness {
    Word(&'static AtomicU32),
    Pid(i32),
}

impl ForkWitness {
    pub(crate) fn new() -> ForkWitness {
        let word = map(4096, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, None).ok().and_then(|page| {
            // SAFETY: advice on a page that is ours; then an aligned, zeroed word of it, mapped for ever.
            unsafe {
                check(libc::madvise(page.cast(), 4096, libc::MADV_WIPEONFORK)).ok()?;
                Some(&*page.cast::<AtomicU32>())
            }
        });
        match word {
            Some(word) => {
                word.store(1, Ordering::SeqCst);
                ForkWitness::Word(word)
            }
            None => ForkWitness::Pid(process::pid()),
        }
    }

    /// False in a forked copy.
    pub(crate) fn is_original(&self) -> bool {
        match self {
            ForkWitness::Word(word) => word.load(Ordering::SeqCst) == 1,
            ForkWitness::Pid(pid) => process::pid() == *pid,
        }
    }
}

/// A static pointer to a value that is never freed.
pub(crate) struct Leaked<T>(AtomicPtr<T>);

impl<T: Sync> Leaked<T> {
    pub(crate) const fn new() -> Leaked<T> {
        Leaked(AtomicPtr::new(std::ptr::null_mut()))
    }

    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or a box that `replace` leaked.
        unsafe { self.0.load(Ordering::SeqCst).as_ref() }
    }

    /// Puts `fresh` in the place of `known`, unless somebody else was first.
    pub(crate) fn replace(&self, known: Option<&'static T>, fresh: T) {
        let known = known.map_or(std::ptr::null_mut(), |known| std::ptr::from_ref(known).cast_mut());
        let fresh = Box::into_raw(Box::new(fresh));
        if self.0.compare_exchange(known, fresh, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            // SAFETY: the box made above; nobody else has seen it.
            drop(unsafe { Box::from_raw(fresh) });
        }
    }
}

fn map(bytes: usize, flags: i32, fd: Option<&OwnedFd>) -> Result<*mut u8, Errno> {
    let fd = fd.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: a new mapping at an address of the kernel's choice.
    let map = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, fd, 0) };
    if map == libc::MAP_FAILED { Err(last_errno()) } else { Ok(map.cast()) }
}

fn advise(map: *mut u8, bytes: usize, advice: i32) {
    // SAFETY: a mapping that is ours.
    unsafe { libc::madvise(map.cast(), bytes, advice) };
}
