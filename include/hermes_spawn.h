// hermes-spawn: what you start for a task dies with you, however you die.
//
// CONVENTIONS, for every function unless it says otherwise
//
// Result     0 (HERMES_OK) or a negative HERMES_ERR_* code. Functions that return a number return it, or a
//            negative code. Codes never change their meaning.
// Errors     The last argument may be NULL, or a hermes_error whose size was set: HERMES_ERROR_INIT. It is filled
//            on failure only. A size that cannot be right is HERMES_ERR_INVALID_ARGUMENT, and nothing is done.
// Results    go to out-parameters, before the last argument, written on success only.
// Structures begin with their size, set by the caller (use the *_INIT macros). A shorter one of an older header
//            works, its missing fields are zero; a longer one works if what this library does not know is zero.
//            Of a longer result structure, what this library does not know is left as it was.
// Flags      Unknown bits are refused.
// Strings    NUL-terminated bytes. Text from the library is UTF-8.
// Arrays     argv and envp end with NULL; others come with their count.
// Memory     What is given is read during the call only, and stays the caller's. A handle is the caller's to free.
// Addresses  NULL and what is not aligned is HERMES_ERR_INVALID_ARGUMENT where something must be; any other address
//            is believed to be readable, or writable, for as much as is documented.
// Descriptors given are borrowed; they must be open during the call. Those returned are CLOEXEC and above 2.
// Handles    are looked up, never followed: a freed, made-up or forked one is HERMES_ERR_INVALID_ARGUMENT.
// Units      stand in names: *_ms is milliseconds.
// Threads    Any function may be called from any thread, and the same handle by several at once. 64 KiB of stack are
//            enough.
// Fork       A forked copy begins afresh: its first call makes a state of its own, handles from before the fork
//            are not valid in it, and nothing it does touches its parent's children.
// Panics     (defects of the library) do not cross this interface: HERMES_ERR_PANIC. A handle on which one happened
//            then answers HERMES_ERR_POISONED and can only be freed; its child is owned as before.
// Signals    No handler is installed, no SIGPIPE or SIGCHLD is raised for the library's own sake, and no call is ended
//            by a signal.
// Unloading  dlclose has no effect: the library's threads must not lose their code.


#ifndef HERMES_SPAWN_H
#define HERMES_SPAWN_H

// Generated from src/ffi by cbindgen; changes go there.

#include <stddef.h>
#include <stdint.h>

// The version of this header. See also HERMES_ABI_VERSION.
#define HERMES_VERSION_MAJOR 0
#define HERMES_VERSION_MINOR 1
#define HERMES_VERSION_PATCH 0
#define HERMES_VERSION_STRING "0.1.0"

// All is well. What else a function can return is an enum hermes_err.
#define HERMES_OK 0

// What a structure must hold before it is used: its size, and the defaults of an option structure.
#define HERMES_ERROR_INIT {sizeof(struct hermes_error), 0, 0, {0}, {0}}
#define HERMES_CONFIG_INIT {sizeof(struct hermes_config), 3000, 30000, HERMES_ROLE_TASK, 1, 0, NULL}
#define HERMES_EXIT_STATUS_INIT {sizeof(struct hermes_exit_status), 0, 0, 0}
#define HERMES_STATUS_INFO_INIT {sizeof(struct hermes_status_info), 0, 0, 0, 0, 0, 0, 0, {{{0}, {0}, {0}}}, {0}}
#define HERMES_SPAWN_OPTIONS_INIT \
    {sizeof(struct hermes_spawn_options), 0, NULL, NULL, NULL, NULL, HERMES_STDIO_INHERIT, HERMES_STDIO_INHERIT, \
     HERMES_STDIO_INHERIT, 0, NULL, NULL, 0, 0}


// Version of the ABI: raised when something that compiled and ran against an older header would no longer do so. The
// shared library's name ends with it (`libhermes_spawn.so.1`).
#define HERMES_ABI_VERSION 1

// A program that owns all that it starts. Roles are of no consequence yet: what will depend on them, background jobs that
// outlive a gateway, is not in this version.
#define HERMES_ROLE_TASK 0

// A gateway.
#define HERMES_ROLE_GATEWAY 1

