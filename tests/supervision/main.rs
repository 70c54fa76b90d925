//! What the promise means, one behaviour a file. In each test a second owner lives beside the one that dies, and its
//! child must come to no harm: nothing passes here by killing everything.

#[path = "../support/mod.rs"]
mod support;

mod deaths;

mod child_cannot_stop_the_owner_through_the_terminal;
mod ctrl_c_stays_with_the_owner;
mod daemonised_copy_starts_clean;
mod escapees_die_with_the_owner;
mod exec_of_the_owner_ends_the_old_image;
mod foreign_child_holds_no_lifeline;
mod fork_chain_is_outrun;
mod hidden_escapee_is_found_by_its_parents;
mod idle_supervisor_leaves_and_loses_nothing;
mod inherited_listener_is_not_pinned;
mod member_of_another_user_is_reported;
mod member_that_ignores_term_is_killed;
mod members_outlive_their_leader_covered;
mod nested_owners_die_together;
mod oom_killer_takes_the_owner;
mod owner_killed_during_a_stop;
mod owner_killed_while_it_spawns;
mod pkill_by_name_frees_nobody;
mod port_is_free_after_stop;
mod signals_to_the_owners_group;
mod spawning_thread_may_end;
mod standard_input_does_not_matter;
mod supervisor_is_replaced;
mod term_to_all_in_any_order;
mod thousand_rounds_leave_nothing;
mod two_owners_are_strangers;
mod wrapper_chain_dies_whole;
