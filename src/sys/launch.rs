//! Starts the supervisor: two nested `clone`s, so that it is nobody's child the host could notice.
//!
//! The middle process has exit signal 0 (no SIGCHLD, not in `waitpid(-1)`) and ends at once; the supervisor is then
//! init's (or the nearest subreaper's). Both share our memory until exec, like any vfork, so a large owner costs
//! nothing and a failure comes back through a plain variable.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

use super::child::{close_all_but, default_caught_signals, open_null, set_mask};
use super::clone::{Memory, Stack};
use super::raw::raw;
use super::{Errno, check, last_errno, process, signals};
use crate::roster::fds;

/// Descriptors of the launching thread that the supervisor gets, and its program.
pub(crate) struct Launch<'a> {
    pub image: i32,
    pub roster: i32,
    pub lifeline_a: i32,
    /// -1: there is only one.
    pub lifeline_b: i32,
    pub back: i32,
    pub owner: i32,
    /// `argv[1]`: the owner's pid, for people who read `ps`.
    pub owner_name: &'a CStr,
}

/// Above the numbers the supervisor is given.
const IMAGE: i32 = fds::OWNER + 1;
const IMAGE_PATH: &CStr = c"/proc/self/fd/8";
const _: () = assert!(IMAGE == 8);
const FIRST_FREE: i32 = IMAGE + 1;

struct Order<'a> {
    launch: &'a Launch<'a>,
    failure: Option<(&'static str, Errno)>,
    /// Null where memory is not shared: the inner process then takes a stack of its own frame.
    inner_stack: *mut c_void,
    flags: c_int,
}

/// Starts one supervisor. `Ok` means that it was executed (or, with copied memory, that the attempt was made: the back
/// pipe tells).
pub(crate) fn launch(launch: &Launch, memory: Memory) -> Result<(), (&'static str, Errno)> {
    let mut outer = Stack::boxed();
    let mut inner = Stack::boxed();
    let flags = match memory {
        Memory::Shared => libc::CLONE_VM | libc::CLONE_VFORK,
        Memory::Copied => 0,
    };
    let mut order = Order { launch, failure: None, inner_stack: inner.top(), flags };
    let middle = {
        let _blocked = signals::BlockAll::new();
        // SAFETY: stacks and order outlive both children: CLONE_VFORK makes this thread wait for the middle process,
        // which waits for the inner one; without CLONE_VM they work on copies.
        check(unsafe { libc::clone(run_middle, outer.top(), flags, (&raw mut order).cast()) })
    };
    let middle = middle.map_err(|errno| ("clone", errno))?;
    process::reap(middle);
    // The children wrote it behind the compiler's back.
    // SAFETY: a plain read of a live local.
    match unsafe { (&raw const order.failure).read_volatile() } {
        None => Ok(()),
        Some(failure) => Err(failure),
    }
}

extern "C" fn run_middle(order: *mut c_void) -> c_int {
    // SAFETY: the launcher's `Order`, alive while it waits. glibc's clone only passes registers on, and sets errno if it
    // fails: that of the thread whose thread-local data this process has, the launcher, which waits and takes no notice;
    // or, where memory is copied, this process's own.
    unsafe {
        let order = &mut *order.cast::<Order>();
        let inner = libc::clone(run_inner, order.inner_stack, order.flags, (order as *mut Order).cast());
        if inner == -1 {
            order.failure = Some(("clone", last_errno()));
        }
        let _ = raw!(libc::SYS_exit, 0);
    }
    0
}

extern "C" fn run_inner(order: *mut c_void) -> c_int {
    // SAFETY: as above; this process is alone on its stack and ends here.
    unsafe {
        let order = &mut *order.cast::<Order>();
        order.failure = Some(become_supervisor(order.launch));
        let _ = raw!(libc::SYS_exit, 127);
    }
    0
}