// The caller's own stream; closed if the caller has it closed.
#define HERMES_STDIO_INHERIT -1

// `/dev/null`.
#define HERMES_STDIO_NULL -2

// A pipe, whose other end is `hermes_child_stdin_fd` and so on.
#define HERMES_STDIO_PIPE -3

// Standard error only: wherever standard output goes.
#define HERMES_STDIO_TO_STDOUT -4

// Only the process group is owned: what leaves it is not searched for.
#define HERMES_SPAWN_GROUP_ONLY 1

// Stay in the caller's session, in a process group of its own.
#define HERMES_SPAWN_KEEP_SESSION 2

// The terminal on the child's standard input becomes its controlling terminal (with `HERMES_SPAWN_KEEP_SESSION`: its
// group becomes the terminal's foreground group).
#define HERMES_SPAWN_CONTROLLING_TTY 4

// `hermes_exit_status.kind`: it called `exit`; `code` is 0 to 255.
#define HERMES_EXITED 0

// A signal ended it; `code` is the signal's number.
#define HERMES_SIGNALLED 1

// It has ended, and somebody else took the status; `code` is 0 and means nothing.
#define HERMES_UNKNOWN 2

// Number of entries in `hermes_status_info.guarantees`.
#define HERMES_GUARANTEES 6

// What went wrong, as a number that never changes its meaning (the C ABI's `int32_t`).
enum hermes_err
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // An argument, or a call at the wrong time; the message names it and its value.
    HERMES_ERR_INVALID_ARGUMENT = -1,
    // A system call failed; errno says how, the step which.
    HERMES_ERR_OS = -2,
    // A group that must never be signalled: ours, an ancestor's, 0, 1, negative.
    HERMES_ERR_UNSAFE_GROUP = -3,
    // No such process group.
    HERMES_ERR_NO_SUCH_GROUP = -4,
    // The group belongs to another user.
    HERMES_ERR_PERMISSION = -5,
    // The child could not be started; step, errno and path say why. No child exists.
    HERMES_ERR_SPAWN = -6,
    // No supervisor can be started on this machine; the reason is in the message. No child exists.
    HERMES_ERR_SUPERVISOR = -7,
    // All 65,536 slots are taken, or this process has started 2^27 children.
    HERMES_ERR_ROSTER_FULL = -8,
    // The time given was over.
    HERMES_ERR_TIMEOUT = -9,
    // It is no longer the process it was: a recycled number.
    HERMES_ERR_IDENTITY = -13,
    // Nothing by that name or handle.
    HERMES_ERR_NOT_FOUND = -14,
    // `stop` left something that cannot be ended; the message says what.
    HERMES_ERR_STILL_ALIVE = -15,
    // This kernel, or this mode, cannot do it.
    HERMES_ERR_UNSUPPORTED = -16,
    // A defect of the library: the call panicked. What it was about is poisoned; supervision goes on.
    HERMES_ERR_PANIC = -17,
    // A call on this handle has panicked before; it can only be freed.
    HERMES_ERR_POISONED = -18,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hermes_err hermes_err;
#else
typedef int32_t hermes_err;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A child, in C. See the head of the header for what a handle is.
typedef struct hermes_child hermes_child;

// Settings. Begin with `HERMES_CONFIG_INIT`, which holds the defaults.
typedef struct hermes_config {
    // `sizeof(hermes_config)`.
    uint32_t size;
    // Milliseconds between TERM and KILL once the owner has died: 0 to 3,600,000. Default 3000.
    uint32_t grace_ms;
    // Milliseconds that the supervisor stays without work: 0 to 86,400,000. Default 30000.
    uint32_t idle_ms;
    // `HERMES_ROLE_TASK` or `HERMES_ROLE_GATEWAY`.
    int32_t role;
    // 1: the library may start its two threads. 0: it must not; see the README for what is weaker then.
    uint32_t threads;
    // Zero.
    uint32_t reserved;
    // Absolute path of the home directory; NULL: `$HERMES_HOME`, else `~/.hermes`.
    const char *home;
} hermes_config;

