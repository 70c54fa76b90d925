//! The C ABI: thin, one file an area, no logic. The conventions stand at the head of `include/hermes_spawn.h`
//! (`include/cbindgen.toml` writes them there); what keeps them is in this folder:
//!
//! - `call`: one frame around every function: the error record, and panics that must not cross into C.
//! - `record`: structures that say their size, after the rule of clone3(2).
//! - `text`: strings and arrays from C.
//! - `handle`: children as handles that can be wrong without harm.
//!
//! `unsafe` stands here because C hands over addresses: each function trusts its caller for as much as the header
//! says, and no further.

#![allow(unsafe_code, non_camel_case_types)]

mod call;
mod child;
mod config;
mod groups;
mod handle;
mod record;
mod spawn;
mod status;
mod text;
mod version;

pub use call::hermes_error;
pub use child::*;
pub use config::*;
pub use groups::*;
pub use handle::hermes_child;
pub use spawn::*;
pub use status::*;
pub use version::*;
