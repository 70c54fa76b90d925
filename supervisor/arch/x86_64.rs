//! x86_64: how a system call is made and how the program begins.

/// One system call with up to six arguments; the kernel's answer, a negative errno on failure.
///
/// # Safety
/// As the system call itself: pointers must be valid for what the kernel does with them.
#[inline(always)]
pub unsafe fn syscall6(n: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let ret: isize;
    // SAFETY: the x86_64 Linux convention; the kernel clobbers rcx and r11 and nothing else of ours.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") n as isize => ret,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
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
    const SYS_CLONE3: isize = 435;
    let ret: isize;
    // SAFETY: parent and child part by rax. The child finds its registers as they were, on an empty stack.
    unsafe {
        core::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r13",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") SYS_CLONE3 => ret,
            in("rdi") args, in("rsi") size, in("r12") run, in("r13") argument,
            lateout("rcx") _, lateout("r11") _,
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
            "xor %ebp, %ebp",
            "mov %rsp, %rdi",
            "mov $stack_top, %rsp",
            "call begin",
            "ud2",
            options(att_syntax)
        );
    };
}
pub(crate) use entry_point;
