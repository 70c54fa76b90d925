//! `hermes-spawn check-detached`, from outside: a corpus for each language, the command line, and this repository.

mod broken_files;
mod checker;
mod corpus;
mod diff;
mod formats;
mod own_tree;
mod readme;
#[path = "../support/mod.rs"]
mod support;
mod which_files;