// What went wrong, for the caller of a function that failed.
//
// Set `size` before the first call (`HERMES_ERROR_INIT` does). Filled only when a call fails, so it can be used again
// and again, by one thread at a time.
typedef struct hermes_error {
    // `sizeof(hermes_error)`, set by the caller.
    uint32_t size;
    // The code that the function also returns.
    int32_t code;
    // errno of the system call that failed, 0 if none did.
    int32_t os_errno;
    // What was being done (`execve`, `chdir`, `own_process_groups`...). NUL-terminated.
    char step[32];
    // A sentence that names the thing and the reason. NUL-terminated UTF-8, cut at a character if too long.
    char message[468];
} hermes_error;

// What to start, and how. Begin with `HERMES_SPAWN_OPTIONS_INIT`: a stream of 0 would mean descriptor 0.
typedef struct hermes_spawn_options {
    // `sizeof(hermes_spawn_options)`.
    uint32_t size;
    // `HERMES_SPAWN_*`, or 0.
    uint32_t flags;
    // Path, or a name to be looked up in the child's `PATH`. NULL: `argv[0]`.
    const char *program;
    // NULL-terminated, at least one element.
    const char *const *argv;
    // NULL-terminated `NAME=value` strings: the child's whole environment. NULL: the caller's. `HERMES_SPAWN` is set by
    // the library in either case.
    const char *const *envp;
    // The child's working directory. NULL: the caller's.
    const char *cwd;
    // Where the child's standard input comes from: `HERMES_STDIO_*`, or a descriptor of the caller's (borrowed).
    int32_t stdin_fd;
    // Where its standard output goes.
    int32_t stdout_fd;
    // Where its standard error goes.
    int32_t stderr_fd;
    // Number of `pass_fds`.
    uint32_t pass_fd_count;
    // Descriptors the child gets under the same numbers (borrowed); all others are closed. NULL if there are none.
    const int32_t *pass_fds;
    // What kind of thing this is, for people (`browser`, `mcp-server`...); nothing shows it yet. NULL: nothing.
    const char *family;
    // Milliseconds to wait at most for what passes by itself: a supervisor that is being started or replaced
    // (`HERMES_ERR_SUPERVISOR` with ETIMEDOUT when they are over), a program that is open for writing
    // (`HERMES_ERR_SPAWN`, ETXTBSY). For an event loop, which can try again later. 0: 10 s, 3 s and 300 ms.
    uint32_t wait_limit_ms;
    // Zero.
    uint32_t reserved;
} hermes_spawn_options;

// How a child ended. The exit descriptor delivers exactly this record.
typedef struct hermes_exit_status {
    // `sizeof(hermes_exit_status)`.
    uint32_t size;
    // `HERMES_EXITED`, `HERMES_SIGNALLED` or `HERMES_UNKNOWN`.
    int32_t kind;
    // Exit code or signal.
    int32_t code;
    // 1 if the kernel wrote a core file.
    uint32_t core_dumped;
} hermes_exit_status;

// One guarantee: how strongly it holds here.
typedef struct hermes_guarantee {
    // `lifeline`, `group_signal`, `registration`, `supervisor`, `escapees`, `reuse_proof`. NUL-terminated.
    char name[16];
    // What is in force: the weakest that holds for any group now. NUL-terminated.
    char value[24];
    // Why it is not the strongest value; empty if it is. NUL-terminated.
    char why[216];
} hermes_guarantee;

// A look at the library's state in this process.
typedef struct hermes_status_info {
    // `sizeof(hermes_status_info)`, set by the caller.
    uint32_t size;
    // 0 while there is none.
    int32_t supervisor_pid;
    // How many supervisors were started in the life of this process.
    uint32_t supervisor_generation;
    // Groups covered, and starts in progress.
    uint32_t slots_in_use;
    // Of these: groups that are known by their number only.
    uint32_t weak_groups;
    // Milliseconds.
    uint32_t grace_ms;
    // Milliseconds.
    uint32_t idle_ms;
    // Zero.
    uint32_t reserved;
    // In the order named at `hermes_guarantee.name`.
    struct hermes_guarantee guarantees[HERMES_GUARANTEES];
    // Why the last supervisor could not be started, or is being replaced; empty if all is well. NUL-terminated.
    char last_supervisor_error[512];
} hermes_status_info;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The ABI version of the library that was loaded, to be compared with `HERMES_ABI_VERSION` of the header.
//
// Memory: none.
// Threads: any; does not wait.
// Fork: the same in a forked copy.
// Errors: none.
uint32_t hermes_abi_version(void);

