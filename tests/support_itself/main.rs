//! The test support's own tests: what judges the library must itself be judged.

#[path = "../support/mod.rs"]
mod support;

mod driver_counts;
mod gone_means_gone;
mod numbers_are_recycled;
mod scenes_clean_up;
