"""Processes as a test sees them from outside: through a pidfd and /proc, never by a bare number."""

from __future__ import annotations

import os
import select
import signal
import time
from pathlib import Path
from typing import Callable, Optional

SOON = 20.0
"""Seconds for what takes milliseconds on a machine at rest."""


def eventually(what: str, condition: Callable[[], bool], seconds: float = SOON) -> None:
    """Waits for what has no descriptor to wait on."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.002)


def stat_fields(path: Path) -> Optional[list[str]]:
    """The fields of a `stat` file from the state on: what stands before the last `)` is a name of any kind."""
    try:
        return path.read_bytes().rpartition(b")")[2].decode().split()
    except OSError:
        return None


class Process:
    """A process that a test has met while it lived, and can tell from a later one with its number."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        fields = stat_fields(Path(f"/proc/{pid}/stat"))
        assert fields is not None, f"process {pid} is gone"
        self.started = fields[19]

    def close(self) -> None:
        os.close(self.pidfd)

    def is_gone(self) -> bool:
        """No thread of it runs. The main thread's line is not enough: it may have ended before the others."""
        fields = stat_fields(Path(f"/proc/{self.pid}/stat"))
        if fields is None or fields[19] != self.started:
            return True
        try:
            tasks = list(Path(f"/proc/{self.pid}/task").iterdir())
        except OSError:
            return True
        states = [stat_fields(task / "stat") for task in tasks]
        return all(fields is None or fields[0] in "ZX" for fields in states)

    def kill(self, number: int = signal.SIGKILL) -> None:
        try:
            signal.pidfd_send_signal(self.pidfd, number)
        except ProcessLookupError:
            pass

    def wait_gone(self, seconds: float) -> bool:
        poller = select.poll()
        poller.register(self.pidfd, select.POLLIN)
        poller.poll(max(0, seconds) * 1000)
        return self.is_gone()

    def descriptors(self, task: Optional[int] = None) -> dict[int, str]:
        folder = Path(f"/proc/{self.pid}/fd" if task is None else f"/proc/{self.pid}/task/{task}/fd")
        found = {}
        for entry in folder.iterdir():
            try:
                found[int(entry.name)] = os.readlink(entry)
            except FileNotFoundError:
                pass
        return found


def carriers(variable: str) -> list[int]:
    """Running processes with this `NAME=value` in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and variable.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def supervisors(owner: int) -> list[int]:
    """What `ps` shows of them is their own name and their owner's number."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if words[:2] == [b"spawn-supervisor", str(owner).encode()]:
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def own_children() -> set[int]:
    """Of all threads of this process, zombies too."""
    files = Path("/proc/self/task").glob("*/children")
    return {int(pid) for file in files for pid in file.read_text().split()}
