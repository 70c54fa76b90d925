//! The frame around every exported function.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_char;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use super::record;
use crate::error::{Error, ErrorCode, Result};

/// What went wrong, for the caller of a function that failed.
///
/// Set `size` before the first call (`HERMES_ERROR_INIT` does). Filled only when a call fails, so it can be used again
/// and again, by one thread at a time.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hermes_error {
    /// `sizeof(hermes_error)`, set by the caller.
    pub size: u32,
    /// The code that the function also returns.
    pub code: i32,
    /// errno of the system call that failed, 0 if none did.
    pub os_errno: i32,
    /// What was being done (`execve`, `chdir`, `own_process_groups`...). NUL-terminated.
    pub step: [c_char; 32],
    /// A sentence that names the thing and the reason. NUL-terminated UTF-8, cut at a character if too long.
    pub message: [c_char; 468],
}

/// Size of the first three numbers: less is no error record.
const SMALLEST: u32 = 12;

/// Runs `body`, turns its error into a code and a record, and keeps a panic from crossing into C.
///
/// # Safety
/// `err` is NULL or points to a structure whose first word is its size.
pub(super) unsafe fn call(err: *mut hermes_error, body: impl FnOnce() -> Result<()>) -> i32 {
    if !err.is_null() {
        // SAFETY: the caller's promise; what is not aligned for a word is no structure.
        let is_record = err.is_aligned() && (SMALLEST..=record::PAGE_BYTES).contains(&unsafe { (*err).size });
        if !is_record {
            return ErrorCode::InvalidArgument as i32;
        }
    }
    match contain(body) {
        Ok(()) => 0,
        // SAFETY: the structure has the size that it says.
        Err(error) => unsafe { report(err, &error) },
    }
}

/// Apart from the frame, of which each function has a copy.
///
/// # Safety
/// As for [`call`], and the size is one of a record.
#[cold]
#[inline(never)]
unsafe fn report(err: *mut hermes_error, error: &Error) -> i32 {
    if !err.is_null() {
        // SAFETY: the caller's promise.
        unsafe { record::write(err, &describe(error)) };
    }
    error.code() as i32
}

thread_local! {
    /// Whether this thread is in a call from C, whose panics are told through its error record.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Where the last such panic was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

fn contain(body: impl FnOnce() -> Result<()>) -> Result<()> {
    keep_panics_quiet();
    INSIDE.set(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    INSIDE.set(false);
    result.unwrap_or_else(|panic| Err(defect(&*panic)))
}

#[cold]
#[inline(never)]
fn defect(panic: &(dyn Any + Send)) -> Error {
    let told = format!("a defect in the library: {} ({})", said(panic), PLACE.take());
    Error::new(ErrorCode::Panic, "panic", told)
}

/// A library writes nothing to its host's standard error, which is where Rust reports panics. Those outside of calls
/// from C, of a Rust program that this is a part of, are reported as before.
///
/// No `Once`: a thread that a fork did not copy might be inside it, and the copy would wait for it for ever.
fn keep_panics_quiet() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Relaxed) || DONE.swap(true, Ordering::SeqCst) {
        return;
    }
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if INSIDE.get() {
            PLACE.set(info.location().map(ToString::to_string).unwrap_or_default());
        } else {
            report(info);
        }
    }));
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

fn describe(error: &Error) -> hermes_error {
    let mut record = hermes_error {
        size: size_of::<hermes_error>() as u32,
        code: error.code() as i32,
        os_errno: error.errno().unwrap_or(0),
        step: [0; 32],
        message: [0; 468],
    };
    fill(&mut record.step, error.step());
    fill(&mut record.message, error.message());
    record
}

/// Copies as many whole characters as fit before the NUL. A NUL inside would end the text early, so it is shown.
pub(super) fn fill(room: &mut [c_char], text: &str) {
    let text = text.replace('\0', "\\0");
    let mut length = text.len().min(room.len() - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    for (place, &byte) in room.iter_mut().zip(&text.as_bytes()[..length]) {
        *place = byte as c_char;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_says_where() {
        let mut record: hermes_error = describe(&Error::new(ErrorCode::Os, "", ""));
        // SAFETY: a record of the right size.
        let code = unsafe { call(&mut record, || panic!("boom {}", 1)) };
        assert_eq!((code, record.code), (ErrorCode::Panic as i32, ErrorCode::Panic as i32));
        // SAFETY: `fill` leaves the last byte zero.
        let message = unsafe { std::ffi::CStr::from_ptr(record.message.as_ptr()) }.to_str().unwrap();
        assert!(message.contains("boom 1 (src/ffi/call.rs:"), "{message}");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let mut room = [0x55; 8];
        fill(&mut room, "aä€bcdef");
        assert_eq!(room.map(|c| c as u8), *b"a\xc3\xa4\xe2\x82\xacb\x55");
    }
}
