// Whatever a caller gets wrong is an error, and never a crash: `./misuse` does all of it, then does it again on eight
// threads at once, and says "all refused".
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define REFUSED(call) CHECK_NUMBER(HERMES_ERR_INVALID_ARGUMENT, call)

static const char *const sleeper[] = {"sleep", "600", NULL};

static hermes_child *start(void) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_child *child = NULL;
    options.argv = sleeper;
    MUST(hermes_spawn_owned(&options, &child, &error), error);
    return child;
}

static void end(hermes_child *child) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    MUST(hermes_child_stop(child, 5000, &error), error);
    MUST(hermes_child_wait(child, 20000, &status, &error), error);
    hermes_child_free(child);
}

// Every function that takes a handle, with one that is none.
static void no_handle(hermes_child *child) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    int32_t fd = 77;
    REFUSED(hermes_child_pid(child));
    REFUSED(hermes_child_pgid(child));
    REFUSED(hermes_child_stdin_fd(child));
    REFUSED(hermes_child_stdout_fd(child));
    REFUSED(hermes_child_stderr_fd(child));
    REFUSED(hermes_child_take_stdin_fd(child));
    REFUSED(hermes_child_take_stdout_fd(child));
    REFUSED(hermes_child_take_stderr_fd(child));
    REFUSED(hermes_child_exit_fd(child, &fd, &error));
    CHECK_NUMBER(77, fd);
    REFUSED(hermes_child_wait(child, -1, &status, &error));
    REFUSED(hermes_child_signal(child, SIGTERM, &error));
    REFUSED(hermes_child_signal_leader(child, SIGTERM, &error));
    REFUSED(hermes_child_stop(child, 0, &error));
    REFUSED(hermes_child_stop_begin(child, 0, &error));
    REFUSED(hermes_child_stop_poll(child, &error));
    CHECK_NUMBER(HERMES_ERR_INVALID_ARGUMENT, error.code);
    CHECK(strlen(error.message) > 10);
    hermes_child_free(child);
}

static void handles_that_are_none(void) {
    hermes_error error = HERMES_ERROR_INIT;
    char text[] = "not a child";
    no_handle(NULL);
    no_handle((hermes_child *)text);
    no_handle((hermes_child *)sleeper);
    no_handle((hermes_child *)8);
    no_handle((hermes_child *)-1);
    hermes_child *freed = start();
    MUST(hermes_child_stop(freed, 0, &error), error);
    hermes_child_free(freed);
    no_handle(freed);
}

static void nothing_where_something_must_be(void) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_child *child = start(), *out = NULL;
    REFUSED(hermes_configure(NULL, &error));
    REFUSED(hermes_configure(NULL, NULL));
    REFUSED(hermes_status(NULL, &error));
    REFUSED(hermes_spawn_owned(NULL, &out, &error));
    REFUSED(hermes_spawn_owned(&options, NULL, &error));
    REFUSED(hermes_spawn_owned(NULL, NULL, NULL));
    REFUSED(hermes_spawn_owned(&options, &out, &error));  // no argv
    const char *const empty[] = {NULL}, *const nameless[] = {"", NULL};
    options.argv = empty;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    options.argv = nameless;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    options.argv = sleeper;
    options.pass_fd_count = 1;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    REFUSED(hermes_own_process_groups(NULL, 1, &error));
    REFUSED(hermes_own_process_groups_within(NULL, 1, 5, &error));
    REFUSED(hermes_release_process_groups(NULL, 1, &error));
    MUST(hermes_own_process_groups(NULL, 0, NULL), error);
    REFUSED(hermes_child_exit_fd(child, NULL, &error));
    REFUSED(hermes_child_wait(child, -1, NULL, &error));
    CHECK(out == NULL);
    end(child);
}

static void addresses_where_nothing_can_be(void) {
    hermes_error error = HERMES_ERROR_INIT;
    char room[sizeof(hermes_status_info) + 1] = {0};
    hermes_child *out = NULL;
    REFUSED(hermes_status((hermes_status_info *)(void *)(room + 1), &error));
    REFUSED(hermes_configure((hermes_config *)(void *)(room + 1), &error));
    REFUSED(hermes_spawn_owned((hermes_spawn_options *)(void *)(room + 1), &out, &error));
    REFUSED(hermes_own_process_groups((int32_t *)(void *)(room + 1), 1, &error));
    REFUSED(hermes_release_process_groups((int32_t *)(void *)(room + 1), 1, (hermes_error *)(void *)(room + 3)));
}

