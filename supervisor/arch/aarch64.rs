//! aarch64: how a system call is made and how the program begins.

/// One system call with up to six arguments; the kernel's answer, a negative errno on failure.
///
/// # Safety
/// As the system call itself: pointers must be valid for what the kernel does with them.
#[inline(always)]
pub unsafe fn syscall6(n: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let ret: isize;
    // SAFETY: the aarch64 Linux convention; the kernel preserves every register but x0.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") n,
            inlateout("x0") a as isize => ret,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    ret
}

/// clone3(2) for a process on a stack of its own, which runs `run(argument)`. The parent gets the kernel's answer.
///
/// # Safety
/// `args` are `size` bytes of clone arguments, with a stack that is aligned to 16; `run` does not return; with shared
/// memory, stack and argument live until the child has exec'd or exited.
#[allow(dead_code, reason = "the owner's side only")]
#[inline(never)]
pub unsafe fn clone3(args: usize, size: usize, run: usize, argument: usize) -> isize {
    const SYS_CLONE3: usize = 435;
    let ret: isize;
    // SAFETY: parent and child part by x0. The child finds its registers as they were, on an empty stack.
    unsafe {
        core::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, x21",
            "blr x20",
            "brk #0",
            "2:",
            in("x8") SYS_CLONE3,
            inlateout("x0") args as isize => ret,
            in("x1") size, in("x20") run, in("x21") argument,
        );
    }
    ret
}

/// Entry point: calls `begin` on the stack that `layout.ld` reserves, with the address of what the kernel put on its own
/// (argc, argv...).
macro_rules! entry_point {
    () => {
        core::arch::global_asm!(
            ".globl _start",
            "_start:",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, sp",
            "adrp x1, stack_top",
            "add x1, x1, :lo12:stack_top",
            "mov sp, x1",
            "bl begin",
            "brk #0",
        );
    };
}
pub(crate) use entry_point;
