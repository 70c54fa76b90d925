"""An owner in Python dies by `kill -9`: what it has started is gone, and nothing else is touched."""

from __future__ import annotations

import os
import socket
import subprocess
import threading

import hermes_spawn
from hermes_spawn import PIPE, spawn_owned

from .processes import SOON
from .stage import GRACE_MS, Stage, hold, say


class Supervision(Stage):
    def test_a_family_dies_whole(self) -> None:
        """A wrapper, a server that ignores TERM, and one that left the group and its parents."""
        owner = self.owner(starts_a_family)
        found = owner.hears()
        family = {name: owner.meet(pid) for name, pid in found.items()}
        moment = owner.kill()
        for name, process in family.items():
            self.assert_gone(process, moment, name)

    def test_the_thread_that_spawned_may_end(self) -> None:
        owner = self.owner(spawns_in_a_thread_that_ends)
        child = owner.meets()
        self.assert_lives(child, "the child, after its thread")
        self.assert_gone(child, owner.kill())

    def test_foreign_children_hold_no_lifeline(self) -> None:
        """Started with all descriptors inherited, by eight threads, while the library comes up."""
        owner = self.owner(starts_foreign_children_meanwhile)
        found = owner.hears()
        child, supervisor = owner.meet(found["pid"]), owner.meet(found["supervisor"])
        foreign = [owner.meet(pid) for pid in found["foreign"]]
        self.assertGreaterEqual(len(foreign), 8)
        moment = owner.kill()
        self.assert_gone(child, moment)
        self.assertTrue(supervisor.wait_gone(SOON))
        for process in foreign:
            self.assert_lives(process, "a foreign child")

    def test_an_inherited_listener_is_not_pinned(self) -> None:
        owner = self.owner(listens)
        found = owner.hears()
        child, supervisor = owner.meet(found["pid"]), owner.meet(found["supervisor"])
        link = owner.process.descriptors()[found["fd"]]
        self.assertTrue(link.startswith("socket:"))
        for process in (child, supervisor):
            held = process.descriptors()
            self.assertTrue(held)
            self.assertNotIn(link, held.values())
        for task in os.listdir(f"/proc/{owner.process.pid}/task"):
            if int(task) != owner.process.pid:
                self.assertNotIn(link, owner.process.descriptors(int(task)).values())
        self.assert_gone(child, owner.kill())
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", found["port"]))
            again.listen()


WRAPPER = """
sh -c 'trap "" TERM; echo stubborn $$; while :; do sleep 600; done' &
(setsid sh -c 'echo escaped $$; exec sleep 600' &)
echo leader $$
wait
"""


def starts_a_family() -> None:
    hermes_spawn.configure(grace_ms=GRACE_MS)
    child = spawn_owned(["sh", "-c", WRAPPER], stdout=PIPE, text=True)
    assert child.stdout is not None
    say(**{name: int(pid) for name, pid in (child.stdout.readline().split() for _ in range(3))})
    hold()


def spawns_in_a_thread_that_ends() -> None:
    children = []
    thread = threading.Thread(target=lambda: children.append(spawn_owned(["sleep", "600"])))
    thread.start()
    thread.join()
    say(pid=children[0].pid)
    hold()


def starts_foreign_children_meanwhile() -> None:
    foreign: list[int] = []
    ready = threading.Event()

    def starts() -> None:
        while True:
            last = ready.is_set()
            # The null device for input: the test's pipe to this owner must end with this owner.
            child = subprocess.Popen(
                ["sleep", "600"], close_fds=False, stdin=subprocess.DEVNULL, start_new_session=True
            )
            foreign.append(child.pid)
            if last:
                return

    threads = [threading.Thread(target=starts) for _ in range(8)]
    for thread in threads:
        thread.start()
    child = spawn_owned(["sleep", "600"])
    ready.set()
    for thread in threads:
        thread.join()
    say(pid=child.pid, supervisor=hermes_spawn.status()["supervisor_pid"], foreign=foreign)
    hold()


def listens() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.set_inheritable(True)
    child = spawn_owned(["sleep", "600"])
    say(
        pid=child.pid,
        supervisor=hermes_spawn.status()["supervisor_pid"],
        fd=listener.fileno(),
        port=listener.getsockname()[1],
    )
    hold()
