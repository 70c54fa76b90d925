//! The C ABI, as its users meet it: one file a subject. The programs in C are in `ffi-tests/c`.

mod header;
mod header_compiles;
mod header_is_current;
mod layouts;
mod library;
mod link_lines;
mod nothing_leaks;
mod owner_killed;
mod programs_hold;
mod sizes;
#[path = "../support/mod.rs"]
mod support;
mod symbols;
mod workshop;
