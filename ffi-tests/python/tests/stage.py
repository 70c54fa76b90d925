"""What stands between a test and the owner processes that it starts, talks to and kills.

An owner's part is a function of the test's own module. It runs in a process of its own, tells what happened with `say`,
and waits for its cue with `hear` or `hold`.
"""

from __future__ import annotations

import importlib
import json
import os
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, NoReturn

from .processes import SOON, Process, carriers, eventually, supervisors

PACKAGE = Path(__file__).resolve().parents[1]
MARK = "HERMES_TEST"
# Not `-m`: multiprocessing would run the main module again in its own processes.
ENTER = ("-c", "from tests.stage import enter; enter()")


# The owner's side.

GRACE_MS = 400
"""Between TERM and KILL, where a test has children that ignore TERM: long enough to be seen, and short."""


def say(**words: Any) -> None:
    os.write(1, (json.dumps(words) + "\n").encode())


def hear() -> Any:
    """One line from the test."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def hold() -> NoReturn:
    """Lives until it is killed; or until the test has gone, so that nothing is left behind."""
    while hear() is not None:
        pass
    os._exit(0)


def enter() -> None:
    module, part, words = sys.argv[1:]
    getattr(importlib.import_module(module), part)(*json.loads(words))


# The test's side.


class Owner:
    """A process that plays one part. In a group of its own, so that it can be killed alone."""

    def __init__(self, part: Callable[..., Any], words: tuple[Any, ...], env: dict[str, str], **popen: Any) -> None:
        command = [sys.executable, *ENTER, part.__module__, part.__name__, json.dumps(words)]
        self.popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            cwd=PACKAGE,
            env=env,
            **popen,
        )
        self.process = Process(self.popen.pid)
        self.met: list[Process] = []
        self._read = b""

    def hears(self) -> Any:
        """The next thing that the owner says."""
        assert self.popen.stdout is not None
        fd = self.popen.stdout.fileno()
        deadline = time.monotonic() + 3 * SOON
        while b"\n" not in self._read:
            left = deadline - time.monotonic()
            assert left > 0 and select.select([fd], [], [], left)[0], "the owner says nothing"
            more = os.read(fd, 65536)
            assert more, f"the owner has ended with {self.popen.wait(SOON)}"
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return json.loads(line)

    def meets(self, key: str = "pid") -> Process:
        """The process whose number the owner says."""
        return self.meet(self.hears()[key])

    def meet(self, pid: int) -> Process:
        process = Process(pid)
        self.met.append(process)
        return process

    def told(self, words: Any = True) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write((json.dumps(words) + "\n").encode())
        self.popen.stdin.flush()

    def kill(self) -> float:
        """`kill -9`, to it alone. Returns the moment."""
        moment = time.monotonic()
        self.popen.kill()
        self.popen.wait(SOON)
        return moment

    def close(self) -> None:
        self.popen.kill()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self.process.close()


class Stage(unittest.TestCase):
    """A test with owners. Beside them lives another owner, whose child must not be touched by whatever happens."""

    SOON_GONE = 3.0
    """Seconds from an owner's end to that of all it has started."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hs-"))
        self.mark = secrets.token_hex(8)
        self.owners: list[Owner] = []
        self.addCleanup(self._clear)
        self.control = self.owner(keeps_a_child)
        self.control_child = self.control.meets()

    def tearDown(self) -> None:
        """Judged before anything is cleared away."""
        self.assertFalse(self.control.process.is_gone(), "the control owner is gone")
        self.assertFalse(self.control_child.is_gone(), "the control owner's child is gone")

    def environment(self) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if name != "HERMES_SPAWN"}
        return {**env, "HERMES_HOME": str(self.folder / "home"), MARK: self.mark}

    def owner(self, part: Callable[..., Any], *words: Any, **popen: Any) -> Owner:
        owner = Owner(part, words, self.environment(), **popen)
        self.owners.append(owner)
        return owner

    def skip(self, reason: str) -> None:
        """Loud; and a machine that is to show everything must not look as if it had."""
        sys.stderr.write(f"SKIPPED {self.id()}: {reason}\n")
        if os.environ.get("CI"):
            self.fail(f"skipped under CI: {reason}")
        self.skipTest(reason)

    def assert_gone(self, process: Process, since: float, who: str = "the child") -> None:
        self.assertTrue(process.wait_gone(since + self.SOON_GONE - time.monotonic()), f"{who} ({process.pid}) lives")

    def assert_lives(self, process: Process, who: str) -> None:
        self.assertFalse(process.is_gone(), f"{who} ({process.pid}) is gone")

    def _clear(self) -> None:
        """Nothing of the test's stays, also when it has failed half way."""
        for owner in self.owners:
            owner.close()
        for process in [process for owner in self.owners for process in owner.met]:
            process.kill()
            process.close()

        def all_gone() -> bool:
            for pid in carriers(f"{MARK}={self.mark}"):
                try:
                    Process(pid).kill()
                except (OSError, AssertionError):
                    pass
            return not carriers(f"{MARK}={self.mark}")

        eventually("nothing carries the test's mark", all_gone)
        for owner in self.owners:
            eventually("its supervisor has left", lambda pid=owner.process.pid: not supervisors(pid))

        def removed() -> bool:
            shutil.rmtree(self.folder, ignore_errors=True)
            return not self.folder.exists()

        # A supervisor of an owner's own children may still write its last line.
        eventually("the folder is removed", removed)


def keeps_a_child() -> None:
    import hermes_spawn

    child = hermes_spawn.spawn_owned(["sleep", "600"])
    say(pid=child.pid)
    hold()
