//! Which library this is.

use std::ffi::c_char;

/// Version of the ABI: raised when something that compiled and ran against an older header would no longer do so. The
/// shared library's name ends with it (`libhermes_spawn.so.1`).
pub const HERMES_ABI_VERSION: u32 = 1;

/// The ABI version of the library that was loaded, to be compared with `HERMES_ABI_VERSION` of the header.
///
/// Memory: none.
/// Threads: any; does not wait.
/// Fork: the same in a forked copy.
/// Errors: none.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_abi_version() -> u32 {
    HERMES_ABI_VERSION
}

/// The version of the library that was loaded, as `HERMES_VERSION_STRING` of the header: `"0.1.0"`.
///
/// Memory: static, NUL-terminated; not to be freed.
/// Threads: any; does not wait.
/// Fork: the same in a forked copy.
/// Errors: none.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_version_string() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
