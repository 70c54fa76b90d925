// Starting children from C: what they get, and what a caller is told when there is none.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "children.h"

static void versions_are_the_headers(void) {
    CHECK_NUMBER(HERMES_ABI_VERSION, hermes_abi_version());
    CHECK(strcmp(hermes_version_string(), HERMES_VERSION_STRING) == 0);
}

static void settings_come_before_first_use(void) {
    hermes_config config = HERMES_CONFIG_INIT;
    config.grace_ms = 1500;
    MUST(hermes_configure(&config, &error), error);
    hermes_status_info info = HERMES_STATUS_INFO_INIT;
    MUST(hermes_status(&info, &error), error);
    CHECK_NUMBER(1500, info.grace_ms);
    CHECK_NUMBER(30000, info.idle_ms);
    CHECK_NUMBER(HERMES_ERR_INVALID_ARGUMENT, hermes_configure(&config, &error));
}

static void streams_are_connected(void) {
    hermes_spawn_options options = with_output();
    options.stdin_fd = HERMES_STDIO_PIPE;
    hermes_child *child = start("cat", options);
    int in = hermes_child_take_stdin_fd(child);
    CHECK(in > 2 && (fcntl(in, F_GETFD) & FD_CLOEXEC));
    CHECK_NUMBER(HERMES_ERR_NOT_FOUND, hermes_child_take_stdin_fd(child));
    CHECK_NUMBER(HERMES_ERR_NOT_FOUND, hermes_child_stderr_fd(child));
    CHECK_NUMBER(5, write(in, "hello", 5));
    close(in);
    expect_output(child, "hello");

    options = with_output();
    options.stdin_fd = HERMES_STDIO_NULL;
    options.stderr_fd = HERMES_STDIO_TO_STDOUT;
    expect_output(start("cat; echo out; echo err >&2", options), "out\nerr\n");

    int ends[2];
    CHECK(pipe(ends) == 0);
    options = defaults();
    options.stdout_fd = ends[1];
    child = start("echo mine", options);
    close(ends[1]);
    CHECK(strcmp(text_of(ends[0]), "mine\n") == 0);
    hermes_child_free(child);

    // As a host like Node has its own: for the child they are open all the same.
    options = with_output();
    int own = open("/dev/null", O_RDONLY);
    CHECK(own >= 0 && dup2(own, 0) == 0 && fcntl(0, F_SETFD, FD_CLOEXEC) == 0);
    expect_output(start("[ -e /proc/self/fd/0 ] && echo inherited", options), "inherited\n");
}

static void words_arrive_as_given(void) {
    const char *const argv[] = {"a name", "-c", "echo \"$0|$WORD|$(pwd)\"", NULL};
    const char *const envp[] = {"WORD=with = and space", "PATH=/bin:/usr/bin", NULL};
    hermes_spawn_options options = with_output();
    options.program = "/bin/sh";
    options.argv = argv;
    options.envp = envp;
    options.cwd = "/";
    hermes_child *child = NULL;
    MUST(hermes_spawn_owned(&options, &child, &error), error);
    expect_output(child, "a name|with = and space|/\n");
}

static void only_passed_descriptors_arrive(void) {
    int32_t passed = fcntl(2, F_DUPFD, 20), kept = fcntl(2, F_DUPFD, 20);
    hermes_spawn_options options = with_output();
    options.pass_fds = &passed;
    options.pass_fd_count = 1;
    char line[200];
    const char *question = "cd /proc/self/fd; [ -e %d ] && echo passed; [ -e %d ] || echo kept";
    snprintf(line, sizeof line, question, (int)passed, (int)kept);
    expect_output(start(line, options), "passed\nkept\n");
    close(passed);
    close(kept);
}

