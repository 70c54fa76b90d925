//! Strangers, file systems and children that get in the way of a supervisor: deaths are on time all the same.

#[path = "../support/mod.rs"]
mod support;

mod a_child_that_hangs_in_an_exec;
mod callers_that_are_slow;
mod daemons_of_every_kind;
mod environments_that_cannot_be_read;
mod homes_that_fail;
mod many_at_once;
mod names_of_supervisors;
mod newborns;
mod no_descriptor_left;
mod stopped_supervisor;
mod timing;
mod what_is_written_down;