unsafe fn become_supervisor(launch: &Launch) -> (&'static str, Errno) {
    // SAFETY: system calls on this process's own state; paths and arrays are constants or the launcher's.
    match unsafe { prepare(launch) } {
        Err(failure) => failure,
        // SAFETY: NULL-terminated arrays. AT_EMPTY_PATH executes the descriptor itself.
        Ok(()) => unsafe {
            let argv: [*const c_char; 3] = [c"spawn-supervisor".as_ptr(), launch.owner_name.as_ptr(), null()];
            // An inherited mark would make an outer owner take the supervisor for its own child.
            let envp: [*const c_char; 1] = [null()];
            let run = raw!(libc::SYS_execveat, IMAGE, c"".as_ptr(), argv.as_ptr(), envp.as_ptr(), libc::AT_EMPTY_PATH);
            // A filter may know execve and refuse execveat; and Valgrind looks for a path of its own making, which a
            // memfd does not have. Where the descriptor itself may not be executed, this is refused as well.
            let _ = raw!(libc::SYS_execve, IMAGE_PATH.as_ptr(), argv.as_ptr(), envp.as_ptr());
            ("execveat", run.err().unwrap_or(libc::ENOEXEC))
        },
    }
}

unsafe fn prepare(launch: &Launch) -> Result<(), (&'static str, Errno)> {
    let step = |name: &'static str| move |errno: Errno| (name, errno);
    // SAFETY: as above.
    unsafe {
        // detached-spawn: ok - the supervisor has to outlive its owner, and leaves by itself
        raw!(libc::SYS_setsid).map_err(step("setsid"))?;
        // Deaf from the first instruction on: nothing but KILL ends it before its work is done.
        set_mask(u64::MAX);
        default_caught_signals(&[libc::SIGCHLD, libc::SIGPIPE]);
        raw!(libc::SYS_chdir, c"/".as_ptr()).map_err(step("chdir"))?;
        set_limits();
        let wanted = [
            (launch.roster, fds::ROSTER),
            (launch.lifeline_a, fds::LIFELINE_A),
            (launch.lifeline_b, fds::LIFELINE_B),
            (launch.back, fds::BACK),
            (launch.owner, fds::OWNER),
            (launch.image, IMAGE),
        ];
        // First above every target, so that no source is overwritten before its turn.
        let mut high = [-1i32; 6];
        for (copy, &(source, _)) in high.iter_mut().zip(&wanted) {
            if source >= 0 {
                *copy = raw!(libc::SYS_fcntl, source, libc::F_DUPFD_CLOEXEC, FIRST_FREE).map_err(step("fcntl"))? as i32;
            }
        }
        let null = open_null().map_err(step("open /dev/null"))?;
        for target in 0..3 {
            raw!(libc::SYS_dup3, null, target, 0).map_err(step("dup3"))?;
        }
        let mut keep = [0i32; 6];
        let mut kept = 0;
        for (&copy, &(_, target)) in high.iter().zip(&wanted) {
            if copy >= 0 {
                let flags = if target == IMAGE { libc::O_CLOEXEC } else { 0 };
                raw!(libc::SYS_dup3, copy, target, flags).map_err(step("dup3"))?;
                if let Some(slot) = keep.get_mut(kept) {
                    *slot = target;
                    kept += 1;
                }
            }
        }
        close_all_but(keep.get(..kept).unwrap_or(&[])).map_err(step("close_range"))
    }
}

/// As many descriptors as are allowed, since it holds one for each group; and no core file.
unsafe fn set_limits() {
    // SAFETY: each time one structure of this frame's, read or written; the limits are this process's own.
    unsafe {
        let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
        let _ = raw!(libc::SYS_prlimit64, 0, libc::RLIMIT_CORE, &raw const limit, 0);
        if raw!(libc::SYS_prlimit64, 0, libc::RLIMIT_NOFILE, 0, &raw mut limit).is_ok() {
            limit.rlim_cur = limit.rlim_max;
            let _ = raw!(libc::SYS_prlimit64, 0, libc::RLIMIT_NOFILE, &raw const limit, 0);
        }
    }
}
