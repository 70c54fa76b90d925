"""Settings of the library in this process, and what is in force."""

from __future__ import annotations

import os
from typing import Optional, TypedDict, Union

from . import _abi
from ._library import call

_ROLES = {"task": _abi.ROLE_TASK, "gateway": _abi.ROLE_GATEWAY}


class Guarantee(TypedDict):
    """How strongly one guarantee holds here. `why` is `None` if it could not be stronger."""

    value: str
    why: Optional[str]


class Status(TypedDict):
    supervisor_pid: int
    supervisor_generation: int
    slots_in_use: int
    weak_groups: int
    grace_ms: int
    idle_ms: int
    guarantees: dict[str, Guarantee]
    last_supervisor_error: Optional[str]


def configure(
    *,
    grace_ms: int = 3000,
    idle_ms: int = 30000,
    home: Union[str, "os.PathLike[str]", None] = None,
    role: str = "task",
    threads: bool = True,
) -> None:
    """Settings, before anything else of the library is used in this process.

    `grace_ms`: between TERM and KILL once this process has died. `idle_ms`: how long the supervisor stays without work.
    `home`: an absolute path; `None` means `$HERMES_HOME`, else `~/.hermes`. `role`: `"task"` or `"gateway"`; of no
    consequence yet, since background jobs, which may outlive a gateway, are not in this version. `threads=False` keeps
    this process single-threaded, with a weaker lifeline; see `status()`.
    """
    if role not in _ROLES:
        raise ValueError(f"role is {role!r}, and must be one of {', '.join(map(repr, _ROLES))}")
    for name, value in (("grace_ms", grace_ms), ("idle_ms", idle_ms)):
        if not 0 <= value < 2**32:
            raise ValueError(f"{name} is {value}")
    config = _abi.Config(_abi.CONFIG_BYTES, grace_ms, idle_ms, _ROLES[role], bool(threads))
    if home is not None:
        config.home = encoded(home, "home")
    call("hermes_configure", config)


def status() -> Status:
    """What is in force in this process, and why."""
    info = _abi.StatusInfo(_abi.STATUS_INFO_BYTES)
    call("hermes_status", info)
    guarantees = {
        one.name.decode(): Guarantee(value=one.value.decode(), why=one.why.decode() or None) for one in info.guarantees
    }
    return Status(
        supervisor_pid=info.supervisor_pid,
        supervisor_generation=info.supervisor_generation,
        slots_in_use=info.slots_in_use,
        weak_groups=info.weak_groups,
        grace_ms=info.grace_ms,
        idle_ms=info.idle_ms,
        guarantees=guarantees,
        last_supervisor_error=info.last_supervisor_error.decode() or None,
    )


def encoded(text: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"], what: str) -> bytes:
    """As the kernel takes it. C would end the string at a NUL, and mean something else."""
    try:
        result = os.fsencode(text)
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None
    if b"\0" in result:
        raise ValueError("embedded null byte")
    return result
