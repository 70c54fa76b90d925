//! The C ABI, as its users meet it: one file a subject.

mod header;
mod header_is_current;