static void expect_failure(hermes_spawn_options options, const char *program, const char *step, int os_errno) {
    const char *const argv[] = {program, NULL};
    hermes_child *child = (hermes_child *)&options;
    options.argv = argv;
    hermes_error told = HERMES_ERROR_INIT;
    CHECK_NUMBER(HERMES_ERR_SPAWN, hermes_spawn_owned(&options, &child, &told));
    CHECK(child == (hermes_child *)&options);
    CHECK_NUMBER(HERMES_ERR_SPAWN, told.code);
    CHECK_NUMBER(os_errno, told.os_errno);
    CHECK(strcmp(told.step, step) == 0);
    CHECK(strlen(told.message) > 10);
    // No process is left, not even a zombie.
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void failures_say_step_and_errno(void) {
    expect_failure(defaults(), "/nonexistent/program", "execve", ENOENT);
    expect_failure(defaults(), "no-such-program-anywhere", "execve", ENOENT);
    expect_failure(defaults(), "/etc/passwd", "execve", EACCES);
    expect_failure(defaults(), "/", "execve", EACCES);
    hermes_spawn_options options = defaults();
    options.cwd = "/nonexistent";
    expect_failure(options, "true", "chdir", ENOENT);
    int32_t closed = 900;
    options = defaults();
    options.pass_fds = &closed;
    options.pass_fd_count = 1;
    expect_failure(options, "true", "fcntl", EBADF);
}

#ifndef UNDER_VALGRIND
// A program that somebody writes to is waited for, unless the caller has no time.
static void a_wait_can_be_limited(void) {
    char program[] = "./busy-XXXXXX";
    int writer = mkstemp(program);
    CHECK(writer >= 0 && fchmod(writer, 0700) == 0 && write(writer, "#!/bin/sh\n", 10) == 10);
    const char *const argv[] = {program, NULL};
    hermes_child *child = NULL;
    hermes_spawn_options options = defaults();
    struct timespec begun;
    long took_ms = 300;
    options.argv = argv;
    options.wait_limit_ms = 1;
    // More than once, should the machine be too busy for a millisecond to be one.
    for (int tries = 0; tries < 10 && took_ms >= 300; tries++) {
        clock_gettime(CLOCK_MONOTONIC, &begun);
        CHECK_NUMBER(HERMES_ERR_SPAWN, hermes_spawn_owned(&options, &child, &error));
        CHECK_NUMBER(ETXTBSY, error.os_errno);
        took_ms = elapsed_ms(&begun);
    }
    CHECK(took_ms < 300);
    options.wait_limit_ms = 0;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    CHECK_NUMBER(HERMES_ERR_SPAWN, hermes_spawn_owned(&options, &child, &error));
    CHECK(elapsed_ms(&begun) >= 300);
    close(writer);
    MUST(hermes_spawn_owned(&options, &child, &error), error);
    CHECK_NUMBER(HERMES_EXITED, end_of(child).kind);
    hermes_child_free(child);
    unlink(program);
}
#endif

static void guarantees_have_their_names(void) {
    const char *const names[] = {"lifeline", "group_signal", "registration", "supervisor", "escapees", "reuse_proof"};
    hermes_child *child = start("exec sleep 600", defaults());
    hermes_status_info info = HERMES_STATUS_INFO_INIT;
    MUST(hermes_status(&info, &error), error);
    CHECK(info.supervisor_pid > 1 && info.supervisor_generation >= 1);
    for (int i = 0; i < HERMES_GUARANTEES; i++) {
        CHECK(strcmp(names[i], info.guarantees[i].name) == 0);
        CHECK(info.guarantees[i].value[0] != '\0');
    }
#ifdef UNDER_VALGRIND
    CHECK(strcmp(info.guarantees[2].value, "after-spawn") == 0 && info.guarantees[2].why[0] != '\0');
#endif
    MUST(hermes_child_stop(child, 5000, &error), error);
    hermes_child_free(child);
}

static void a_child_leads_its_group(void) {
    hermes_child *child = start("exec sleep 600", defaults());
    pid_t pid = hermes_child_pid(child);
    CHECK_NUMBER(pid, hermes_child_pgid(child));
    CHECK_NUMBER(pid, getpgid(pid));
    CHECK_NUMBER(pid, getsid(pid));
    MUST(hermes_child_stop(child, 5000, &error), error);
    hermes_child_free(child);

    hermes_spawn_options options = defaults();
    options.flags = HERMES_SPAWN_KEEP_SESSION | HERMES_SPAWN_GROUP_ONLY;
    child = start("exec sleep 600", options);
    pid = hermes_child_pid(child);
    CHECK_NUMBER(pid, getpgid(pid));
    CHECK_NUMBER(getsid(0), getsid(pid));
    MUST(hermes_child_stop(child, 5000, &error), error);
    hermes_child_free(child);
}

static void *all(void *unused) {
    versions_are_the_headers();
    settings_come_before_first_use();
    failures_say_step_and_errno();
    streams_are_connected();
    words_arrive_as_given();
    only_passed_descriptors_arrive();
    a_child_leads_its_group();
#ifndef UNDER_VALGRIND
    // Which looks at a program before it executes it, and dies of an error that it did not foresee.
    a_wait_can_be_limited();
#endif
    guarantees_have_their_names();
    return unused;
}

int main(int argc, char **argv) {
    return check(argc, argv, all);
}
