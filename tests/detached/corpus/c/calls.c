/* setsid(); in a comment, and daemon(0, 0) */
#define _GNU_SOURCE
#include <spawn.h>
#include <unistd.h>

#define LEAVE (POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF)
#define RUNNER "setsid"
#define START_COMMAND "nohup server &"

// setsid() again
pid_t setsid(void);
int daemon(int nochdir, int noclose);

static const char *text = "setsid(); nohup server &";

void calls(void) {
    setsid(); /* finds: new-session */
    if (setpgid(0, 0) < 0) /* finds: process-group */
        return;
    setpgrp(); /* finds: process-group */
    (void)daemon(0, 1); /* finds: daemon */
    syscall(SYS_setsid); /* finds: new-session */
    forkpty(&fd, NULL, NULL, NULL); /* finds: terminal-fork */
    object->setsid();
    object.daemon(0, 0);
    puts(text);
    puts("daemon(0, 0)");
}

void attributes(posix_spawnattr_t *attributes, short given) {
    short flags = POSIX_SPAWN_SETPGROUP;
    short harmless = POSIX_SPAWN_SETSIGMASK;
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID); /* finds: spawn-attributes */
    posix_spawnattr_setflags(attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP); // finds-above: spawn-attributes
    posix_spawnattr_setflags(attributes, LEAVE); /* finds: spawn-attributes */
    posix_spawnattr_setflags(attributes, flags); /* finds: spawn-attributes */
    posix_spawnattr_setflags(attributes, given); /* finds: spawn-attributes? */
    posix_spawnattr_setflags(attributes, harmless);
    posix_spawnattr_setflags(attributes, 0);
    posix_spawnattr_setflags(attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

void clones(void *stack, int given) {
    struct clone_args arguments = {.flags = CLONE_PARENT, .exit_signal = SIGCHLD};
    clone(run, stack, CLONE_PARENT | SIGCHLD, 0); /* finds: clone-flags */
    clone(run, stack, CLONE_NEWPID | SIGCHLD, 0); /* finds: clone-flags */
    clone(run, stack, given, 0); /* finds: clone-flags? */
    syscall(SYS_clone3, &arguments, sizeof arguments); /* finds: clone-flags */
    clone(run, stack, CLONE_VM | CLONE_VFORK | SIGCHLD, 0);
    clone(run, stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0);
    clone(repository);
}

void commands(const char *given) {
    char *const list[] = {"setsid", "server", NULL};
    system("server &"); /* finds: background-job */
    system(START_COMMAND); /* finds: detaching-command */
    system(given); /* finds: unknown-command? */
    popen("nohup "
          "server", "r"); // finds-above: detaching-command
    execl("/bin/sh", "sh", "-c", "setsid server", (char *)NULL); /* finds: detaching-command */
    execlp(RUNNER, RUNNER, "server", NULL); /* finds: detaching-command */
    execvp("setsid", list); /* finds: detaching-command */
    posix_spawnp(&pid, "nohup", NULL, NULL, list, environ); /* finds: detaching-command */
    system("server && echo 'a & b'");
    system(NULL);
    execlp("echo", "echo", "setsid", NULL);
}

void windows(void) {
    CreateProcessA(NULL, line, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &si, &pi); /* finds: creation-flags */
    CreateProcessA(NULL, line, NULL, NULL, FALSE, CREATE_NO_WINDOW, NULL, NULL, &si, &pi);
}

#if 0
void never(void) { setsid(); }
#endif

#if 1
void always(void) { setsid(); } /* finds: new-session */
#else
void otherwise(void) { setsid(); }
#endif

#ifdef SOMETIMES
void sometimes(void) { setsid(); } /* finds: new-session */
#else
void at_other_times(void) { setpgrp(); } /* finds: process-group */
#endif
