// A driver that keeps a server of its own: asks it something over its standard streams, watches it in a poll loop, and
// stops it. Kill this program at any point, with -9 too: the server ends.
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hermes_spawn.h>

static int failed(const char *what, const hermes_error *error) {
    fprintf(stderr, "%s failed in step %s: %s\n", what, error->step, error->message);
    return 1;
}

int main(void) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_child *server = NULL;

    const char *const argv[] = {"sh", "-c", "while read -r word; do echo \"you said $word\"; done", NULL};
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    options.argv = argv;
    options.stdin_fd = HERMES_STDIO_PIPE;
    options.stdout_fd = HERMES_STDIO_PIPE;
    options.family = "example";
    if (hermes_spawn_owned(&options, &server, &error) != HERMES_OK) {
        return failed("the start of the server", &error);
    }
    printf("the server is process %d\n", (int)hermes_child_pid(server));

    // The pipe ends are the handle's: nothing to close here.
    int requests = hermes_child_stdin_fd(server);
    int answers = hermes_child_stdout_fd(server);
    int32_t end = -1;
    if (hermes_child_exit_fd(server, &end, &error) != HERMES_OK) {
        return failed("exit_fd", &error);
    }
    if (write(requests, "hello\n", 6) != 6) {
        perror("write");
        return 1;
    }

    struct pollfd watched[] = {{answers, POLLIN, 0}, {end, POLLIN, 0}};
    for (int running = 1; running;) {
        if (poll(watched, 2, -1) < 0) {
            perror("poll");
            return 1;
        }
        if (watched[0].revents & POLLIN) {
            char answer[256];
            ssize_t length = read(answers, answer, sizeof answer - 1);
            answer[length > 0 ? length : 0] = '\0';
            printf("it answers: %s", answer);
            // Asked politely; what has not ended after two seconds is killed. Its whole group is meant.
            if (hermes_child_stop(server, 2000, &error) != HERMES_OK) {
                return failed("stop", &error);
            }
            watched[0].fd = -1;
        }
        if (watched[1].revents & POLLIN) {
            hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
            if (read(end, &status, sizeof status) == (ssize_t)sizeof status) {
                printf("it ended by %s %d\n", status.kind == HERMES_SIGNALLED ? "signal" : "exit", (int)status.code);
            }
            running = 0;
        }
    }
    close(end);
    hermes_child_free(server);
    return 0;
}