// The version of the library that was loaded, as `HERMES_VERSION_STRING` of the header: `"0.1.0"`.
//
// Memory: static, NUL-terminated; not to be freed.
// Threads: any; does not wait.
// Fork: the same in a forked copy.
// Errors: none.
const char *hermes_version_string(void);

// Sets grace, idle time, role, thread mode and home, before anything else of the library is used in this process.
//
// Memory: `config` is read during the call only; its strings are copied.
// Units: in the names of the fields.
// Threads: any; does not wait.
// Fork: a forked copy begins with its parent's settings and may set its own.
// Errors: `HERMES_ERR_INVALID_ARGUMENT` for a value out of range, and when the library is in use already.
int32_t hermes_configure(const struct hermes_config *config,
                         struct hermes_error *err);

// Starts a child that this process owns, and returns once its program was executed.
//
// Memory: `*out` is a new handle, to be freed with `hermes_child_free`; it is written on success only. All that
// `options` points to is read during the call only; descriptors in it stay the caller's.
// Threads: any.
// Fork: in a forked copy the child is the copy's.
// Errors, each of which leaves no child: `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_SPAWN` (step and errno say why),
// `HERMES_ERR_SUPERVISOR` (nothing could watch over it), `HERMES_ERR_ROSTER_FULL`, `HERMES_ERR_OS`.
int32_t hermes_spawn_owned(const struct hermes_spawn_options *options,
                           struct hermes_child **out,
                           struct hermes_error *err);

// The leader's process id, which is also the group's number; or a negative code.
//
// Memory: nothing is kept.
// Threads: any; does not wait.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy, as for any handle from before the fork.
// Errors: `HERMES_ERR_INVALID_ARGUMENT` (no handle), `HERMES_ERR_POISONED`.
int32_t hermes_child_pid(const struct hermes_child *child);

// The process group; or a negative code. The same number as the pid: the child began the group.
//
// Memory: nothing is kept.
// Threads: any; does not wait.
// Fork: as for `hermes_child_pid`.
// Errors: as for `hermes_child_pid`.
int32_t hermes_child_pgid(const struct hermes_child *child);

// The caller's end of the child's standard input, if that is a pipe and was not taken; or a negative code.
//
// Memory: the descriptor is borrowed: it is closed with the handle.
// Threads: any; does not wait.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy, which has the descriptor as it has all of its parent's.
// Errors: `HERMES_ERR_NOT_FOUND` (no pipe, or taken), `HERMES_ERR_INVALID_ARGUMENT` (no handle), `HERMES_ERR_POISONED`.
int32_t hermes_child_stdin_fd(const struct hermes_child *child);

// The caller's end of the child's standard output, if that is a pipe and was not taken; or a negative code.
//
// Memory, threads, fork, errors: as for `hermes_child_stdin_fd`.
int32_t hermes_child_stdout_fd(const struct hermes_child *child);

// The caller's end of the child's standard error, if that is a pipe and was not taken; or a negative code.
//
// Memory, threads, fork, errors: as for `hermes_child_stdin_fd`.
int32_t hermes_child_stderr_fd(const struct hermes_child *child);

// The caller's end of the child's standard input, once; or a negative code.
//
// Memory: the descriptor is the caller's from now on, to be closed by it. The handle has none for this stream any more.
// Threads: any; one of several gets it.
// Fork, errors: as for `hermes_child_stdin_fd`.
int32_t hermes_child_take_stdin_fd(struct hermes_child *child);

// The caller's end of the child's standard output, once; or a negative code.
//
// Memory: the descriptor is the caller's from now on, to be closed by it. The handle has none for this stream any more.
// Threads: any; one of several gets it.
// Fork, errors: as for `hermes_child_stdin_fd`.
int32_t hermes_child_take_stdout_fd(struct hermes_child *child);

// The caller's end of the child's standard error, once; or a negative code.
//
// Memory: the descriptor is the caller's from now on, to be closed by it. The handle has none for this stream any more.
// Threads: any; one of several gets it.
// Fork, errors: as for `hermes_child_stdin_fd`.
int32_t hermes_child_take_stderr_fd(struct hermes_child *child);

