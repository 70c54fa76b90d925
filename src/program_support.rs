//! For the program only: what a program may do to itself and a library must not do to its host.

/// Puts SIGCHLD back to its default. Whoever started the program may have ignored it, and ignoring is inherited: then
/// the kernel keeps no exit status of any child.
pub fn default_sigchld() {
    crate::sys::signals::default_sigchld();
}
