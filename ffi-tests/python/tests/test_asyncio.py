"""Awaiting children in an event loop: without a thread for any of them."""

from __future__ import annotations

import asyncio
import os
import unittest

from hermes_spawn import PIPE, OwnedProcess, spawn_owned

from .processes import SOON


def tasks() -> int:
    return len(os.listdir("/proc/self/task"))


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def let_go(child: OwnedProcess) -> None:
    assert child.stdin is not None
    child.stdin.close()


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def test_a_hundred_children_without_a_thread_each(self) -> None:
        spawn_owned(["true"]).wait()
        threads, open_before = tasks(), descriptors()
        children, waiting = [], []
        for code in range(100):
            children.append(spawn_owned(["sh", "-c", f"cat; exit {code}"], stdin=PIPE))
            waiting.append(asyncio.ensure_future(children[-1].wait_async()))
            await asyncio.sleep(0)
        self.assertEqual(tasks(), threads)
        self.assertFalse(any(future.done() for future in waiting))
        for child in reversed(children):
            let_go(child)
        self.assertEqual(await asyncio.wait_for(asyncio.gather(*waiting), SOON), list(range(100)))
        self.assertEqual(tasks(), threads)
        self.assertEqual(descriptors(), open_before)

    async def test_several_wait_for_one_and_one_gives_up(self) -> None:
        child = spawn_owned(["cat"], stdin=PIPE)
        first, second, third = (asyncio.ensure_future(child.wait_async()) for _ in range(3))
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(first, 0.01)
        self.assertIsNone(child.poll())
        let_go(child)
        self.assertEqual(await asyncio.wait_for(asyncio.gather(second, third), SOON), [0, 0])
        self.assertEqual(await child.wait_async(), 0)

    async def test_the_loop_goes_on_meanwhile(self) -> None:
        child = spawn_owned(["cat"], stdin=PIPE)
        waiting = asyncio.ensure_future(child.wait_async())
        for _ in range(100):
            await asyncio.sleep(0)
        child.kill()
        self.assertEqual(await asyncio.wait_for(waiting, SOON), -9)
        let_go(child)

    async def test_stops_do_not_hold_the_loop(self) -> None:
        script = "trap '' TERM; echo; while :; do sleep 600; done"
        children = [spawn_owned(["sh", "-c", script], stdout=PIPE) for _ in range(10)]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
            child.stdout.close()
        threads = tasks()
        # Two wait for the end of one.
        stops = asyncio.gather(*(child.stop_async(0.3) for child in [*children, children[0]]))
        turns = 0
        while not stops.done():
            await asyncio.sleep(0.005)
            turns += 1
            self.assertEqual(tasks(), threads)
        await stops
        self.assertGreater(turns, 10)
        self.assertEqual([child.returncode for child in children], [-9] * 10)

    async def test_a_process_that_stays_single_threaded(self) -> None:
        """There the library has no exit descriptor to offer; a pidfd does the same."""
        pid = os.fork()
        if pid == 0:
            os._exit(single_threaded())
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


def single_threaded() -> int:
    import hermes_spawn

    hermes_spawn.configure(threads=False)
    child = spawn_owned(["cat"], stdin=PIPE)
    waiting = [child.wait_async(), child.wait_async()]

    async def main() -> list[object]:
        both = asyncio.gather(*waiting)
        await asyncio.sleep(0)
        let_go(child)
        return list(await both)

    alone = tasks() == 1 and hermes_spawn.status()["guarantees"]["lifeline"]["value"] == "at-fork+pidfd"
    other = spawn_owned(["sh", "-c", "exit 4"])
    return 0 if asyncio.new_event_loop().run_until_complete(main()) == [0, 0] and other.wait() == 4 and alone else 1
