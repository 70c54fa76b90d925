//! Which library this is.

use std::ffi::c_char;

/// Version of the ABI: raised when something that compiled and ran against an older header would no longer do so.
pub const HERMES_ABI_VERSION: u32 = 1;

/// The ABI version of the library that was loaded; compare it with `HERMES_ABI_VERSION` of the header.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_abi_version() -> u32 {
    HERMES_ABI_VERSION
}

/// The library's version, `"0.1.0"`. Static; not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn hermes_version_string() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
