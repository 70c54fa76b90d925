//! What whoever runs the host can do when a system call fails that supervision needs.

use crate::sys::Errno;

/// Of a step on the way to a supervisor. The errno alone says little: `EPERM` of an `execveat` is a mount option, of
/// anything else it is a filter.
pub(super) fn way_out(step: &str, errno: Errno) -> &'static str {
    match (step, errno) {
        (_, libc::EAGAIN) => {
            "there is no room for another process or thread: raise RLIMIT_NPROC (`ulimit -u`) or the pids limit of the control group"
        }
        (_, libc::EMFILE) => "no descriptor is left: raise RLIMIT_NOFILE (`ulimit -n`) or close some",
        (_, libc::ENFILE) => "the system has no open file left: raise fs.file-max",
        (_, libc::ENOMEM) => "no memory is left: free some, or raise the limit of the control group",
        (_, libc::ENOSPC) => "no space is left there: free some",
        ("open /dev/null", _) => "this root directory needs a /dev/null",
        ("create" | "execveat", _) => "allow memfd execution or a directory without noexec",
        (_, libc::ENOSYS) => "this takes Linux 5.9 or later, and a seccomp filter that knows the call",
        (_, libc::EPERM | libc::EACCES) => "a seccomp filter or security module refuses the call: allow it",
        _ => "`hermes-spawn drill` tries what this machine allows",
    }
}
