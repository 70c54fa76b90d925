//! Structures that say their own size in their first word, so that old callers meet new libraries and the other way
//! round. The rule is clone3(2)'s: a shorter structure lacks the newer fields, which then are zero; a longer one is
//! accepted if what this library does not know is zero.

use std::ptr::copy_nonoverlapping;

use super::text::check_address;
use crate::error::{Error, Result};

/// No structure is longer: a wrong size is found before anything is read.
pub(super) const PAGE_BYTES: u32 = 4096;
const SIZE_WORD: usize = size_of::<u32>();

/// A structure of integers and pointers, for which all zeroes is a value, with its size in the first word.
///
/// # Safety
/// `repr(C)`, begins with `size: u32`, any bytes are a value of it.
pub(super) unsafe trait Record: Copy {
    /// Size of its first version: what every caller has.
    const SMALLEST: u32;
    const NAME: &'static str;
}

/// Reads an option structure.
///
/// # Safety
/// `from` is NULL or points to as many bytes as its first word says.
pub(super) unsafe fn read<T: Record>(from: *const T, step: &'static str) -> Result<T> {
    // SAFETY: the caller's promise.
    let size = unsafe { checked_size(from, step)? };
    // SAFETY: `size` bytes may be read; zeroes stand for what is missing, and any bytes are a value.
    unsafe {
        let mut value: T = std::mem::zeroed();
        copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast(), size.min(size_of::<T>()));
        let unknown = std::slice::from_raw_parts(from.cast::<u8>(), size).iter().skip(size_of::<T>());
        if unknown.into_iter().any(|&byte| byte != 0) {
            let told = format!("{} of {size} bytes asks for something that this version does not know", T::NAME);
            return Err(Error::invalid(step, told));
        }
        Ok(value)
    }
}

/// Whether a result structure may be written: asked before anything is done.
///
/// # Safety
/// As for [`read`].
pub(super) unsafe fn check_out<T: Record>(to: *const T, step: &'static str) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { checked_size(to, step).map(drop) }
}

/// # Safety
/// As for [`read`].
unsafe fn checked_size<T: Record>(record: *const T, step: &'static str) -> Result<usize> {
    check_address(record, T::NAME, step)?;
    // SAFETY: not NULL, so by the caller's promise there is a size; and aligned for it.
    let size = unsafe { record.cast::<u32>().read() };
    if (T::SMALLEST..=PAGE_BYTES).contains(&size) {
        return Ok(size as usize);
    }
    let told = format!("{} says that it has {size} bytes; set its size to sizeof({})", T::NAME, T::NAME);
    Err(Error::invalid(step, told))
}

/// Writes a result structure: as much as the caller has room for. Its size stays as the caller set it, and so does what
/// lies behind the fields that this version knows.
///
/// # Safety
/// `to` points to as many writable bytes as its first word says, at least four.
pub(super) unsafe fn write<T: Copy>(to: *mut T, value: &T) {
    // SAFETY: the caller's promise; the size itself is passed over.
    unsafe {
        let room = (to.cast::<u32>().read() as usize).min(size_of::<T>());
        let from = std::ptr::from_ref(value).cast::<u8>();
        copy_nonoverlapping(from.add(SIZE_WORD), to.cast::<u8>().add(SIZE_WORD), room.saturating_sub(SIZE_WORD));
    }
}
