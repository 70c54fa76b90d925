// Valid C99 and valid C++17: the header alone, and every initialiser.
#include <hermes_spawn.h>

int use_all_initialisers(void);
int use_all_initialisers(void) {
    hermes_error error = HERMES_ERROR_INIT;
    hermes_config config = HERMES_CONFIG_INIT;
    hermes_exit_status exit_status = HERMES_EXIT_STATUS_INIT;
    hermes_status_info status = HERMES_STATUS_INFO_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    hermes_child *child = NULL;
    int32_t result = hermes_configure(&config, &error);
    result |= hermes_status(&status, &error);
    result |= hermes_spawn_owned(&options, &child, &error);
    result |= hermes_child_wait(child, -1, &exit_status, &error);
    return result == HERMES_OK || result == HERMES_ERR_INVALID_ARGUMENT;
}
