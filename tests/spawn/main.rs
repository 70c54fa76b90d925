//! Starting a child: what it gets, what it does not get, and what is said when it cannot be.

#![allow(unsafe_code, reason = "plain questions to the kernel in the tests themselves")]

#[path = "../support/mod.rs"]
mod support;

mod a_file_still_open_for_writing;
mod a_forked_copy_leaves_the_child_alone;
mod a_large_owner_spawns_as_fast;
mod descriptors_do_not_leak;
mod environment_and_path;
mod failures_say_what_and_why;
mod how_a_child_ended;
mod no_room_for_a_process;
mod pipes_of_a_child;
mod settings_before_first_use;
mod signals_of_a_child;
mod terminals;
