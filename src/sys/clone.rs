//! `clone(2)`: how a child comes into being.
//!
//! `CLONE_VM | CLONE_VFORK`: the child runs in our memory and this thread waits until it has exec'd or exited, so the
//! cost does not grow with our memory and a failure is reported through a plain variable. `CLONE_PARENT_SETTID` makes
//! the *kernel* write the pid where we say, before the child runs its first instruction. Exit signal 0 keeps a child
//! that never became a program invisible to the host (no SIGCHLD, not in `waitpid(-1)`); a successful exec turns the
//! exit signal into SIGCHLD by itself.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicI32;

use super::child::{Failure, Handlers, Plan, Step, become_program};
use super::raw::{self, raw};
use super::{Errno, check, fd, process, signals};

/// Stack of the child, a part of the parent's own frame: the parent waits, so nobody else uses it. Functions that have
/// one are never inlined: two in one frame are more than a small thread can give.
const STACK_BYTES: usize = 24 * 1024;
#[repr(align(16))]
pub(super) struct Stack(MaybeUninit<[u8; STACK_BYTES]>);

impl Stack {
    pub(super) fn new() -> Stack {
        Stack(MaybeUninit::uninit())
    }

    /// Outside the caller's frame, where two would be more than a small thread has.
    pub(super) fn boxed() -> Box<Stack> {
        // SAFETY: any bytes are a value of it, uninitialised ones too.
        unsafe { Box::new_uninit().assume_init() }
    }

    /// One past the end: stacks grow down.
    pub(super) fn top(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().wrapping_add(1).cast()
    }
}

/// Whether a child started with `CLONE_VM` really runs in our memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Memory {
    Shared,
    /// An emulator (Valgrind) turned vfork into fork: such a child sees a copy and can report through a pipe only.
    Copied,
}

/// Starts the program of `plan`. The kernel stores the pid into `pid` before the child runs.
///
/// On failure no process is left, not even a zombie (unless a host that waits with `__WALL` took it: same thing).
pub(crate) fn spawn(plan: &Plan, pid: &AtomicI32, memory: Memory) -> Result<i32, Failure> {
    match memory {
        Memory::Shared => spawn_shared(plan, pid),
        Memory::Copied => spawn_copied(plan, pid),
    }
}

struct Shared<'a> {
    plan: &'a Plan<'a>,
    handlers: Handlers,
    failure: Option<Failure>,
}

extern "C" fn run_shared(shared: *mut c_void) -> c_int {
    // SAFETY: the pointer is to the parent's `Shared`, which lives while the parent waits; nobody else touches it.
    unsafe {
        let shared = &mut *shared.cast::<Shared>();
        shared.failure = Some(become_program(shared.plan, shared.handlers));
        exit_now()
    }
}

/// Ends this process without anything of the C library's.
unsafe fn exit_now() -> c_int {
    // SAFETY: `exit` does not return.
    unsafe {
        let _ = raw!(libc::SYS_exit, 127);
    }
    127
}

#[inline(never)]
fn spawn_shared(plan: &Plan, pid: &AtomicI32) -> Result<i32, Failure> {
    let mut shared = Shared { plan, handlers: Handlers::Cleared, failure: None };
    let mut stack = Stack::new();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PARENT_SETTID;
    let child = {
        // Without handlers a child still has what signals do by default. What comes for the parent's group before the
        // child has left it must wait until then: a stop would hold this thread too, for as long as it lasts.
        let _blocked = signals::BlockAll::new();
        match clone_without_handlers(&mut shared, &mut stack, flags, pid) {
            // A filter that does not know this call; no process was made. The older call cannot be told about
            // handlers, so the child asks for all 64 signals, which takes it as long as half an exec.
            Err(libc::ENOSYS | libc::EPERM | libc::EINVAL) => {
                shared.handlers = Handlers::Inherited;
                // SAFETY: the stack and `shared` outlive the child's use of them: CLONE_VFORK keeps this thread here
                // until the child has exec'd or exited. `pid` is an aligned 32-bit integer.
                check(unsafe { libc::clone(run_shared, stack.top(), flags, (&raw mut shared).cast(), pid.as_ptr()) })
            }
            made => made,
        }
    };
    let child = child.map_err(|errno| Failure { step: Step::Clone, errno, index: 0 })?;
    match shared.failure {
        None => Ok(child),
        Some(failure) => {
            process::reap(child);
            Err(failure)
        }
    }
}

