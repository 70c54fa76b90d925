"""A host that forks, replaces itself, goes to the background: the children are the original's, and only its own."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
from typing import Any

import hermes_spawn
from hermes_spawn import spawn_owned

from .processes import SOON
from .stage import ENTER, Stage, hear, hold, say


class Forks(Stage):
    def test_a_forked_copy_has_nothing_to_do_with_the_children(self) -> None:
        owner = self.owner(forks_a_copy)
        child = owner.meets()
        found = owner.hears()
        self.assertEqual(found, {"refused": ["wait", "stop", "kill", "release"], "own_child": -9, "code": 0})
        self.assert_lives(child, "the child, after its owner's copy has ended")
        self.assert_gone(child, owner.kill())

    def test_a_copy_that_lives_does_not_keep_the_children_alive(self) -> None:
        owner = self.owner(leaves_a_copy_behind)
        child, copy = owner.meets(), owner.meets("copy")
        self.assert_gone(child, owner.kill())
        self.assert_lives(copy, "the copy")

    def test_multiprocessing(self) -> None:
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                owner = self.owner(runs_a_pool, method)
                child = owner.meets()
                found = owner.hears()
                self.assertEqual(found["codes"], [0, 1, 2, 3])
                of_worker = owner.meet(found["of_worker"])
                self.assert_lives(of_worker, "the child of a worker")
                self.assert_lives(child, "the host's child, beside workers")
                owner.told("end the workers")
                moment = owner.hears()["moment"]
                self.assert_gone(of_worker, moment, "the ended worker's child")
                self.assert_lives(child, "the host's child, after its workers")
                self.assert_gone(child, owner.kill(), "the host's child")

    def test_the_host_replaces_itself(self) -> None:
        """The old image's children die, the new one works, under a supervisor of its own."""
        owner = self.owner(becomes_another)
        old, before = owner.meets(), owner.meets("supervisor")
        owner.told("go on")
        new, after = owner.meets(), owner.meets("supervisor")
        self.assertTrue(old.wait_gone(SOON))
        self.assertTrue(before.wait_gone(SOON))
        self.assert_lives(new, "the new image's child")
        moment = owner.kill()
        self.assert_gone(new, moment, "the new image's child")
        self.assertTrue(after.wait_gone(SOON))

    def test_the_host_goes_to_the_background(self) -> None:
        owner = self.owner(daemonises)
        old = owner.meets()
        owner.told("go on")
        daemon, new = owner.meets("daemon"), owner.meets()
        owner.popen.wait(SOON)
        self.assertTrue(old.wait_gone(SOON), "the child of the process that has ended")
        self.assert_lives(new, "the daemon's child")
        daemon.kill()
        self.assertTrue(daemon.wait_gone(SOON))
        self.assertTrue(new.wait_gone(SOON), "the daemon's child")


def forks_a_copy() -> None:
    child = spawn_owned(["sleep", "600"])
    say(pid=child.pid)
    copy = os.fork()
    if copy == 0:
        # A child of its own first, so that its handle could be taken for the other.
        own = spawn_owned(["sleep", "600"])
        refused = []
        for name, act in (("wait", child.poll), ("stop", child.stop), ("kill", child.kill)):
            try:
                act()
            except hermes_spawn.InvalidArgumentError:
                refused.append(name)
        hermes_spawn.release_process_groups([child.pgid])
        refused.append("release")
        del child, act
        own.kill()
        say(refused=refused, own_child=own.wait(), code=0)
        # With atexit, finalisers and all.
        sys.exit(0)
    os.waitpid(copy, 0)
    assert child.poll() is None
    hold()


def leaves_a_copy_behind() -> None:
    child = spawn_owned(["sleep", "600"])
    copy = os.fork()
    if copy == 0:
        hold()
    say(pid=child.pid)
    say(copy=copy)
    hold()


kept = []


def code_of_a_child(code: int) -> Any:
    return spawn_owned(["sh", "-c", f"exit {code}"]).wait()


def start_a_child(_: int) -> int:
    kept.append(spawn_owned(["sleep", "600"]))
    return kept[-1].pid


def runs_a_pool(method: str) -> None:
    child = spawn_owned(["sleep", "600"])
    say(pid=child.pid)
    with multiprocessing.get_context(method).Pool(2) as pool:
        codes = pool.map(code_of_a_child, range(4), chunksize=1)
        of_worker = pool.map(start_a_child, [0])[0]
        say(codes=codes, of_worker=of_worker)
        hear()
        moment = time.monotonic()
        pool.terminate()
        pool.join()
    # Its semaphores would be reported as lost by a process that outlives this one.
    del pool
    gc.collect()
    say(moment=moment)
    hold()


def becomes_another() -> None:
    says_who()
    hear()
    os.execv(sys.executable, [sys.executable, *ENTER, __name__, "is_the_new_image", "[]"])


def is_the_new_image() -> None:
    says_who()
    hold()


def says_who() -> None:
    kept.append(spawn_owned(["sleep", "600"]))
    say(pid=kept[-1].pid)
    say(supervisor=hermes_spawn.status()["supervisor_pid"])


def daemonises() -> None:
    kept.append(spawn_owned(["sleep", "600"]))
    say(pid=kept[-1].pid)
    hear()
    if os.fork():
        os._exit(0)
    say(daemon=os.getpid())
    own = spawn_owned(["sleep", "600"])
    say(pid=own.pid)
    hold()
