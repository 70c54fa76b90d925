//! System calls without the C library: no errno, no cancellation point, no lock. The supervisor's own file, used here
//! by what runs between `clone` and `exec`, where the child borrows the memory and the thread-local data of its parent.

#[cfg_attr(target_arch = "x86_64", path = "../../supervisor/arch/x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "../../supervisor/arch/aarch64.rs")]
#[allow(unused_macros, unused_imports)]
mod arch;

pub(crate) use arch::{clone3, syscall6};

use super::Errno;

/// The kernel's answer as a result: it reports failure as a negative errno.
pub(crate) fn answer(ret: isize) -> Result<usize, Errno> {
    if (-4095..0).contains(&ret) { Err(-ret as Errno) } else { Ok(ret as usize) }
}

/// `raw!(NUMBER, args...)`: a system call with up to six arguments, as a [`Result`]. Unsafe like the call itself.
macro_rules! raw {
    ($n:expr $(, $arg:expr)*) => { $crate::sys::raw::raw!(@pad $n; $($arg as usize,)* 0, 0, 0, 0, 0, 0) };
    (@pad $n:expr; $a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr $(, $rest:expr)*) => {
        $crate::sys::raw::answer($crate::sys::raw::syscall6($n as usize, $a, $b, $c, $d, $e, $f))
    };
}
pub(crate) use raw;
