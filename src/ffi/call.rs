//! The frame around every exported function.

use std::any::Any;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::record;
use crate::error::{Error, ErrorCode, Result};

/// What went wrong, for the caller of a C function that failed.
///
/// Set `size` to `sizeof(hermes_error)` before the call. Filled only when a call fails. One record may be used again
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
    // SAFETY: the caller's promise.
    let size = unsafe { err.cast::<u32>().as_ref() }.copied();
    if size.is_some_and(|size| !(SMALLEST..=record::PAGE_BYTES).contains(&size)) {
        return ErrorCode::InvalidArgument as i32;
    }
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error,
        Err(panic) => Error::new(ErrorCode::Panic, "panic", format!("a defect in the library: {}", said(&*panic))),
    };
    let code = error.code() as i32;
    if size.is_some() {
        // SAFETY: the structure has the size that it says.
        unsafe { record::write(err, &describe(&error)) };
    }
    code
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
    fn a_panic_becomes_an_error() {
        let mut record: hermes_error = describe(&Error::new(ErrorCode::Os, "", ""));
        // SAFETY: a record of the right size.
        let code = unsafe { call(&mut record, || panic!("boom {}", 1)) };
        assert_eq!((code, record.code), (ErrorCode::Panic as i32, ErrorCode::Panic as i32));
        // SAFETY: `fill` leaves the last byte zero.
        let message = unsafe { std::ffi::CStr::from_ptr(record.message.as_ptr()) };
        assert!(message.to_str().unwrap().contains("boom 1"));
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let mut room = [0x55; 8];
        fill(&mut room, "aä€bcdef");
        assert_eq!(room.map(|c| c as u8), *b"a\xc3\xa4\xe2\x82\xacb\x55");
    }
}
