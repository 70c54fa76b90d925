//! The program `hermes-spawn`, from outside: one behaviour a file, named by its claim.

#[path = "../support/mod.rs"]
mod support;

mod program;
mod pty;

mod background_job_does_not_take_the_terminal;
mod bad_usage_is_two_lines_and_exit_2;
mod closed_streams_do_no_harm;
mod ctrl_c_reaches_the_child_alone;
mod ctrl_z_stops_both_and_fg_continues_both;
mod drill_holds_and_leaves_nothing;
mod drill_interrupted_leaves_nothing;
mod exit_code_is_the_commands_own;
mod kill_9_of_run_leaves_nothing;
mod pipelines_keep_the_terminal;
mod signals_are_passed_on;
mod terminal_modes_are_restored;
