//! The C ABI, as its users meet it.

mod header_is_current;
