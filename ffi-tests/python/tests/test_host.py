"""What the library does to its host: nothing that it could notice."""

from __future__ import annotations

import gc
import os
import signal
import statistics
import time
from pathlib import Path

import hermes_spawn
from hermes_spawn import PIPE, spawn_owned

from .processes import eventually, own_children
from .stage import Owner, Stage, hear, hold, say


class Host(Stage):
    def test_dispositions_and_masks(self) -> None:
        """The child keeps what was ignored, but for PIPE and CHLD; nothing is blocked. The host's stay as they were."""
        owner = self.owner(ignores_and_blocks)
        found = owner.hears()
        ignored = {signal.SIGHUP, signal.SIGTERM, signal.SIGINT}
        child = found["child"]
        self.assertEqual({number for number in ignored if int(child["SigIgn"], 16) & bit(number)}, ignored)
        for number in (signal.SIGPIPE, signal.SIGCHLD):
            self.assertFalse(int(child["SigIgn"], 16) & bit(number), number)
        self.assertEqual((int(child["SigBlk"], 16), int(child["SigCgt"], 16) & ORDINARY), (0, 0))
        self.assertEqual(found["after"], found["before"])

    def test_a_large_host_spawns_as_fast(self) -> None:
        owners = self.owner(spawns_with, 0), self.owner(spawns_with, 2 << 30)

        def median(owner: Owner) -> float:
            owner.told("forty more")
            return float(owner.hears()["median"])

        def as_fast() -> bool:
            small, large = map(median, owners)
            return large <= 1.5 * small

        # Again when a busy machine came between: a cost that grows with memory is a hundredfold.
        eventually("the median within one and a half of a small host's", as_fast)

    def test_a_thousand_rounds_leave_nothing(self) -> None:
        owner = self.owner(spawns_a_thousand_times)
        found = owner.hears()
        self.assertEqual(found["wrong"], [])
        self.assertEqual(found["descriptors"], [0, 0, 0])
        self.assertEqual((found["children"], found["slots"], found["tasks"]), (0, 0, 0))
        # Less than one page for ten rounds: a leak of any object would be more.
        self.assertLess(found["kib"], 400)

    def test_settings_and_status(self) -> None:
        owner = self.owner(configures)
        self.assertEqual(owner.hears(), {"grace_ms": 1234, "idle_ms": 5678, "late": True, "refused": 4})


ORDINARY = (1 << 31) - 1


def bit(number: int) -> int:
    return 1 << (number - 1)


def signals(text: str) -> dict[str, str]:
    pairs = (line.split(":\t") for line in text.splitlines())
    return {pair[0]: pair[1] for pair in pairs if pair[0] in ("SigBlk", "SigIgn", "SigCgt")}


def ignores_and_blocks() -> None:
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})
    status = Path("/proc/self/status")
    # The C library catches a signal of its own once there are threads.
    hermes_spawn.status()
    before = signals(status.read_text())
    child = spawn_owned(["cat", "/proc/self/status"], stdout=PIPE, text=True)
    assert child.stdout is not None
    said = child.stdout.read()
    child.wait()
    say(child=signals(said), before=before, after=signals(status.read_text()))
    hold()


def spawns_with(size: int) -> None:
    ballast = bytearray(size)
    for at in range(0, size, 4096):
        ballast[at] = 1
    spawn_owned(["true"]).wait()
    while hear() is not None:
        times = []
        for _ in range(40):
            begun = time.perf_counter()
            child = spawn_owned(["true"])
            times.append(time.perf_counter() - begun)
            child.wait()
        say(median=statistics.median(times))


def descriptors() -> list[int]:
    """Of the host, and of the library's two threads with tables of their own."""
    return sorted(len(os.listdir(f"/proc/self/task/{task}/fd")) for task in os.listdir("/proc/self/task"))


def resident_kib() -> int:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["RssAnon"].split()[0])


def one_round(number: int) -> bool:
    code = number % 256
    child = spawn_owned(["sh", "-c", f"exit {code}"], stdin=PIPE, stdout=PIPE, stderr=PIPE)
    child.communicate()
    return child.wait() == code


def settled() -> tuple[list[int], int, int]:
    gc.collect()
    eventually("all slots are free", lambda: hermes_spawn.status()["slots_in_use"] == 0)
    return descriptors(), len(os.listdir("/proc/self/task")), resident_kib()


def spawns_a_thousand_times() -> None:
    # What is allocated once is allocated by then.
    for number in range(200):
        one_round(number)
    before, tasks, kib = settled()
    wrong = [number for number in range(1000) if not one_round(number)]
    after, tasks_after, kib_after = settled()
    say(
        wrong=wrong,
        descriptors=[b - a for a, b in zip(before, after)],
        children=len(own_children()),
        slots=hermes_spawn.status()["slots_in_use"],
        tasks=tasks_after - tasks,
        kib=kib_after - kib,
    )
    hold()


def configures() -> None:
    refused = 0
    for wrong in ({"grace_ms": -1}, {"idle_ms": 2**40}, {"role": "king"}, {"home": "not/absolute"}):
        try:
            hermes_spawn.configure(**wrong)  # type: ignore[arg-type]
        except ValueError:
            refused += 1
    hermes_spawn.configure(grace_ms=1234, idle_ms=5678, role="gateway", home=os.environ["HERMES_HOME"])
    status = hermes_spawn.status()
    try:
        hermes_spawn.configure()
        late = False
    except hermes_spawn.InvalidArgumentError:
        late = True
    say(grace_ms=status["grace_ms"], idle_ms=status["idle_ms"], late=late, refused=refused)
    hold()
