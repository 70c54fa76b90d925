//! The bindings, tested in their own languages; this only installs what they need, runs them and reads what they say.

#[path = "../ffi/library.rs"]
#[allow(dead_code)]
mod library;
mod node;
mod python;
mod run;
mod speed;
#[path = "../support/mod.rs"]
mod support;
mod third_party;
