"""Errors: one class for each code of the library, each also what Python calls such a thing."""

from __future__ import annotations

import os
import subprocess
from typing import Callable, Optional, Union

from . import _abi

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class HermesError(Exception):
    """Whatever the library reports. `code` is the number it gives, `step` what was being done."""

    code: int = 0
    step: str = ""


class InvalidArgumentError(HermesError, ValueError):
    """An argument, or a call at the wrong time."""


class LibraryOSError(HermesError, OSError):
    """A system call of the library's failed."""


class UnsafeGroupError(HermesError, ValueError):
    """A group that must never be signalled: 0, 1, negative, this process's own, an ancestor's."""


class NoSuchGroupError(HermesError, ProcessLookupError):
    """No such process group."""


class GroupPermissionError(HermesError, PermissionError):
    """The group, or the process, belongs to another user."""


class SupervisorError(HermesError, OSError):
    """No supervisor can be started on this machine. No child was started."""


class RosterFullError(HermesError, OSError):
    """More children than the library can watch over."""


class IdentityError(HermesError, ProcessLookupError):
    """The number belongs to another process now."""


class NotFoundError(HermesError, LookupError):
    """The group was released, or the process has ended."""


class StillAliveError(HermesError, OSError):
    """`stop` left something that cannot be ended; the message says what."""


class UnsupportedError(HermesError, OSError):
    """This kernel, or this mode, cannot do it."""


class PanicError(HermesError, RuntimeError):
    """A defect of the library."""


class PoisonedError(HermesError, RuntimeError):
    """A call on this process has panicked before."""


class TimeoutExpired(HermesError, subprocess.TimeoutExpired):
    """It still runs after the time given."""

    code = _abi.ERR_TIMEOUT

    # subprocess's own takes more than its `args` tell, so it would not survive pickling.
    def __reduce__(self) -> tuple[object, ...]:
        return (TimeoutExpired, (self.cmd, self.timeout, self.output, self.stderr))


class SpawnError(HermesError, OSError):
    """The child could not be started. Also the subclass of `OSError` that `subprocess.Popen` would raise.

    `errno`, `strerror` and `filename` are as there; the text says more: which step, which path, whose interpreter.
    """

    message: str = ""

    def __str__(self) -> str:
        return self.message or super().__str__()


class SpawnFileNotFoundError(SpawnError, FileNotFoundError):
    pass


class SpawnPermissionError(SpawnError, PermissionError):
    pass


class SpawnNotADirectoryError(SpawnError, NotADirectoryError):
    pass


class SpawnIsADirectoryError(SpawnError, IsADirectoryError):
    pass


class SpawnBlockingIOError(SpawnError, BlockingIOError):
    pass


_SPAWN_ERRORS: dict[type[OSError], type[SpawnError]] = {
    FileNotFoundError: SpawnFileNotFoundError,
    PermissionError: SpawnPermissionError,
    NotADirectoryError: SpawnNotADirectoryError,
    IsADirectoryError: SpawnIsADirectoryError,
    BlockingIOError: SpawnBlockingIOError,
}

_CLASSES: dict[int, Callable[..., HermesError]] = {
    _abi.ERR_INVALID_ARGUMENT: InvalidArgumentError,
    _abi.ERR_OS: LibraryOSError,
    _abi.ERR_UNSAFE_GROUP: UnsafeGroupError,
    _abi.ERR_NO_SUCH_GROUP: NoSuchGroupError,
    _abi.ERR_PERMISSION: GroupPermissionError,
    _abi.ERR_SUPERVISOR: SupervisorError,
    _abi.ERR_ROSTER_FULL: RosterFullError,
    _abi.ERR_IDENTITY: IdentityError,
    _abi.ERR_NOT_FOUND: NotFoundError,
    _abi.ERR_STILL_ALIVE: StillAliveError,
    _abi.ERR_UNSUPPORTED: UnsupportedError,
    _abi.ERR_PANIC: PanicError,
    _abi.ERR_POISONED: PoisonedError,
}


def error_of(record: _abi.ErrorRecord) -> HermesError:
    """The exception for a record that the library has filled."""
    message = record.message.decode("utf-8", "replace")
    kind = _CLASSES.get(record.code, HermesError)
    with_errno = record.os_errno and isinstance(kind, type) and issubclass(kind, OSError)
    error = kind(record.os_errno, message) if with_errno else kind(message)
    return _labelled(error, record)


def spawn_error_of(record: _abi.ErrorRecord, program: Path, cwd: Optional[Path]) -> HermesError:
    """As `error_of`; a child that could not be started is reported as `subprocess.Popen` would."""
    if record.code not in (_abi.ERR_SPAWN, _abi.ERR_OS):
        return error_of(record)
    number = record.os_errno
    # OSError itself knows which of its subclasses an errno is.
    kind = _SPAWN_ERRORS.get(type(OSError(number, "")), SpawnError)
    filename = {b"execve": program, b"chdir": cwd}.get(record.step)
    error = kind(number, os.strerror(number), filename)
    error.message = record.message.decode("utf-8", "replace")
    return _labelled(error, record)


def _labelled(error: HermesError, record: _abi.ErrorRecord) -> HermesError:
    error.code, error.step = record.code, record.step.decode()
    return error
