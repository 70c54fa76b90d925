fn f() {
    // detached-spawn: ok - any comment syntax
    unsafe { libc::setsid() };
    /* detached-spawn: ok - this one too */
    unsafe { libc::setsid() };
}
