//! The memory functions that compiled code calls by name, and that a C library would bring.
//!
//! Plain byte loops: nothing here is long. The volatile accesses keep the compiler from recognising the loop as
//! the very function it is in and calling that.

use core::ffi::c_int;

/// # Safety
/// As C's `memcpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for i in 0..count {
        // SAFETY: the caller promises `count` bytes at both.
        unsafe { to.add(i).write_volatile(from.add(i).read()) };
    }
    to
}

/// # Safety
/// As C's `memmove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= count {
        // SAFETY: forward copying is right when `to` does not begin inside the source.
        return unsafe { memcpy(to, from, count) };
    }
    for i in (0..count).rev() {
        // SAFETY: the caller promises `count` bytes at both.
        unsafe { to.add(i).write_volatile(from.add(i).read()) };
    }
    to
}

/// # Safety
/// As C's `memset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memset(to: *mut u8, value: c_int, count: usize) -> *mut u8 {
    for i in 0..count {
        // SAFETY: the caller promises `count` bytes.
        unsafe { to.add(i).write_volatile(value as u8) };
    }
    to
}

/// # Safety
/// As C's `memcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> c_int {
    for i in 0..count {
        // SAFETY: the caller promises `count` bytes at both.
        let (a, b) = unsafe { (a.add(i).read_volatile(), b.add(i).read_volatile()) };
        if a != b {
            return a as c_int - b as c_int;
        }
    }
    0
}

/// # Safety
/// As `bcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, count: usize) -> c_int {
    // SAFETY: the same promise.
    unsafe { memcmp(a, b, count) }
}

/// The atomics of aarch64 come in two kinds, and the compiler's own runtime asks a C library which of them the processor
/// has. Nothing said here means the kind that all have.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
pub extern "C" fn getauxval(_kind: usize) -> usize {
    0
}
