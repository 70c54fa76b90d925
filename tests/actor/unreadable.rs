//! Processes that cannot be looked into: whoever reads `/proc/PID/environ` (or opens it) waits for ever. It takes a file
//! whose reads and closes are never answered.
//!
//! A page of the environment that never comes is not enough: the kernel reads the environment from anonymous memory
//! only, and a missing page of that kind ends the read.

use crate::raw;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr;

const PAGE: usize = 4096;

/// A look into memory that waits for a page of the file holds the lock of the address space for reading; then a change
/// of the address space waits for it, and everybody who comes later waits behind that.
pub fn by_a_lock(file: &str) -> ! {
    let file = File::open(file).expect("the file");
    let (read, private) = (libc::PROT_READ, libc::MAP_PRIVATE);
    // SAFETY: a new mapping, which this process does not touch.
    let page = unsafe { libc::mmap(ptr::null_mut(), PAGE, read, private, file.as_raw_fd(), 0) };
    assert!(page != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
    let memory = File::open("/proc/self/mem").expect("own memory");
    let looking = raw::fork();
    if looking == 0 {
        let _ = memory.read_at(&mut [0; 64], page as u64);
        raw::leave_now(0);
    }
    // As soon as the look has begun, this does not return.
    loop {
        change_address_space();
    }
}

fn change_address_space() {
    let (read, private) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, which is taken away again.
    unsafe {
        let page = libc::mmap(ptr::null_mut(), PAGE, read, private, -1, 0);
        libc::munmap(page, PAGE);
    }
}

/// An exec holds the lock that looks into the process take, while it closes what is to be closed at exec.
pub fn by_an_exec(file: &str) -> ! {
    let file = File::open(file).expect("the file");
    let environment: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
    let error = raw::exec("/bin/sleep", &["sleep", "600"], &environment);
    panic!("exec: {error}, {file:?}");
}
