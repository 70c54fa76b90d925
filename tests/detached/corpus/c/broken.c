/* A macro that is its own language: what looks like a call in it may be one. */
int f(int x) {
    UNLESS (x) OR setsid( { 1 } ) /* finds: in-broken-text? */
    return 0;
}
