//! Structures that say their own size in their first word, so that old callers meet new libraries and the other way
//! round. The rule is clone3(2)'s: a shorter structure lacks the newer fields, which then are zero; a longer one is
//! accepted if what this library does not know is zero.

use std::ptr::copy_nonoverlapping;

use crate::error::{Error, Result};

/// No structure is longer: a wrong size is found before anything is read.
pub(super) const PAGE_BYTES: u32 = 4096;

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
    let Some(&size) = (unsafe { from.cast::<u32>().as_ref() }) else {
        return Err(Error::invalid(step, format!("{} is NULL", T::NAME)));
    };
    check_size::<T>(size, step)?;
    // SAFETY: `size` bytes may be read; zeroes stand for what is missing, and any bytes are a value.
    unsafe {
        let mut value: T = std::mem::zeroed();
        copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast(), (size as usize).min(size_of::<T>()));
        let unknown = std::slice::from_raw_parts(from.cast::<u8>(), size as usize).iter().skip(size_of::<T>());
        if unknown.clone().any(|&byte| byte != 0) {
            let told = format!("{} of {size} bytes asks for something that this version does not know", T::NAME);
            return Err(Error::invalid(step, told));
        }
        Ok(value)
    }
}

/// Whether a result structure may be written.
///
/// # Safety
/// As for [`read`].
pub(super) unsafe fn check_out<T: Record>(to: *const T, step: &'static str) -> Result<()> {
    // SAFETY: the caller's promise.
    match unsafe { to.cast::<u32>().as_ref() } {
        Some(&size) => check_size::<T>(size, step),
        None => Err(Error::invalid(step, format!("{} is NULL", T::NAME))),
    }
}

fn check_size<T: Record>(size: u32, step: &'static str) -> Result<()> {
    if (T::SMALLEST..=PAGE_BYTES).contains(&size) {
        return Ok(());
    }
    let told = format!("{} says that it has {size} bytes; set its size to sizeof({})", T::NAME, T::NAME);
    Err(Error::invalid(step, told))
}

/// Writes a result structure: as much as the caller has room for. Its size stays as the caller set it.
///
/// # Safety
/// `to` points to as many writable bytes as its first word says, at least four.
pub(super) unsafe fn write<T: Copy>(to: *mut T, value: &T) {
    const SIZE_WORD: usize = 4;
    // SAFETY: the caller's promise; the size itself is passed over.
    unsafe {
        let room = (to.cast::<u32>().read() as usize).min(size_of::<T>());
        let rest = room.saturating_sub(SIZE_WORD);
        copy_nonoverlapping(
            std::ptr::from_ref(value).cast::<u8>().add(SIZE_WORD),
            to.cast::<u8>().add(SIZE_WORD),
            rest,
        );
    }
}
