// The ends of children: waited for, polled for, brought about.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>

#include "children.h"

static void an_end_is_told_to_all_who_ask(void) {
    hermes_child *child = start("exit 7", defaults());
    expect_end(child, HERMES_EXITED, 7);
    expect_end(child, HERMES_EXITED, 7);
    hermes_child_free(child);
    child = start("kill -9 $$", defaults());
    expect_end(child, HERMES_SIGNALLED, SIGKILL);
    hermes_child_free(child);
}

static void a_wait_has_an_end_and_a_stop_too(void) {
    hermes_child *child = start("exec sleep 600", defaults());
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    status.code = 77;
    CHECK_NUMBER(HERMES_ERR_TIMEOUT, hermes_child_wait(child, 0, &status, &error));
    CHECK_NUMBER(HERMES_ERR_TIMEOUT, error.code);
    CHECK_NUMBER(HERMES_ERR_TIMEOUT, hermes_child_wait(child, 20, &status, &error));
    CHECK_NUMBER(77, status.code);
    MUST(hermes_child_stop(child, 5000, &error), error);
    expect_end(child, HERMES_SIGNALLED, SIGTERM);
    MUST(hermes_child_stop(child, 5000, &error), error);
    hermes_child_free(child);
}

static void *wait_for(void *child) {
    expect_end(child, HERMES_SIGNALLED, SIGTERM);
    return NULL;
}

// Whichever of the two learns first that the child has ended, the other is told: no deadline is waited out.
static void a_stop_and_a_wait_do_not_keep_each_other(void) {
    for (int round = 0; round < 20; round++) {
        struct timespec begun;
        pthread_t waiter;
        hermes_child *child = start("exec sleep 600", defaults());
        CHECK(pthread_create(&waiter, NULL, wait_for, child) == 0);
        clock_gettime(CLOCK_MONOTONIC, &begun);
        MUST(hermes_child_stop(child, 20000, &error), error);
        CHECK(elapsed_ms(&begun) < 10000);
        CHECK(pthread_join(waiter, NULL) == 0);
        hermes_child_free(child);
    }
}

// For an event loop: a hundred at once, and no call waits.
static void stops_can_go_on_by_themselves(void) {
    enum { CHILDREN = 100 };
    hermes_child *children[CHILDREN];
    const struct timespec pause = {0, 1000000};
    struct timespec begun;
    for (int i = 0; i < CHILDREN; i++) {
        // Every tenth does not comply.
        children[i] = start(i % 10 ? "exec sleep 600" : "trap '' TERM; exec sleep 600", defaults());
        CHECK_NUMBER(HERMES_ERR_INVALID_ARGUMENT, hermes_child_stop_poll(children[i], &error));
    }
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int i = 0; i < CHILDREN; i++) {
        MUST(hermes_child_stop_begin(children[i], 500, &error), error);
        MUST(hermes_child_stop_begin(children[i], 60000, &error), error);
    }
    int left = CHILDREN;
    while (left > 0) {
        for (int i = 0; i < CHILDREN; i++) {
            int32_t result = children[i] == NULL ? HERMES_ERR_TIMEOUT : hermes_child_stop_poll(children[i], &error);
            if (result == HERMES_ERR_TIMEOUT) {
                continue;
            }
            MUST(result, error);
            CHECK_NUMBER(HERMES_SIGNALLED, end_of(children[i]).kind);
            CHECK_NUMBER(HERMES_ERR_INVALID_ARGUMENT, hermes_child_stop_poll(children[i], &error));
            hermes_child_free(children[i]);
            children[i] = NULL;
            left--;
        }
        CHECK(elapsed_ms(&begun) < 20000);
        nanosleep(&pause, NULL);
    }
}

