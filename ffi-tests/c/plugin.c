// A host that loads the library, uses it and unloads it: its children stay owned, and the library's threads keep their
// code. Says its child's number and waits for its own end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "check.h"

typedef int32_t spawn_function(const hermes_spawn_options *, hermes_child **, hermes_error *);
typedef int32_t pid_function(const hermes_child *);

// ISO C knows no way from an object's address to a function's; POSIX says that this is one.
static void *look_up(void *library, const char *name) {
    void *found = dlsym(library, name);
    CHECK(found != NULL);
    return found;
}

int main(void) {
    void *library = dlopen("libhermes_spawn.so.1", RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    spawn_function *spawn_owned = NULL;
    pid_function *child_pid = NULL;
    *(void **)&spawn_owned = look_up(library, "hermes_spawn_owned");
    *(void **)&child_pid = look_up(library, "hermes_child_pid");

    hermes_error error = HERMES_ERROR_INIT;
    hermes_spawn_options options = HERMES_SPAWN_OPTIONS_INIT;
    const char *const argv[] = {"sleep", "600", NULL};
    hermes_child *first = NULL, *second = NULL;
    options.argv = argv;
    MUST(spawn_owned(&options, &first, &error), error);
    CHECK(dlclose(library) == 0);
    // Still there: without -z nodelete this call is into nothing.
    MUST(spawn_owned(&options, &second, &error), error);
    printf("%d\n%d\n", (int)child_pid(first), (int)child_pid(second));
    fflush(stdout);
    for (;;) {
        pause();
    }
}
