void f(void) {
    /* detached-spawn: ok - a block comment */
    setsid();
    setsid(); // detached-spawn: ok - a line comment
    /*
     * detached-spawn: ok - the last line but one of a block is too far: finds: marker-unused
     */
    setsid(); /* finds: new-session */
}
#if 0
/* detached-spawn: ok - nobody compiles it */
#endif
