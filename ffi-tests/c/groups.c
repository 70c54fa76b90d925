// Groups that somebody else has started: taken over, and let go.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "children.h"

// A group that the library did not start.
static pid_t stranger(void) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setpgid(0, 0); /* detached-spawn: ok - somebody else's group, to be taken over by the test */
        execlp("sleep", "sleep", "600", (char *)NULL);
        _exit(127);
    }
    setpgid(pid, pid); /* detached-spawn: ok - the same, for whoever is first */
    return pid;
}

static uint32_t slots_in_use(void) {
    hermes_status_info info = HERMES_STATUS_INFO_INIT;
    MUST(hermes_status(&info, &error), error);
    return info.slots_in_use;
}

// What is left of groups that were killed is init's to reap, and the supervisor's to notice.
static void until_no_slot_is_in_use(void) {
    const struct timespec pause = {0, 1000000};
    for (int tries = 0; slots_in_use() > 0; tries++) {
        CHECK(tries < 20000);
        nanosleep(&pause, NULL);
    }
}

static void groups_of_others_are_taken_over_all_or_none(void) {
    until_no_slot_is_in_use();
    pid_t one = stranger(), two = stranger();
    int32_t groups[] = {one, two}, refused[] = {one, getpgid(0)};
    CHECK_NUMBER(HERMES_ERR_UNSAFE_GROUP, hermes_own_process_groups(refused, 2, &error));
    CHECK_NUMBER(0, slots_in_use());
    MUST(hermes_own_process_groups(groups, 2, &error), error);
    MUST(hermes_own_process_groups_within(groups, 2, 20000, &error), error);
    CHECK_NUMBER(2, slots_in_use());
    MUST(hermes_release_process_groups(groups, 1, &error), error);
    CHECK_NUMBER(1, slots_in_use());
    kill(two, SIGKILL);
    CHECK_NUMBER(two, waitpid(two, NULL, 0));
    MUST(hermes_release_process_group_once_empty(two, &error), error);
    CHECK_NUMBER(0, slots_in_use());
    CHECK_NUMBER(HERMES_ERR_NO_SUCH_GROUP, hermes_own_process_groups(&two, 1, &error));
    kill(one, SIGKILL);
    CHECK_NUMBER(one, waitpid(one, NULL, 0));
}

static void *all(void *unused) {
    groups_of_others_are_taken_over_all_or_none();
    return unused;
}

int main(int argc, char **argv) {
    return check(argc, argv, all);
}
