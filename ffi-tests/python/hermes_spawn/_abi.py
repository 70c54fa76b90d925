"""The C ABI as ctypes sees it: records, constants, signatures. The header says what they mean.

The tests compile the header and compare sizes, offsets and constants with what stands here.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

ABI_VERSION = 1

STDIO_INHERIT = -1
STDIO_NULL = -2
STDIO_PIPE = -3
STDIO_TO_STDOUT = -4

SPAWN_GROUP_ONLY = 1
SPAWN_KEEP_SESSION = 2
SPAWN_CONTROLLING_TTY = 4

ROLE_TASK = 0
ROLE_GATEWAY = 1

EXITED = 0
SIGNALLED = 1
UNKNOWN = 2

ERR_INVALID_ARGUMENT = -1
ERR_OS = -2
ERR_UNSAFE_GROUP = -3
ERR_NO_SUCH_GROUP = -4
ERR_PERMISSION = -5
ERR_SPAWN = -6
ERR_SUPERVISOR = -7
ERR_ROSTER_FULL = -8
ERR_TIMEOUT = -9
ERR_IDENTITY = -13
ERR_NOT_FOUND = -14
ERR_STILL_ALIVE = -15
ERR_UNSUPPORTED = -16
ERR_PANIC = -17
ERR_POISONED = -18

GUARANTEES = 6

Strings = POINTER(c_char_p)


class ErrorRecord(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("code", c_int32),
        ("os_errno", c_int32),
        ("step", c_char * 32),
        ("message", c_char * 468),
    ]


class ExitStatus(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("kind", c_int32), ("code", c_int32), ("core_dumped", c_uint32)]


class Config(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("grace_ms", c_uint32),
        ("idle_ms", c_uint32),
        ("role", c_int32),
        ("threads", c_uint32),
        ("reserved", c_uint32),
        ("home", c_char_p),
    ]


class SpawnOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("program", c_char_p),
        ("argv", Strings),
        ("envp", Strings),
        ("cwd", c_char_p),
        ("stdin_fd", c_int32),
        ("stdout_fd", c_int32),
        ("stderr_fd", c_int32),
        ("pass_fd_count", c_uint32),
        ("pass_fds", POINTER(c_int32)),
        ("family", c_char_p),
        ("wait_limit_ms", c_uint32),
        ("reserved", c_uint32),
    ]


class GuaranteeRecord(ctypes.Structure):
    _fields_ = [("name", c_char * 16), ("value", c_char * 24), ("why", c_char * 216)]


class StatusInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("supervisor_pid", c_int32),
        ("supervisor_generation", c_uint32),
        ("slots_in_use", c_uint32),
        ("weak_groups", c_uint32),
        ("grace_ms", c_uint32),
        ("idle_ms", c_uint32),
        ("reserved", c_uint32),
        ("guarantees", GuaranteeRecord * GUARANTEES),
        ("last_supervisor_error", c_char * 512),
    ]


# Each begins with its own size.
ERROR_BYTES = ctypes.sizeof(ErrorRecord)
EXIT_STATUS_BYTES = ctypes.sizeof(ExitStatus)
CONFIG_BYTES = ctypes.sizeof(Config)
SPAWN_OPTIONS_BYTES = ctypes.sizeof(SpawnOptions)
STATUS_INFO_BYTES = ctypes.sizeof(StatusInfo)

# A handle is a number that the library looks up.
_child = c_void_p
_error = POINTER(ErrorRecord)

SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "hermes_abi_version": (c_uint32, []),
    "hermes_version_string": (c_char_p, []),
    "hermes_configure": (c_int32, [POINTER(Config), _error]),
    "hermes_status": (c_int32, [POINTER(StatusInfo), _error]),
    "hermes_spawn_owned": (c_int32, [POINTER(SpawnOptions), POINTER(_child), _error]),
    "hermes_own_process_groups": (c_int32, [POINTER(c_int32), c_size_t, _error]),
    "hermes_release_process_groups": (c_int32, [POINTER(c_int32), c_size_t, _error]),
    "hermes_release_process_group_once_empty": (c_int32, [c_int32, _error]),
    "hermes_child_pid": (c_int32, [_child]),
    "hermes_child_pgid": (c_int32, [_child]),
    "hermes_child_take_stdin_fd": (c_int32, [_child]),
    "hermes_child_take_stdout_fd": (c_int32, [_child]),
    "hermes_child_take_stderr_fd": (c_int32, [_child]),
    "hermes_child_exit_fd": (c_int32, [_child, POINTER(c_int32), _error]),
    "hermes_child_wait": (c_int32, [_child, c_int64, POINTER(ExitStatus), _error]),
    "hermes_child_signal_leader": (c_int32, [_child, c_int32, _error]),
    "hermes_child_stop_begin": (c_int32, [_child, c_uint32, _error]),
    "hermes_child_stop_poll": (c_int32, [_child, _error]),
    "hermes_child_free": (None, [_child]),
}