// A new descriptor that becomes readable when the leader has ended: one `hermes_exit_status`, then end of file. For a
// poll loop; no thread has to wait. The library reaps the leader for it, and `hermes_child_wait` still tells the status.
//
// Memory: `*fd` is the caller's to close, with the handle or long after it; it is written on success only.
// Threads: any; each call makes another descriptor.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy. A descriptor that it has inherited is the same pipe: whoever
// reads first gets the record.
// Errors: `HERMES_ERR_UNSUPPORTED` without the library's threads, `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_OS`,
// `HERMES_ERR_TIMEOUT` (the library's thread does not answer for 5 s), `HERMES_ERR_POISONED`.
int32_t hermes_child_exit_fd(struct hermes_child *child,
                             int32_t *fd,
                             struct hermes_error *err);

// Waits until the leader has ended. A group that is then empty is let go; one that is not stays covered until it is.
//
// Memory: `*status` is written on success only.
// Units: `timeout_ms` in milliseconds; -1 waits for ever, 0 only looks.
// Threads: any; several may wait at once, and all are told the same.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
// Errors: `HERMES_ERR_TIMEOUT` (it still runs), `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_OS`, `HERMES_ERR_POISONED`. A
// status that the host itself has taken by `waitpid` is no error: its kind is `HERMES_UNKNOWN`.
int32_t hermes_child_wait(struct hermes_child *child,
                          int64_t timeout_ms,
                          struct hermes_exit_status *status,
                          struct hermes_error *err);

// Sends a signal to the whole group, by way of the supervisor.
//
// Memory: nothing is kept.
// Units: `signal` is a number from 1 to 64.
// Threads: any; waits for the supervisor's answer, usually less than a millisecond.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
// Errors: `HERMES_ERR_NO_SUCH_GROUP` (ended), `HERMES_ERR_NOT_FOUND` (released), `HERMES_ERR_PERMISSION`,
// `HERMES_ERR_SUPERVISOR`, `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_POISONED`.
int32_t hermes_child_signal(struct hermes_child *child, int32_t signal, struct hermes_error *err);

// Sends a signal to the leader alone, and never to another process that has got its number.
//
// Memory: nothing is kept.
// Units: `signal` is a number from 1 to 64.
// Threads: any; does not wait.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
// Errors: `HERMES_ERR_NOT_FOUND` (it has ended), `HERMES_ERR_PERMISSION`, `HERMES_ERR_INVALID_ARGUMENT`,
// `HERMES_ERR_POISONED`.
int32_t hermes_child_signal_leader(struct hermes_child *child, int32_t signal, struct hermes_error *err);

// Ends the group: TERM (and CONT, for what is stopped), time to comply, then KILL. Returns when nothing in it runs. The
// leader's status is still there for `hermes_child_wait`.
//
// Memory: nothing is kept; the handle is still to be freed.
// Units: `grace_ms`, the time to comply, in milliseconds; 16,777,215 at most.
// Threads: any; blocks for as long as the group lives, at most the grace and a few seconds.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
// Errors: `HERMES_ERR_STILL_ALIVE` (the message says what is left), `HERMES_ERR_NOT_FOUND` (released),
// `HERMES_ERR_SUPERVISOR`, `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_POISONED`. A group that has ended is no error.
int32_t hermes_child_stop(struct hermes_child *child,
                          uint32_t grace_ms,
                          struct hermes_error *err);

// The first half of `hermes_child_stop` for an event loop: asks for the stop and returns at once. It goes on by itself;
// `hermes_child_stop_poll` tells when it is over, and must be asked until it is. One that was begun before goes on as it
// is.
//
// Memory: nothing is kept.
// Units: `grace_ms` as for `hermes_child_stop`.
// Threads: any; does not wait.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
// Errors: `HERMES_ERR_INVALID_ARGUMENT`, `HERMES_ERR_POISONED`; without the library's threads, `HERMES_ERR_SUPERVISOR`.
int32_t hermes_child_stop_begin(struct hermes_child *child,
                                uint32_t grace_ms,
                                struct hermes_error *err);

