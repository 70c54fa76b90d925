// `./rounds 1000`: four times so many children, started, ended and forgotten in every way, leave nothing in this process: no heap,
// no descriptor, no thread, no zombie.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int entries_of(const char *folder) {
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    int count = 0;
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static void one_round(int round) {
    hermes_error error = HERMES_ERROR_INIT;
    const char *const argv[] = {round % 4 == 3 ? "/nonexistent" : "/bin/true", "an argument", NULL};
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_child *child = NULL;
    options.argv = argv;
    options.stdin_fd = HERMES_STDIO_PIPE;
    options.stdout_fd = HERMES_STDIO_PIPE;
    options.cwd = "/";
    options.family = "round";
    if (round % 4 == 3) {
        CHECK_NUMBER(HERMES_ERR_SPAWN, hermes_spawn_owned(&options, &child, &error));
        return;
    }
    MUST(hermes_spawn_owned(&options, &child, &error), error);
    if (round % 4 == 0) {
        close(hermes_child_take_stdin_fd(child));
    }
    if (round % 4 == 1) {
        char record[16];
        int32_t fd = -1;
        MUST(hermes_child_exit_fd(child, &fd, &error), error);
        CHECK_NUMBER(16, read(fd, record, sizeof record));
        close(fd);
    }
    if (round % 4 != 2) {
        hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
        MUST(hermes_child_wait(child, 20000, &status, &error), error);
        CHECK_NUMBER(HERMES_EXITED, status.kind);
    }
    hermes_child_free(child);
}

// The library reaps what nobody waits for as soon as it ends: until then there are children.
static void until_no_child_is_left(void) {
    const struct timespec pause = {0, 1000000};
    siginfo_t info;
    for (int tries = 0; waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != -1 || errno != ECHILD; tries++) {
        CHECK(tries < 20000);
        nanosleep(&pause, NULL);
    }
}

static void rounds(int count) {
    for (int round = 0; round < count; round++) {
        one_round(round);
    }
    until_no_child_is_left();
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    // Standard output has its buffer, and the library its threads, before the first count.
    printf("batches of %d rounds; the heap in use grew by", count);
    rounds(4);
    int descriptors = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    long least = LONG_MAX;
    for (int batch = 0; batch < 4; batch++) {
        size_t before = mallinfo2().uordblks;
        rounds(count);
        long grown = (long)(mallinfo2().uordblks - before);
        printf(" %ld", grown);
        least = grown < least ? grown : least;
    }
    printf(" bytes\n");
    CHECK_NUMBER(descriptors, entries_of("/proc/self/fd"));
    CHECK_NUMBER(threads, entries_of("/proc/self/task"));
    // A table that grows does so now and then; a leak is in every batch, with eight bytes a round at least if only one
    // kind of round has it.
    CHECK(least < 4 * count);
    CHECK_NOTHING_IS_LOST();
    return 0;
}