static void sizes_too_small_and_too_large(void) {
    const uint32_t wrong[] = {0, 1, 4, 11, 4097, 0x7fffffff, 0xffffffff};
    hermes_error error = HERMES_ERROR_INIT;
    hermes_config config = HERMES_CONFIG_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_status_info info = HERMES_STATUS_INFO_INIT;
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    hermes_child *child = start(), *out = NULL;
    options.argv = sleeper;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        config.size = options.size = info.size = status.size = wrong[i];
        REFUSED(hermes_configure(&config, &error));
        REFUSED(hermes_spawn_owned(&options, &out, &error));
        REFUSED(hermes_status(&info, &error));
        REFUSED(hermes_child_wait(child, 0, &status, &error));
        // An error record that cannot be one: nothing is done, and nothing is written.
        hermes_error odd = HERMES_ERROR_INIT;
        odd.size = wrong[i];
        options.size = sizeof options;
        REFUSED(hermes_spawn_owned(&options, &out, &odd));
        REFUSED(hermes_child_stop(child, 0, &odd));
        CHECK(odd.code == 0 && odd.message[0] == '\0' && odd.size == wrong[i]);
    }
    CHECK(out == NULL);
    CHECK(kill(hermes_child_pid(child), 0) == 0);
    end(child);
}

// A caller of the first version, whose options end before `wait_limit_ms`: what lies there is not read.
static void earlier_versions(void) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_child *child = NULL;
    options.argv = sleeper;
    options.reserved = 1;
    REFUSED(hermes_spawn_owned(&options, &child, &error));
    options.size = offsetof(hermes_spawn_options, wait_limit_ms);
    MUST(hermes_spawn_owned(&options, &child, &error), error);
    end(child);
    options.size -= 1;
    REFUSED(hermes_spawn_owned(&options, &child, &error));
}

// A caller of a later version: what this library does not know must be zero.
static void later_versions(void) {
    struct {
        hermes_spawn_options known;
        uint64_t unknown[4];
    } later = {HERMES_SPAWN_OPTIONS_INIT, {0, 0, 0, 0}};
    hermes_error error = HERMES_ERROR_INIT;
    hermes_child *child = NULL;
    later.known.argv = sleeper;
    later.known.size = sizeof later;
    MUST(hermes_spawn_owned(&later.known, &child, &error), error);
    end(child);
    child = NULL;
    later.unknown[3] = 1;
    REFUSED(hermes_spawn_owned(&later.known, &child, &error));
    CHECK(child == NULL);

    struct {
        hermes_status_info known;
        uint64_t unknown[4];
    } wide = {HERMES_STATUS_INFO_INIT, {1, 2, 3, 4}};
    wide.known.size = sizeof wide;
    MUST(hermes_status(&wide.known, &error), error);
    CHECK_NUMBER(sizeof wide, wide.known.size);
    CHECK(wide.unknown[0] == 1 && wide.unknown[3] == 4);
}

