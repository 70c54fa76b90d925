// An owner to be killed: starts children, says their numbers, and waits for its own end.
#define _GNU_SOURCE
#include "children.h"

int main(void) {
    const char *const lines[] = {
        "exec sleep 600",                                    // a plain one
        "trap '' TERM; while :; do sleep 600; done",         // does not comply
        "sh -c 'sleep 600; :' & setsid sleep 600 & wait",    // a wrapper, with one that leaves the group
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        printf("%d\n", (int)hermes_child_pid(start(lines[i], defaults())));
    }
    fflush(stdout);
    for (;;) {
        pause();
    }
}
