'use strict';

// The C ABI as koffi sees it: records, constants, signatures. The header says what they mean. The tests compile the
// header and compare sizes, offsets and constants with what stands here.

const koffi = require('koffi');

const ABI_VERSION = 1;
const GUARANTEES = 6;

const STDIO = { INHERIT: -1, NULL: -2, PIPE: -3, TO_STDOUT: -4 };
const SPAWN = { GROUP_ONLY: 1, KEEP_SESSION: 2, CONTROLLING_TTY: 4 };
const ROLE = { TASK: 0, GATEWAY: 1 };
const KIND = { EXITED: 0, SIGNALLED: 1, UNKNOWN: 2 };
const ERR = {
  INVALID_ARGUMENT: -1,
  OS: -2,
  UNSAFE_GROUP: -3,
  NO_SUCH_GROUP: -4,
  PERMISSION: -5,
  SPAWN: -6,
  SUPERVISOR: -7,
  ROSTER_FULL: -8,
  TIMEOUT: -9,
  IDENTITY: -13,
  NOT_FOUND: -14,
  STILL_ALIVE: -15,
  UNSUPPORTED: -16,
  PANIC: -17,
  POISONED: -18,
};

const text = (bytes) => koffi.array('char', bytes, 'String');

const records = {
  hermes_error: koffi.struct({
    size: 'uint32_t',
    code: 'int32_t',
    os_errno: 'int32_t',
    step: text(32),
    message: text(468),
  }),
  hermes_exit_status: koffi.struct({ size: 'uint32_t', kind: 'int32_t', code: 'int32_t', core_dumped: 'uint32_t' }),
  hermes_config: koffi.struct({
    size: 'uint32_t',
    grace_ms: 'uint32_t',
    idle_ms: 'uint32_t',
    role: 'int32_t',
    threads: 'uint32_t',
    reserved: 'uint32_t',
    home: 'const char *',
  }),
  hermes_spawn_options: koffi.struct({
    size: 'uint32_t',
    flags: 'uint32_t',
    program: 'const char *',
    argv: 'const char **',
    envp: 'const char **',
    cwd: 'const char *',
    stdin_fd: 'int32_t',
    stdout_fd: 'int32_t',
    stderr_fd: 'int32_t',
    pass_fd_count: 'uint32_t',
    pass_fds: 'const int32_t *',
    family: 'const char *',
    wait_limit_ms: 'uint32_t',
    reserved: 'uint32_t',
  }),
  hermes_guarantee: koffi.struct({ name: text(16), value: text(24), why: text(216) }),
};
records.hermes_status_info = koffi.struct({
  size: 'uint32_t',
  supervisor_pid: 'int32_t',
  supervisor_generation: 'uint32_t',
  slots_in_use: 'uint32_t',
  weak_groups: 'uint32_t',
  grace_ms: 'uint32_t',
  idle_ms: 'uint32_t',
  reserved: 'uint32_t',
  guarantees: koffi.array(records.hermes_guarantee, GUARANTEES),
  last_supervisor_error: text(512),
});

/** A record as an object whose size is set. */
const record = (name, fields) => ({ size: koffi.sizeof(records[name]), ...fields });

// A handle is a number that the library looks up; an error record is memory of ours that it may fill.
const handle = 'void *';
const error = 'void *';
const given = (name) => koffi.pointer(records[name]);

const signatures = {
  hermes_abi_version: ['uint32_t', []],
  hermes_version_string: ['const char *', []],
  hermes_configure: ['int32_t', [given('hermes_config'), error]],
  hermes_status: ['int32_t', [koffi.inout(given('hermes_status_info')), error]],
  hermes_spawn_owned: ['int32_t', [given('hermes_spawn_options'), koffi.out(koffi.pointer(handle)), error]],
  hermes_own_process_groups_within: ['int32_t', ['const int32_t *', 'size_t', 'uint32_t', error]],
  hermes_release_process_groups: ['int32_t', ['const int32_t *', 'size_t', error]],
  hermes_release_process_group_once_empty: ['int32_t', ['int32_t', error]],
  hermes_child_pid: ['int32_t', [handle]],
  hermes_child_pgid: ['int32_t', [handle]],
  hermes_child_take_stdin_fd: ['int32_t', [handle]],
  hermes_child_take_stdout_fd: ['int32_t', [handle]],
  hermes_child_take_stderr_fd: ['int32_t', [handle]],
  hermes_child_exit_fd: ['int32_t', [handle, koffi.out('int32_t *'), error]],
  hermes_child_wait: ['int32_t', [handle, 'int64_t', koffi.inout(given('hermes_exit_status')), error]],
  hermes_child_signal_leader: ['int32_t', [handle, 'int32_t', error]],
  hermes_child_stop_begin: ['int32_t', [handle, 'uint32_t', error]],
  hermes_child_stop_poll: ['int32_t', [handle, error]],
  hermes_child_free: ['void', [handle]],
};

module.exports = { ABI_VERSION, ERR, GUARANTEES, KIND, ROLE, SPAWN, STDIO, record, records, signatures };
