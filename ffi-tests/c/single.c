// A host that must keep to one thread: `threads` of the configuration is 0.
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>

#include "children.h"

static int threads_of_this_process(void) {
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

static void *all(void *unused) {
    hermes_config config = HERMES_CONFIG_INIT;
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    hermes_status_info info = HERMES_STATUS_INFO_INIT;
    struct timespec begun;
    int32_t fd = -1;
    int threads = threads_of_this_process();
    config.threads = 0;
    MUST(hermes_configure(&config, &error), error);
    hermes_child *child = start("exec sleep 600", defaults()), *other = start("exec sleep 600", defaults());

    CHECK_NUMBER(HERMES_ERR_UNSUPPORTED, hermes_child_exit_fd(child, &fd, &error));
    clock_gettime(CLOCK_MONOTONIC, &begun);
    CHECK_NUMBER(HERMES_ERR_TIMEOUT, hermes_child_wait(child, 20, &status, &error));
    CHECK(elapsed_ms(&begun) >= 20);
    MUST(hermes_child_stop(child, 5000, &error), error);
    expect_end(child, HERMES_SIGNALLED, SIGTERM);
    MUST(hermes_child_stop_begin(other, 5000, &error), error);
    int32_t result;
    while ((result = hermes_child_stop_poll(other, &error)) == HERMES_ERR_TIMEOUT) {
        hermes_child_wait(other, 1, &status, NULL);
        CHECK(elapsed_ms(&begun) < 20000);
    }
    MUST(result, error);
    expect_end(other, HERMES_SIGNALLED, SIGTERM);
    hermes_child_free(child);
    hermes_child_free(other);

    MUST(hermes_status(&info, &error), error);
    CHECK(strcmp(info.guarantees[0].value, "at-fork+pidfd") == 0 && info.guarantees[0].why[0] != '\0');
    CHECK_NUMBER(threads, threads_of_this_process());
    return unused;
}

int main(int argc, char **argv) {
    return check(argc, argv, all);
}
