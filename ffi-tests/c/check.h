// Claims in the words of C: one that does not hold ends the program and says where, and what was seen instead.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hermes_spawn.h>

#define CHECK(claim)                                                                                 \
    do {                                                                                             \
        if (!(claim)) {                                                                              \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #claim);               \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

#define CHECK_NUMBER(expected, seen)                                                                 \
    do {                                                                                             \
        long long e_ = (expected), s_ = (seen);                                                      \
        if (e_ != s_) {                                                                              \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #seen, s_, e_);     \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

// For a call that must succeed: shows what the library said if it does not.
#define MUST(call, error)                                                                            \
    do {                                                                                             \
        int32_t c_ = (call);                                                                         \
        if (c_ != HERMES_OK) {                                                                       \
            fprintf(stderr, "%s:%d: %s: %d, %s: %s\n", __FILE__, __LINE__, #call, c_, (error).step,  \
                    (error).message);                                                                \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

// Asks Valgrind, when built for it, whether memory was lost until now. Its own look at a program's end is no use here:
// it looks at the end of every forked copy, too, where the library's shared memory is missing, and each of its words is
// a fault.
#ifdef UNDER_VALGRIND
#include <valgrind/memcheck.h>
#define CHECK_NOTHING_IS_LOST()                                                                      \
    do {                                                                                             \
        unsigned long lost_ = 0, dubious_ = 0, reachable_ = 0, suppressed_ = 0;                      \
        (void)dubious_, (void)suppressed_;                                                           \
        CHECK(RUNNING_ON_VALGRIND);                                                                  \
        VALGRIND_DO_LEAK_CHECK;                                                                      \
        VALGRIND_COUNT_LEAKS(lost_, dubious_, reachable_, suppressed_);                              \
        CHECK(reachable_ > 0);                                                                       \
        CHECK_NUMBER(0, lost_);                                                                      \
    } while (0)
#else
#define CHECK_NOTHING_IS_LOST() ((void)0)
#endif

#endif
