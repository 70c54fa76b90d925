"""Long-lived children that die with their owner, however it dies.

    import hermes_spawn

    server = hermes_spawn.spawn_owned(["my-language-server", "--stdio"], stdin=hermes_spawn.PIPE,
                                      stdout=hermes_spawn.PIPE)

From then on `kill -9` of this process takes the server with it, its wrappers and its forked workers too. What the
library promises and where its limits are is in the README of hermes-spawn.
"""

from ._errors import (
    GroupPermissionError,
    HermesError,
    IdentityError,
    InvalidArgumentError,
    LibraryOSError,
    NoSuchGroupError,
    NotFoundError,
    PanicError,
    PoisonedError,
    RosterFullError,
    SpawnError,
    StillAliveError,
    SupervisorError,
    TimeoutExpired,
    UnsafeGroupError,
    UnsupportedError,
)
from ._groups import own_process_groups, release_process_group_once_empty, release_process_groups
from ._library import version as _version
from ._process import OwnedProcess
from ._spawn import DEVNULL, PIPE, STDOUT, spawn_owned
from ._state import Guarantee, Status, configure, status

__version__ = _version()

__all__ = [
    "DEVNULL",
    "PIPE",
    "STDOUT",
    "GroupPermissionError",
    "Guarantee",
    "HermesError",
    "IdentityError",
    "InvalidArgumentError",
    "LibraryOSError",
    "NoSuchGroupError",
    "NotFoundError",
    "OwnedProcess",
    "PanicError",
    "PoisonedError",
    "RosterFullError",
    "SpawnError",
    "Status",
    "StillAliveError",
    "SupervisorError",
    "TimeoutExpired",
    "UnsafeGroupError",
    "UnsupportedError",
    "configure",
    "own_process_groups",
    "release_process_group_once_empty",
    "release_process_groups",
    "spawn_owned",
    "status",
]
