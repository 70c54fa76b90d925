//! Who a number stands for: nothing is ever signalled that is not proven ours.

#![allow(unsafe_code, reason = "plain questions to the kernel in the tests themselves")]

#[path = "../support/mod.rs"]
mod support;

mod a_group_without_its_leader;
mod a_member_of_another_user;
mod a_number_recycled_in_the_grace_of_a_stop;
mod a_process_without_its_main_thread;
mod names_that_lie;
mod recycling;
mod refused_groups;
mod stopped_at_birth;
mod strangers_with_recycled_numbers;
mod under_a_subreaper;
