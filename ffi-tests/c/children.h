// Children for claims to be made about, and how a program checks all of its claims.
#ifndef CHILDREN_H
#define CHILDREN_H

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static hermes_error error = HERMES_ERROR_INIT;

// `sh -c line`, with what else the options say.
static inline hermes_child *start(const char *line, hermes_spawn_options options) {
    const char *const argv[] = {"sh", "-c", line, NULL};
    hermes_child *child = NULL;
    options.argv = argv;
    MUST(hermes_spawn_owned(&options, &child, &error), error);
    CHECK(child != NULL);
    return child;
}

static inline hermes_spawn_options defaults(void) {
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    return options;
}

static inline hermes_spawn_options with_output(void) {
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    options.stdout_fd = HERMES_STDIO_PIPE;
    return options;
}

static inline hermes_exit_status end_of(hermes_child *child) {
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    MUST(hermes_child_wait(child, -1, &status, &error), error);
    return status;
}

static inline void expect_end(hermes_child *child, int kind, int code) {
    hermes_exit_status status = end_of(child);
    CHECK_NUMBER(kind, status.kind);
    CHECK_NUMBER(code, status.code);
}

// Everything that comes out of a descriptor; closes it.
static inline const char *text_of(int fd) {
    static char text[4096];
    size_t length = 0;
    ssize_t n;
    while ((n = read(fd, text + length, sizeof text - 1 - length)) > 0) {
        length += (size_t)n;
    }
    text[length] = '\0';
    close(fd);
    return text;
}

static inline void expect_output(hermes_child *child, const char *expected) {
    const char *text = text_of(hermes_child_take_stdout_fd(child));
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "the child wrote \"%s\", not \"%s\"\n", text, expected);
        exit(1);
    }
    expect_end(child, HERMES_EXITED, 0);
    hermes_child_free(child);
}

static inline long elapsed_ms(const struct timespec *since) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

// `./program` checks on the main thread, `./program small-stack` on one with the stack that the header promises to be
// enough.
static inline int check(int argc, char **argv, void *(*all)(void *)) {
    if (argc > 1 && strcmp(argv[1], "small-stack") == 0) {
        pthread_attr_t attributes;
        pthread_t thread;
        CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
        CHECK(pthread_create(&thread, &attributes, all, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        pthread_attr_destroy(&attributes);
    } else {
        all(NULL);
    }
    CHECK_NOTHING_IS_LOST();
    puts("all hold");
    return 0;
}

#endif
