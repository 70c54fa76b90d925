"""Groups that somebody else has started."""

from __future__ import annotations

from ctypes import c_int32
from operator import index
from typing import Any, Iterable

from ._errors import UnsafeGroupError
from ._library import call


def _fits(pgid: int) -> bool:
    return -(2**31) <= pgid < 2**31


def _array(pgids: list[int]) -> Any:
    return (c_int32 * len(pgids))(*pgids)


def own_process_groups(pgids: Iterable[int]) -> None:
    """Takes over process groups that somebody else started: from now on they die with this process.

    All of them, or none; twice is once. Raises `UnsafeGroupError`, `NoSuchGroupError`, `GroupPermissionError`,
    `SupervisorError`.
    """
    numbers = list(map(index, pgids))
    for pgid in numbers:
        # ctypes would cut it down to another number.
        if not _fits(pgid):
            raise UnsafeGroupError(f"cannot own group {pgid}: no process group has such a number")
    call("hermes_own_process_groups", _array(numbers), len(numbers))


def release_process_groups(pgids: Iterable[int]) -> None:
    """Lets groups go: they may outlive this process. An unknown number is no error."""
    numbers = list(filter(_fits, map(index, pgids)))
    call("hermes_release_process_groups", _array(numbers), len(numbers))


def release_process_group_once_empty(pgid: int) -> None:
    """Lets a group go when nothing that runs is left in it, and not before. An unknown number is no error."""
    if _fits(index(pgid)):
        call("hermes_release_process_group_once_empty", pgid)
