//! This process's environment where the C library keeps it, as `posix_spawn(3)` passes it on: not copied.
//!
//! Whoever reads it there relies on nobody changing it meanwhile. That is the C library's rule for every reader
//! (`getenv` among them), and the one under which `std::env::set_var` is unsafe.

use std::cell::Cell;
use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::ptr::null;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Pointers to all `NAME=VALUE` lines, in their order.
fn lines() -> impl Iterator<Item = *const c_char> {
    // SAFETY: a pointer that the C library keeps valid: to an array that ends with NULL, or NULL for "nothing".
    let mut at = unsafe { environ };
    std::iter::from_fn(move || {
        // SAFETY: not behind the NULL at the array's end, since this stops there.
        let line = if at.is_null() { null() } else { unsafe { *at } };
        at = at.wrapping_add(1);
        (!line.is_null()).then_some(line)
    })
    .fuse()
}

/// What follows `NAME=` in a line, if that is its name. A name holds no NUL.
///
/// # Safety
/// The line is NUL-terminated.
unsafe fn after_name(line: *const c_char, name: &[u8]) -> Option<*const c_char> {
    let mut at = line;
    for &byte in [name, b"="].into_iter().flatten() {
        // SAFETY: within the string: its NUL ends this, as it differs from every byte looked for.
        if unsafe { *at } as u8 != byte {
            return None;
        }
        at = at.wrapping_add(1);
    }
    Some(at)
}

/// The value a variable of this process has.
pub(crate) fn value_of(name: &OsStr) -> Option<&'static OsStr> {
    // SAFETY: a NUL-terminated string that nobody changes (see above).
    let bytes = lines().find_map(|line| unsafe { Some(CStr::from_ptr(after_name(line, name.as_bytes())?).to_bytes()) });
    bytes.map(OsStr::from_bytes)
}

/// The environment of a new program: lines of its own, and this process's but for those that it does not inherit.
pub(crate) struct Block<'a> {
    /// NULL-terminated.
    pointers: Vec<Cell<*const c_char>>,
    inherited_from: usize,
    not_inherited: &'a [&'a [u8]],
}

impl<'a> Block<'a> {
    /// `None` for `not_inherited`: nothing is.
    pub(crate) fn new(first: &'a CStr, own: &'a [CString], not_inherited: Option<&'a [&'a [u8]]>) -> Block<'a> {
        /// Most have fewer: growing means copying.
        const USUAL_LINES: usize = 64;
        let mut pointers = Vec::with_capacity(USUAL_LINES + own.len());
        pointers.push(Cell::new(first.as_ptr()));
        pointers.extend(own.iter().map(|line| Cell::new(line.as_ptr())));
        let inherited_from = pointers.len();
        if not_inherited.is_some() {
            pointers.extend(lines().map(Cell::new));
        }
        pointers.push(Cell::new(null()));
        Block { pointers, inherited_from, not_inherited: not_inherited.unwrap_or_default() }
    }

    /// As `execve` wants it. For the new process: the kernel will read the lines there anyway, on the processor that it
    /// runs on, so looking at them costs nothing then. No allocation, no lock.
    pub(super) fn for_exec(&self) -> *const *const c_char {
        let mut kept = self.inherited_from;
        for line in self.pointers.iter().skip(self.inherited_from).map(Cell::get) {
            // SAFETY: NUL-terminated, as `lines` found it.
            let is_of = |name: &&[u8]| unsafe { after_name(line, name) }.is_some();
            if line.is_null() || !self.not_inherited.iter().any(is_of) {
                if let Some(place) = self.pointers.get(kept) {
                    place.set(line);
                }
                kept += 1;
            }
        }
        self.pointers.as_ptr().cast()
    }
}
