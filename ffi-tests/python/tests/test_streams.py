"""What goes in and comes out of a child."""

from __future__ import annotations

import array
import fcntl
import os
import select
import sys
import tempfile
import termios
import time
import unittest

import hermes_spawn
from hermes_spawn import DEVNULL, PIPE, STDOUT, spawn_owned

from .processes import SOON, Process
from .stage import Stage, hold, say


class Streams(unittest.TestCase):
    def test_bytes_and_text(self) -> None:
        with spawn_owned(["cat"], stdin=PIPE, stdout=PIPE) as child:
            self.assertEqual(child.communicate(b"\xff\r\n"), (b"\xff\r\n", None))
        with spawn_owned(["cat"], stdin=PIPE, stdout=PIPE, text=True) as child:
            self.assertEqual(child.communicate("ü\r\n"), ("ü\n", None))
        with spawn_owned(["cat"], stdin=PIPE, stdout=PIPE, encoding="latin-1") as child:
            self.assertEqual(child.communicate("ü"), ("ü", None))
        with spawn_owned(["printf", "\\377"], stdout=PIPE, errors="replace", encoding="ascii") as child:
            self.assertEqual(child.communicate(), ("\N{REPLACEMENT CHARACTER}", None))

    def test_stderr_beside_and_into_stdout(self) -> None:
        script = ["sh", "-c", "echo out; echo err >&2"]
        with spawn_owned(script, stdout=PIPE, stderr=PIPE) as child:
            self.assertEqual(child.communicate(), (b"out\n", b"err\n"))
        with spawn_owned(script, stdout=PIPE, stderr=STDOUT) as child:
            self.assertEqual(child.communicate(), (b"out\nerr\n", None))
        with spawn_owned(script, stdout=DEVNULL, stderr=PIPE) as child:
            self.assertEqual(child.communicate(), (None, b"err\n"))

    def test_files_and_numbers(self) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(b"12345")
            file.seek(2)
            with spawn_owned(["cat"], stdin=file, stdout=PIPE) as child:
                self.assertEqual(child.communicate()[0], b"345")
            file.seek(0)
            self.assertEqual(spawn_owned(["echo", "x"], stdout=file.fileno()).wait(), 0)
            file.seek(0)
            self.assertEqual(file.read(), b"x\n345")

    def test_environment_directory_and_descriptors(self) -> None:
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        script = "pwd; echo $A $HOME-; echo $HERMES_SPAWN | cut -c 1-3; echo passed > /dev/fd/$0; ls /proc/self/fd"
        args = ["sh", "-c", script, str(writer)]
        env = {"A": "b", "PATH": "/bin:/usr/bin"}
        child = spawn_owned(args, stdout=PIPE, text=True, cwd="/usr", env=env, pass_fds=[writer])
        os.close(writer)
        lines = child.communicate()[0].split()
        self.assertEqual(lines[:4], ["/usr", "b", "-", "v1:"])
        # ls has a descriptor of its own for the folder.
        self.assertLess({0, 1, 2, writer}, set(map(int, lines[4:])))
        self.assertEqual(len(lines), 4 + 5)
        self.assertEqual(os.read(reader, 99), b"passed\n")

    def test_communicate_goes_on_after_a_timeout(self) -> None:
        # More than the pipes hold, in both directions.
        said = os.urandom(1 << 20)
        gate, opener = os.pipe()
        child = spawn_owned(["sh", "-c", f"cat; cat /dev/fd/{gate}"], stdin=PIPE, stdout=PIPE, pass_fds=[gate])
        os.close(gate)
        with self.assertRaises(hermes_spawn.TimeoutExpired) as caught:
            child.communicate(said, timeout=1)
        self.assertIsInstance(caught.exception, hermes_spawn.HermesError)
        self.assertTrue(said.startswith(caught.exception.output))
        with self.assertRaises(ValueError):
            child.communicate(b"more")
        os.write(opener, b"end")
        os.close(opener)
        self.assertEqual(child.communicate(), (said + b"end", None))
        self.assertEqual(child.returncode, 0)

    def test_a_child_that_does_not_listen(self) -> None:
        with spawn_owned(["true"], stdin=PIPE, stdout=PIPE) as child:
            self.assertEqual(child.communicate(b"x" * (1 << 20)), (b"", None))
            self.assertEqual(child.returncode, 0)


def unread(fd: int) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, count)
    return count[0]


class SlowReaders(Stage):
    def test_a_blocking_pipe_and_a_slow_reader_lose_nothing(self) -> None:
        """The host's end does not block, the child's does: it waits for the reader, and no write of its own fails."""
        program = (
            "import os, sys; os.write(2, b'blocks' if os.get_blocking(1) else b'fails'); "
            "sys.stdout.buffer.write(os.urandom(64) * 65536)"
        )
        child = spawn_owned([sys.executable, "-c", program], stdout=PIPE, stderr=PIPE)
        assert child.stdout is not None and child.stderr is not None
        fd = child.stdout.fileno()
        os.set_blocking(fd, False)
        capacity = fcntl.fcntl(fd, 1032)  # F_GETPIPE_SZ
        total, ended = 0, False
        deadline = time.monotonic() + 3 * SOON
        while not ended:
            # Slow: only when the writer can do nothing but wait, or has nothing more to say.
            while unread(fd) < capacity and child.poll() is None and time.monotonic() < deadline:
                select.select([], [], [], 0.001)
            self.assertLess(time.monotonic(), deadline)
            select.select([fd], [], [], SOON)
            part = os.read(fd, 1 << 16)
            total, ended = total + len(part), not part
        self.assertEqual((total, child.wait(SOON), child.stderr.read()), (4 << 20, 0, b"blocks"))
        child.stdout.close()
        child.stderr.close()

    def test_the_leader_counts_not_who_holds_its_stdout(self) -> None:
        owner = self.owner(starts_a_leader_that_leaves_somebody)
        found = owner.hears()
        self.assertEqual(found["code"], 3)
        self.assertLess(found["seconds"], 5)
        left = owner.meet(found["left"])
        self.assert_lives(left, "the grandchild")
        self.assert_gone(left, owner.kill(), "the grandchild")


def starts_a_leader_that_leaves_somebody() -> None:
    child = spawn_owned(["sh", "-c", "sleep 600 & echo $!; exit 3"], stdout=PIPE, text=True)
    assert child.stdout is not None
    left = int(child.stdout.readline())
    begun = time.monotonic()
    code = child.wait()
    Process(left).close()
    say(code=code, seconds=time.monotonic() - begun, left=left)
    hold()
