//! Nothing is allocated between clone and exec.
//!
//! There the child runs in its parent's memory, with its parent's thread-local data: a lock of the allocator that
//! another thread holds would be held for ever. The same sharing makes it visible: the allocator here asks for the pid
//! at each call, and one made under another pid is the child's. That this works is shown by a child that does allocate.

use std::ffi::{c_int, c_void};

use hermes_spawn::{Command, Stdio};

use crate::counting::{borrowed_calls, this_is_home};
use crate::stage::Stage;
use crate::{next_order, say};

pub fn claim(stage: &Stage) {
    let mut owner = stage.role(&["child-side"]);
    assert_eq!(owner.ask("count"), "spawned 0, failed 0, control 2", "calls of the allocator under the child's pid");
}

pub fn play() {
    next_order();
    this_is_home();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    // All that a child can be asked to do on its way.
    let mut command = Command::new("true");
    command.cwd("/").env("A", "b").stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(std::os::fd::OwnedFd::from(writer)).pass_fd(std::os::fd::AsFd::as_fd(&reader));
    for keep_session in [false, true] {
        command.keep_session(keep_session).spawn_owned().expect("spawn_owned").wait().expect("wait");
    }
    let spawned = borrowed_calls();
    for (program, dir) in [("/nonexistent", "/"), ("no-such-program-in-path", "/"), ("true", "/nonexistent")] {
        Command::new(program).cwd(dir).spawn_owned().expect_err("must fail");
    }
    let failed = borrowed_calls() - spawned;
    allocate_in_a_borrower();
    let control = borrowed_calls() - spawned - failed;
    say(format_args!("spawned {spawned}, failed {failed}, control {control}"));
}

/// A child that shares our memory while this thread waits, and that allocates and frees once.
fn allocate_in_a_borrower() {
    extern "C" fn body(_: *mut c_void) -> c_int {
        drop(std::hint::black_box(Box::new(1)));
        // SAFETY: ends this process without any exit handler.
        unsafe { libc::_exit(0) }
    }
    let mut stack = vec![0u128; 4096];
    // SAFETY: CLONE_VFORK keeps this thread here until the child has ended, so the stack outlives it.
    unsafe {
        let top = stack.as_mut_ptr().add(stack.len()).cast();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(body, top, flags, std::ptr::null_mut());
        assert!(pid > 0, "clone: {}", std::io::Error::last_os_error());
        libc::waitpid(pid, std::ptr::null_mut(), 0);
    }
}
