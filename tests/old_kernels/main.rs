//! Older and forbidding kernels. A seccomp filter on the test's own owner (and all it starts) makes the kernel say no;
//! the code that runs is the code that would run there. The promise holds, and `status` says what is weaker.

#[path = "../support/mod.rs"]
mod support;

mod a_thread_of_ours_is_killed;
mod leaders_that_cannot_be_held;
mod memfds_that_cannot_be_executed;
mod single_threaded_by_request;
mod the_promise;
mod without_clone3;
mod without_close_range;
mod without_group_pidfd;
mod without_proc;
