//! Strings and arrays from C.

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;

use crate::error::{Error, Result};

/// Elements of an array that a caller can mean; more is a wrong count.
const LONGEST_ARRAY: usize = 1 << 20;

/// Whether something can lie at this address at all. Where it points is the caller's word.
pub(super) fn check_address<T>(address: *const T, name: &str, step: &'static str) -> Result<()> {
    if address.is_null() {
        return Err(Error::invalid(step, format!("{name} is NULL")));
    }
    if !address.is_aligned() {
        return Err(Error::invalid(step, format!("{name} is at {address:p}, where none can be: it is not aligned")));
    }
    Ok(())
}

/// A NUL-terminated string, or nothing for NULL.
///
/// # Safety
/// NULL or NUL-terminated, unchanged while the result is used.
pub(super) unsafe fn optional<'a>(from: *const c_char) -> Option<&'a OsStr> {
    // SAFETY: the caller's promise.
    (!from.is_null()).then(|| OsStr::from_bytes(unsafe { CStr::from_ptr(from) }.to_bytes()))
}

/// Text for people: bytes that are no UTF-8 are shown as such.
///
/// # Safety
/// As for [`optional`].
pub(super) unsafe fn optional_text(from: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise.
    unsafe { optional(from) }.map(|text| text.to_string_lossy().into_owned())
}

/// A NULL-terminated array of strings; `None` for NULL itself.
///
/// # Safety
/// NULL, or an array of NUL-terminated strings that ends with NULL, unchanged while the result is used.
pub(super) unsafe fn array<'a>(
    from: *const *const c_char,
    name: &str,
    step: &'static str,
) -> Result<Option<Vec<&'a OsStr>>> {
    if from.is_null() {
        return Ok(None);
    }
    check_address(from, name, step)?;
    // SAFETY: the array ends with NULL.
    Ok(Some((0..).map_while(|i| unsafe { optional(*from.add(i)) }).collect()))
}

/// `count` numbers.
///
/// # Safety
/// `from` points to `count` of them, unchanged while the result is used; it may be NULL if there are none.
pub(super) unsafe fn numbers<'a>(from: *const i32, count: usize, name: &str, step: &'static str) -> Result<&'a [i32]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_address(from, name, step)?;
    if count > LONGEST_ARRAY {
        return Err(Error::invalid(step, format!("{name} has {count} elements; {LONGEST_ARRAY} at most")));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(from, count) })
}

/// An address to write a result to.
///
/// # Safety
/// NULL or valid for one write.
pub(super) unsafe fn out<'a, T>(to: *mut T, name: &str, step: &'static str) -> Result<&'a mut T> {
    check_address(to, name, step)?;
    // SAFETY: not NULL, aligned, and the caller's promise.
    Ok(unsafe { &mut *to })
}
