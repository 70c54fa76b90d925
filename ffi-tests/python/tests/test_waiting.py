"""Waiting for a child holds up nobody else: no signal handler, no other thread."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Callable

import hermes_spawn
from hermes_spawn import PIPE, spawn_owned

from .processes import SOON, Process, eventually, stat_fields
from .stage import GRACE_MS, Stage, hold, say


class Waiting(Stage):
    def test_codes_and_signals(self) -> None:
        for script, code in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9), ("kill -TERM $$", -15)):
            child = spawn_owned(["sh", "-c", script])
            self.assertEqual(child.wait(SOON), code)
            self.assertEqual((child.poll(), child.returncode, child.status_unknown), (code, code, False))

    def test_a_timeout_is_popens_too(self) -> None:
        child = spawn_owned(["cat"], stdin=PIPE)
        self.assertIsNone(child.poll())
        begun = time.monotonic()
        with self.assertRaises(hermes_spawn.TimeoutExpired) as caught:
            child.wait(0.05)
        self.assertGreaterEqual(time.monotonic() - begun, 0.05)
        self.assertEqual((caught.exception.cmd, caught.exception.timeout), (["cat"], 0.05))
        child.communicate()
        self.assertEqual(child.returncode, 0)

    def test_signals_go_to_the_leader_and_stop_to_the_group(self) -> None:
        child = spawn_owned(["sh", "-c", "trap 'exit 5' TERM; sleep 600 & echo $!; wait"], stdout=PIPE)
        assert child.stdout is not None
        member = Process(int(child.stdout.readline()))
        self.addCleanup(member.close)
        child.terminate()
        self.assertEqual(child.wait(SOON), 5)
        self.assert_lives(member, "the member of the group")
        child.stop()
        self.assertTrue(member.is_gone())
        child.stdout.close()
        # To one that has ended: nothing, as Popen.
        child.kill()
        stubborn = spawn_owned(["sh", "-c", "trap '' TERM; echo; while :; do sleep 600; done"], stdout=PIPE)
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        stubborn.stop(grace=0.1)
        self.assertEqual(stubborn.returncode, -9)
        stubborn.stdout.close()

    def test_a_grace_or_a_signal_that_is_none(self) -> None:
        child = spawn_owned(["cat"], stdin=PIPE)
        for sig in (-9, 65, 2**32 + 9):
            with self.subTest(sig), self.assertRaises(ValueError):
                child.send_signal(sig)
        for grace in (-0.1, 16778, float("nan")):
            with self.subTest(grace), self.assertRaisesRegex(ValueError, "grace .* from 0 to 16777.215 s"):
                child.stop(grace)
        with self.assertRaisesRegex(TypeError, "grace"):
            child.stop("3")  # type: ignore[arg-type]
        child.communicate()

    def test_a_stop_is_not_held_up_by_who_waits(self) -> None:
        child = spawn_owned(["sleep", "600"])
        waiting = threading.Thread(target=child.wait)
        waiting.start()
        eventually("the other thread waits", lambda: child._end is not None)
        begun = time.monotonic()
        child.stop()
        self.assertLess(time.monotonic() - begun, 2.5)
        waiting.join(SOON)
        self.assertEqual(child.returncode, -15)

    def test_leaving_a_block(self) -> None:
        with spawn_owned(["cat"], stdin=PIPE, stdout=PIPE) as child:
            pass
        self.assertEqual(child.returncode, 0)
        with self.assertRaises(KeyError), spawn_owned(["sleep", "600"]) as child:
            raise KeyError
        self.assertEqual(child.returncode, -15)

    def test_a_status_that_the_host_took_is_unknown_and_not_zero(self) -> None:
        owner = self.owner(ignores_its_children)
        self.assertEqual(owner.hears(), {"returned": None, "code": None, "unknown": True})

    def test_a_dropped_child_stays_owned(self) -> None:
        owner = self.owner(drops_a_child)
        child = owner.meets()
        self.assert_lives(child, "the dropped child")
        self.assert_gone(child, owner.kill())

    def test_ctrl_c_is_not_held_up(self) -> None:
        owner = self.owner(is_interrupted_while_it_waits)
        child = owner.meets()
        for call in WAITS:
            self.assertLess(owner.hears()[call], 1, call)
        self.assert_lives(child, "the child that was waited for")
        self.assert_gone(child, owner.kill())

    def test_eight_threads_that_wait_do_not_hold_the_interpreter(self) -> None:
        owner = self.owner(waits_in_eight_threads)
        found = owner.hears()
        # Held for a moment only, each of them would add its switch interval (5 ms) to every one of the rounds.
        self.assertLess(found["beside"], 3 * found["alone"] + 0.05)
        self.assertEqual(found["codes"], [-9] * 8)
        self.assertEqual(found["descriptors"], 0)


def ignores_its_children() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    child = spawn_owned(["true"])
    say(returned=child.wait(), code=child.returncode, unknown=child.status_unknown)
    hold()


def drops_a_child() -> None:
    pid = spawn_owned(["sleep", "600"]).pid
    say(pid=pid)
    hold()


WAITS = ("wait", "wait with a timeout", "communicate", "stop")


def is_interrupted_while_it_waits() -> None:
    hermes_spawn.configure(grace_ms=GRACE_MS)
    child = spawn_owned(["sh", "-c", "trap '' TERM; echo; while :; do sleep 600; done"], stdout=PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    say(pid=child.pid)
    calls: tuple[Callable[[], object], ...] = (
        child.wait,
        lambda: child.wait(60),
        child.communicate,
        lambda: child.stop(60),
    )
    for name, wait in zip(WAITS, calls):
        sent = threading.Thread(target=interrupt_once_asleep, args=(times := [],))
        sent.start()
        try:
            wait()
        except KeyboardInterrupt:
            caught = time.monotonic()
        sent.join()
        say(**{name: caught - times[0]})
    hold()


def interrupt_once_asleep(times: list[float]) -> None:
    """The main thread sleeps in a system call, several looks in a row."""
    main = Path(f"/proc/self/task/{os.getpid()}/stat")
    calm = 0

    def asleep() -> bool:
        nonlocal calm
        fields = stat_fields(main)
        calm = calm + 1 if fields and fields[0] == "S" else 0
        return calm > 20

    eventually("the main thread waits", asleep)
    times.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)


def rounds() -> float:
    """Work in small pieces: between any two another thread may take the interpreter."""
    begun = time.monotonic()
    for _ in range(300_000):
        pass
    return time.monotonic() - begun


def waits_in_eight_threads() -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    alone = min(rounds() for _ in range(5))
    children = [spawn_owned(["sleep", "600"]) for _ in range(8)]
    codes: list[object] = []
    threads = [threading.Thread(target=lambda child=child: codes.append(child.wait())) for child in children]
    for thread in threads:
        thread.start()
    eventually("all of them wait", lambda: all(child._end for child in children))
    beside = min(rounds() for _ in range(5))
    for child in children:
        child.kill()
    for thread in threads:
        thread.join(SOON)
    more = len(os.listdir("/proc/self/fd")) - descriptors
    say(alone=alone, beside=beside, codes=codes, descriptors=more)
    hold()
