//! A seccomp filter written by hand: a given system call fails with a given errno, or kills the thread that makes it.
//!
//! This is how a test meets an older or a forbidding kernel: the real code path runs, and the kernel itself says no.
//! Filters are inherited by everything that is started later, as a container's would be.

use std::io;

/// An option of prctl(2) that no kernel knows: the system call at which the ptrace driver begins to count.
pub const TRACE_MARK: u64 = 0x4853_4d4b;

#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// The call is made: an exception from a rule that comes later.
    Allow,
    /// The call is not made and fails with this.
    Errno(i32),
    /// The calling thread ends, as if by SIGSYS, and no other.
    KillThread,
}

#[derive(Clone, Debug)]
struct Rule {
    call: i64,
    /// Index and value of the argument that it must have; the low 32 bits are compared under the mask.
    argument: Option<(u32, u32, u32)>,
    action: Action,
}

/// The rules, tried in order; whatever none of them names is allowed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    rules: Vec<Rule>,
}

impl Filter {
    pub fn new() -> Filter {
        Filter::default()
    }

    /// For every use of this system call.
    pub fn on(mut self, call: i64, action: Action) -> Filter {
        self.rules.push(Rule { call, argument: None, action });
        self
    }

    /// For the uses in which the low half of argument `index` (0 to 5) has this value.
    pub fn when(self, call: i64, index: u32, value: u32, action: Action) -> Filter {
        self.when_masked(call, index, u32::MAX, value, action)
    }

    /// For the uses in which argument `index`, under `mask`, has this value: flags.
    pub fn when_masked(mut self, call: i64, index: u32, mask: u32, value: u32, action: Action) -> Filter {
        self.rules.push(Rule { call, argument: Some((index, mask, value)), action });
        self
    }

    /// The BPF program. Built before a fork, so that the child only makes system calls.
    pub fn program(&self) -> Program {
        // Offsets in struct seccomp_data: nr, arch, instruction pointer, six 64-bit arguments (little-endian).
        const NR: u32 = 0;
        const ARCH: u32 = 4;
        const ARGUMENTS: u32 = 16;
        let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset);
        let answer = |value| statement(libc::BPF_RET | libc::BPF_K, value);
        let mut code = vec![load(ARCH), jump_unless_equal(AUDIT_ARCH, 0), answer(libc::SECCOMP_RET_ALLOW)];
        // The jump goes over the answer when the architecture is ours.
        code[1] = libc::sock_filter { jt: 1, ..code[1] };
        for rule in &self.rules {
            let verdict = match rule.action {
                Action::Allow => libc::SECCOMP_RET_ALLOW,
                Action::Errno(errno) => libc::SECCOMP_RET_ERRNO | (errno as u32 & libc::SECCOMP_RET_DATA),
                Action::KillThread => libc::SECCOMP_RET_KILL_THREAD,
            };
            code.push(load(NR));
            match rule.argument {
                None => code.push(jump_unless_equal(rule.call as u32, 1)),
                Some((index, mask, value)) => code.extend([
                    jump_unless_equal(rule.call as u32, 4),
                    load(ARGUMENTS + 8 * index),
                    statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask),
                    jump_unless_equal(value, 1),
                ]),
            }
            code.push(answer(verdict));
        }
        code.push(answer(libc::SECCOMP_RET_ALLOW));
        Program(code)
    }

    /// Puts the filter on every thread of this process (`SECCOMP_FILTER_FLAG_TSYNC`).
    pub fn apply_to_all_threads(&self) -> io::Result<()> {
        self.program().install(libc::SECCOMP_FILTER_FLAG_TSYNC)
    }

    /// Has the command put it on before it executes its program.
    pub fn put_on(&self, command: &mut std::process::Command) {
        use std::os::unix::process::CommandExt;
        let program = self.program();
        // SAFETY: the closure makes two system calls and allocates nothing.
        unsafe { command.pre_exec(move || program.install(0)) };
    }
}

pub struct Program(Vec<libc::sock_filter>);

impl Program {
    /// seccomp(2). Async-signal-safe.
    pub fn install(&self, flags: libc::c_ulong) -> io::Result<()> {
        let program = libc::sock_fprog { len: self.0.len() as u16, filter: self.0.as_ptr().cast_mut() };
        // SAFETY: the program outlives the calls. Without CAP_SYS_ADMIN a filter needs no_new_privs first.
        let result = unsafe {
            let attempt = || libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &program);
            match attempt() {
                0 => 0,
                _ => {
                    libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                    attempt()
                }
            }
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// `AUDIT_ARCH_...` of this build (include/uapi/linux/audit.h).
#[cfg(target_arch = "x86_64")]
const AUDIT_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xc000_00b7;

fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Goes on when equal, else skips this many instructions.
fn jump_unless_equal(k: u32, skip: u8) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt: 0, jf: skip, k }
}