// Whether the stop that was begun is over.
//
// Memory: nothing is kept.
// Threads: any; does not wait.
// Fork: `HERMES_ERR_INVALID_ARGUMENT` in a forked copy.
// Errors: `HERMES_ERR_TIMEOUT` (not yet: ask again), else as for `hermes_child_stop`, and then it is over.
// `HERMES_ERR_INVALID_ARGUMENT` also if none was begun, or if the end of it was told before.
int32_t hermes_child_stop_poll(struct hermes_child *child, struct hermes_error *err);

// Frees a handle. The child is not stopped: it stays owned, and is reaped when it ends.
//
// Memory: the handle is no longer one, and its pipe ends are closed. NULL, and what is no handle, are ignored.
// Threads: any; a call on the handle that another thread is in ends as it would have.
// Fork: ignored in a forked copy for a handle from before the fork.
// Errors: none.
void hermes_child_free(struct hermes_child *child);

// Takes over `count` process groups: from now on they die with this process. All of them, or none; twice is once.
//
// Memory: `pgids` is read during the call only; it may be NULL if `count` is 0.
// Units: `count` is a number of elements, 1,048,576 at most.
// Threads: any.
// Fork: in a forked copy the groups become the copy's; its parent's are the parent's still.
// Errors, with nothing taken over: `HERMES_ERR_UNSAFE_GROUP` (0, 1, negative, this process's own group, the
// supervisor's, an ancestor's), `HERMES_ERR_NO_SUCH_GROUP`, `HERMES_ERR_PERMISSION` (another user's),
// `HERMES_ERR_IDENTITY` (/proc does not tell who leads it), `HERMES_ERR_SUPERVISOR`, `HERMES_ERR_ROSTER_FULL`,
// `HERMES_ERR_INVALID_ARGUMENT`.
int32_t hermes_own_process_groups(const int32_t *pgids,
                                  size_t count,
                                  struct hermes_error *err);

// As `hermes_own_process_groups`, for an event loop, which can try again later.
//
// Memory: `pgids` is read during the call only; it may be NULL if `count` is 0.
// Units: `count` as there; `wait_limit_ms`, milliseconds to wait at most for a supervisor that is being started or
// replaced. 0: 10 s and 3 s, as there.
// Threads: any.
// Fork: as there.
// Errors, with nothing taken over: as there; `HERMES_ERR_SUPERVISOR` with ETIMEDOUT when the limit is over.
int32_t hermes_own_process_groups_within(const int32_t *pgids,
                                         size_t count,
                                         uint32_t wait_limit_ms,
                                         struct hermes_error *err);

// Lets `count` groups go: they, and what carries their mark, may outlive this process. An unknown number is no error.
//
// Memory: `pgids` is read during the call only; it may be NULL if `count` is 0.
// Units: `count` is a number of elements, 1,048,576 at most.
// Threads: any.
// Fork: a forked copy has no groups of its parent's, so there is nothing for it to let go.
// Errors: `HERMES_ERR_INVALID_ARGUMENT`; else only if the library cannot be used at all in this process.
int32_t hermes_release_process_groups(const int32_t *pgids,
                                      size_t count,
                                      struct hermes_error *err);

// Lets a group go when nothing that runs is left in it, and covers it until then. An unknown number is no error.
//
// Memory: nothing is kept.
// Threads: any; does not wait.
// Fork: a forked copy has no groups of its parent's, so there is nothing for it to let go.
// Errors: only if the library cannot be used at all in this process.
int32_t hermes_release_process_group_once_empty(int32_t pgid,
                                                struct hermes_error *err);

// What is in force in this process, and why. The first use of the library, if it is the first: its threads are started.
// Before the first child or group no supervisor has run: `supervisor` is `none` then, and the rest says what this kernel
// can do.
//
// Memory: `*info` is written on success only; all text in it is part of it.
// Units: in the names of the fields.
// Threads: any; does not wait.
// Fork: in a forked copy, the copy's own state.
// Errors: `HERMES_ERR_INVALID_ARGUMENT`; else only if the library cannot be used at all in this process.
int32_t hermes_status(struct hermes_status_info *info,
                      struct hermes_error *err);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HERMES_SPAWN_H */
