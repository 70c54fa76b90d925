// About the least that a driver does; without the library, the same program without it.
#include <stdio.h>

#ifdef WITHOUT_LIBRARY
int main(void) {
    puts("0");
    return 0;
}
#else
#include <hermes_spawn.h>

int main(void) {
    const char *const argv[] = {"true", NULL};
    hermes_error error = HERMES_ERROR_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_exit_status status = HERMES_EXIT_STATUS_INIT;
    hermes_child *child = NULL;
    int32_t group = 0;
    options.argv = argv;
    if (hermes_spawn_owned(&options, &child, &error) != HERMES_OK ||
        hermes_child_wait(child, -1, &status, &error) != HERMES_OK ||
        hermes_child_stop(child, 100, &error) != HERMES_OK ||
        hermes_release_process_groups(&group, 1, &error) != HERMES_OK) {
        fprintf(stderr, "%s: %s\n", error.step, error.message);
        return 1;
    }
    hermes_child_free(child);
    printf("%d\n", (int)status.code);
    return 0;
}
#endif