static void values_out_of_range(void) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_child *child = start(), *out = NULL;
    options.argv = sleeper;
    for (int bit = 0; bit < 32; bit++) {
        uint32_t known = HERMES_SPAWN_GROUP_ONLY | HERMES_SPAWN_KEEP_SESSION | HERMES_SPAWN_CONTROLLING_TTY;
        if (!(known & (UINT32_C(1) << bit))) {
            options.flags = UINT32_C(1) << bit;
            REFUSED(hermes_spawn_owned(&options, &out, &error));
        }
    }
    options.flags = 0;
    options.stdin_fd = -5;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    options.stdin_fd = HERMES_STDIO_TO_STDOUT;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    options.stdin_fd = 12345;
    CHECK_NUMBER(HERMES_ERR_OS, hermes_spawn_owned(&options, &out, &error));
    CHECK_NUMBER(EBADF, error.os_errno);
    options.stdin_fd = HERMES_STDIO_NULL;
    int32_t negative = -1;
    options.pass_fds = &negative;
    options.pass_fd_count = 1;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    options.pass_fd_count = UINT32_MAX;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    options.pass_fd_count = 0;
    const char *const no_variable[] = {"NAME", NULL};
    options.envp = no_variable;
    REFUSED(hermes_spawn_owned(&options, &out, &error));
    CHECK(out == NULL);

    REFUSED(hermes_own_process_groups(&negative, SIZE_MAX, &error));
    CHECK_NUMBER(HERMES_ERR_UNSAFE_GROUP, hermes_own_process_groups(&negative, 1, &error));
    CHECK_NUMBER(HERMES_ERR_UNSAFE_GROUP, hermes_own_process_groups_within(&negative, 1, 5, &error));
    MUST(hermes_release_process_groups(&negative, 1, &error), error);
    MUST(hermes_release_process_group_once_empty(INT32_MIN, &error), error);
    REFUSED(hermes_child_wait(child, -2, &status, &error));
    REFUSED(hermes_child_wait(child, INT64_MIN, &status, &error));
    REFUSED(hermes_child_signal(child, 0, &error));
    REFUSED(hermes_child_signal(child, 65, &error));
    REFUSED(hermes_child_signal_leader(child, -1, &error));
    REFUSED(hermes_child_stop(child, UINT32_MAX, &error));
    REFUSED(hermes_child_stop_begin(child, UINT32_MAX, &error));
    end(child);
}

// A copy of this process: handles from before the fork are none, and what it does is about its own children.
static inline void after_a_fork(void) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_child *child = start();
    int32_t group = hermes_child_pgid(child);
    pid_t copy = fork();
    CHECK(copy >= 0);
    if (copy == 0) {
        alarm(60);
        hermes_child *own[20];
        for (int i = 0; i < 20; i++) {
            own[i] = start();
            CHECK(own[i] != child);
        }
        no_handle(child);
        MUST(hermes_release_process_groups(&group, 1, &error), error);
        for (int i = 0; i < 20; i++) {
            end(own[i]);
        }
        _exit(0);
    }
    int status = 0;
    CHECK_NUMBER(copy, waitpid(copy, &status, 0));
    CHECK_NUMBER(0, status);
    // Not released: a signal by way of the supervisor reaches it.
    MUST(hermes_child_signal(child, SIGCONT, &error), error);
    end(child);
}

static void *all_of_it(void *unused) {
    handles_that_are_none();
    nothing_where_something_must_be();
    addresses_where_nothing_can_be();
    sizes_too_small_and_too_large();
    earlier_versions();
    later_versions();
    values_out_of_range();
#ifndef __SANITIZE_ADDRESS__
    // The sanitizer's allocator is not fit for a fork while another thread allocates.
    after_a_fork();
#endif
    return unused;
}

#define THREADS 8

// One handle, freed by one of the threads while the others use it: each call works or is refused.
static void *use_until_it_is_freed(void *handle) {
    hermes_child *child = handle;
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    int32_t seen = 0;
    while ((seen = hermes_child_wait(child, 1, &status, NULL)) != HERMES_ERR_INVALID_ARGUMENT) {
        CHECK(seen == HERMES_OK || seen == HERMES_ERR_TIMEOUT);
        int32_t pid = hermes_child_pid(child);
        CHECK(pid > 1 || pid == HERMES_ERR_INVALID_ARGUMENT);
        hermes_child_stdout_fd(child);
    }
    return NULL;
}

static void on_threads(void *(*body)(void *), void *argument, hermes_child *to_be_freed) {
    hermes_error error = HERMES_ERROR_INIT;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, body, argument) == 0);
    }
    if (to_be_freed != NULL) {
        MUST(hermes_child_stop(to_be_freed, 5000, &error), error);
        hermes_child_free(to_be_freed);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

int main(void) {
    all_of_it(NULL);
    on_threads(all_of_it, NULL, NULL);
    hermes_child *shared = start();
    on_threads(use_until_it_is_freed, shared, shared);
    puts("all refused");
    return 0;
}
