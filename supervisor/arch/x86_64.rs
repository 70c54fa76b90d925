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