// What is not searched for when this process dies is stopped like anything else.
static void a_stop_is_no_error_for_a_group_only_child(void) {
    hermes_spawn_options options = defaults();
    options.flags = HERMES_SPAWN_GROUP_ONLY;
    for (int round = 0; round < 100; round++) {
        hermes_child *child = start("exec sleep 600", options);
        MUST(hermes_child_stop(child, 5000, &error), error);
        CHECK_NUMBER(HERMES_ERR_NO_SUCH_GROUP, hermes_child_signal(child, SIGTERM, &error));
        hermes_child_free(child);
    }
}

static void signals_reach_the_leader_or_the_group(void) {
    hermes_spawn_options options = with_output();
    hermes_child *child = start("trap 'echo caught; exit 0' USR1; echo ready; while :; do sleep 0.01; done", options);
    char ready[6];
    CHECK_NUMBER(6, read(hermes_child_stdout_fd(child), ready, 6));
    MUST(hermes_child_signal_leader(child, SIGUSR1, &error), error);
    expect_output(child, "caught\n");

    child = start("sleep 600 & wait", defaults());
    MUST(hermes_child_signal(child, SIGKILL, &error), error);
    expect_end(child, HERMES_SIGNALLED, SIGKILL);
    CHECK_NUMBER(HERMES_ERR_NOT_FOUND, hermes_child_signal_leader(child, SIGKILL, &error));
    hermes_child_free(child);
}

static void an_end_can_be_polled_for(void) {
    hermes_spawn_options options = defaults();
    options.stdin_fd = HERMES_STDIO_PIPE;
    hermes_child *child = start("read -r code; exit \"$code\"", options);
    int32_t fd = -1;
    MUST(hermes_child_exit_fd(child, &fd, &error), error);
    CHECK(fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    struct pollfd end = {fd, POLLIN, 0};
    CHECK_NUMBER(0, poll(&end, 1, 0));
    CHECK_NUMBER(3, write(hermes_child_stdin_fd(child), "42\n", 3));
    CHECK_NUMBER(1, poll(&end, 1, 20000));
    char record[64];
    hermes_exit_status status;
    CHECK_NUMBER(sizeof status, read(fd, record, sizeof record));
    CHECK_NUMBER(0, read(fd, record + sizeof status, 1));
    memcpy(&status, record, sizeof status);
    CHECK_NUMBER(sizeof status, status.size);
    CHECK_NUMBER(HERMES_EXITED, status.kind);
    CHECK_NUMBER(42, status.code);
    expect_end(child, HERMES_EXITED, 42);
    close(fd);
    hermes_child_free(child);
}

// More children than this process may have descriptors.
static void an_end_is_noticed_without_a_descriptor(void) {
    enum { CHILDREN = 60, DESCRIPTORS = 40 };
    hermes_child *children[CHILDREN];
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    struct rlimit usual, low;
    struct timespec begun;
    CHECK(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    low = usual;
    low.rlim_cur = DESCRIPTORS;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = start("exec sleep 600", defaults());
        clock_gettime(CLOCK_MONOTONIC, &begun);
        CHECK_NUMBER(HERMES_ERR_TIMEOUT, hermes_child_wait(children[i], 5, &status, &error));
        CHECK(elapsed_ms(&begun) >= 5);
    }
    for (int i = 0; i < CHILDREN; i++) {
        MUST(hermes_child_signal_leader(children[i], SIGKILL, &error), error);
        MUST(hermes_child_wait(children[i], 20000, &status, &error), error);
        CHECK_NUMBER(HERMES_SIGNALLED, status.kind);
        hermes_child_free(children[i]);
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &usual) == 0);
}

static void *all(void *unused) {
    an_end_is_told_to_all_who_ask();
    a_wait_has_an_end_and_a_stop_too();
    a_stop_and_a_wait_do_not_keep_each_other();
    stops_can_go_on_by_themselves();
    a_stop_is_no_error_for_a_group_only_child();
    signals_reach_the_leader_or_the_group();
    an_end_can_be_polled_for();
    an_end_is_noticed_without_a_descriptor();
    return unused;
}

int main(int argc, char **argv) {
    return check(argc, argv, all);
}