/// linux/sched.h. libc declares it as an `int` for glibc, where it is cut to 0.
const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;

/// clone3(2), for its flag that sets caught signals to their default in the child, in the kernel.
fn clone_without_handlers(shared: &mut Shared, stack: &mut Stack, flags: c_int, pid: &AtomicI32) -> Result<i32, Errno> {
    // SAFETY: a structure of integers, of which zero means "not asked for".
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = flags as u64 | CLONE_CLEAR_SIGHAND;
    args.parent_tid = pid.as_ptr().expose_provenance() as u64;
    args.stack_size = STACK_BYTES as u64;
    args.stack = stack.top().expose_provenance() as u64 - args.stack_size;
    let run = run_shared as extern "C" fn(*mut c_void) -> c_int as usize;
    // SAFETY: `run_shared` exits; stack and `shared` outlive the child's use of them, since CLONE_VFORK keeps this
    // thread here until the child has exec'd or exited. `pid` is an aligned 32-bit integer.
    let child = unsafe {
        raw::clone3(
            (&raw const args).expose_provenance(),
            size_of_val(&args),
            run,
            (&raw mut *shared).expose_provenance(),
        )
    };
    raw::answer(child).map(|pid| pid as i32)
}

struct Copied<'a> {
    plan: &'a Plan<'a>,
    report: c_int,
}

extern "C" fn run_copied(copied: *mut c_void) -> c_int {
    // SAFETY: the child's own copy of the parent's memory; the pipe's descriptor number is valid in its table too.
    unsafe {
        let copied = &*copied.cast::<Copied>();
        let failure = become_program(copied.plan, Handlers::Inherited);
        let words = [failure.step as u32, failure.errno as u32, failure.index as u32];
        let _ = raw!(libc::SYS_write, copied.report, words.as_ptr(), size_of_val(&words));
        exit_now()
    }
}

#[inline(never)]
fn spawn_copied(plan: &Plan, pid: &AtomicI32) -> Result<i32, Failure> {
    let made = |errno: Errno| Failure { step: Step::Clone, errno, index: 0 };
    let (reader, writer) = fd::pipe().map_err(made)?;
    let mut keep = plan.keep.to_vec();
    keep.push(writer.as_raw_fd());
    keep.sort_unstable();
    // The report goes over a pipe that must stay open until exec, which closes it.
    let plan = Plan { keep: &keep, identity: None, ..*plan };
    let mut copied = Copied { plan: &plan, report: writer.as_raw_fd() };
    let mut stack = Stack::new();
    let child = {
        let _blocked = signals::BlockAll::new();
        // SAFETY: without CLONE_VM the child works on a copy of all this.
        check(unsafe {
            libc::clone(run_copied, stack.top(), libc::CLONE_PARENT_SETTID, (&raw mut copied).cast(), pid.as_ptr())
        })
    };
    let child = child.map_err(made)?;
    drop(writer);
    let mut words = [0u8; 12];
    if fd::read_full(&reader, &mut words) < words.len() {
        return Ok(child);
    }
    process::reap(child);
    let word = |i: usize| u32::from_ne_bytes([words[i], words[i + 1], words[i + 2], words[i + 3]]);
    Err(Failure { step: step_of(word(0)), errno: word(4) as Errno, index: word(8) as usize })
}

fn step_of(number: u32) -> Step {
    [Step::Session, Step::Stdio, Step::PassFd, Step::CloseOthers, Step::Terminal, Step::Cwd, Step::Exec]
        .into_iter()
        .find(|&step| step as u32 == number)
        .unwrap_or(Step::Exec)
}

extern "C" fn leave_a_trace(seen: *mut c_void) -> c_int {
    // SAFETY: the parent's flag, or the child's copy of it.
    unsafe {
        *seen.cast::<bool>() = true;
        exit_now()
    }
}

/// Finds out by trying, once a process: a child sets a flag in "our" memory.
#[inline(never)]
pub(crate) fn probe_memory() -> Result<Memory, Errno> {
    let mut seen = false;
    let mut stack = Stack::new();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK;
    let child = {
        let _blocked = signals::BlockAll::new();
        // SAFETY: as in `spawn_shared`.
        check(unsafe { libc::clone(leave_a_trace, stack.top(), flags, (&raw mut seen).cast()) })?
    };
    process::reap(child);
    // SAFETY: a plain read that the compiler may not fold into the `false` above.
    let seen = unsafe { (&raw const seen).read_volatile() };
    Ok(if seen { Memory::Shared } else { Memory::Copied })
}
