//! System call numbers, x86_64 beside aarch64. Only calls that both have: aarch64 knows no `open`, `poll`, `fork`...

macro_rules! numbers {
    ($($name:ident $x86_64:literal $aarch64:literal)*) => {
        $(pub const $name: usize = if cfg!(target_arch = "x86_64") { $x86_64 } else { $aarch64 };)*
    };
}

numbers! {
    READ 0 63
    WRITE 1 64
    CLOSE 3 57
    FSTAT 5 80
    MMAP 9 222
    MADVISE 28 233
    GETPID 39 172
    CLONE 56 220
    WAIT4 61 260
    KILL 62 129
    FCNTL 72 25
    CHDIR 80 49
    GETPPID 110 173
    GETPGID 121 155
    PRCTL 157 167
    FUTEX 202 98
    GETDENTS64 217 61
    CLOCK_GETTIME 228 113
    EXIT_GROUP 231 94
    EPOLL_CTL 233 21
    OPENAT 257 56
    MKDIRAT 258 34
    RENAMEAT 264 38
    PPOLL 271 73
    EPOLL_PWAIT 281 22
    EPOLL_CREATE1 291 20
    DUP3 292 24
    PIPE2 293 59
    PIDFD_SEND_SIGNAL 424 424
    PIDFD_OPEN 434 434
    CLOSE_RANGE 436 436
}
