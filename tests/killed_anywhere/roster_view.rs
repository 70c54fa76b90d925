//! A roster, seen from outside: it stays readable when owner and supervisor are gone.

use super::roster::{ROSTER_BYTES, Roster};
use std::fs::File;
use std::ops::Deref;
use std::os::fd::AsRawFd;

pub struct RosterView(&'static Roster);

impl RosterView {
    /// By way of the supervisor's descriptor 3. `None`: that one has ended already.
    pub fn of(supervisor: i32) -> Option<RosterView> {
        let file = File::open(format!("/proc/{supervisor}/fd/3")).ok()?;
        if file.metadata().ok()?.len() < ROSTER_BYTES as u64 {
            return None;
        }
        // SAFETY: a new mapping of a file that is long enough; all fields are atomic integers, valid with any bits.
        unsafe {
            let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
            let at = libc::mmap(std::ptr::null_mut(), ROSTER_BYTES, read, shared, file.as_raw_fd(), 0);
            (at != libc::MAP_FAILED).then(|| RosterView(&*at.cast::<Roster>()))
        }
    }
}

impl Deref for RosterView {
    type Target = Roster;
    fn deref(&self) -> &Roster {
        self.0
    }
}

impl Drop for RosterView {
    fn drop(&mut self) {
        // SAFETY: made by `of`; no reference outlives the view that lent it.
        unsafe { libc::munmap(std::ptr::from_ref(self.0).cast_mut().cast(), ROSTER_BYTES) };
    }
}
