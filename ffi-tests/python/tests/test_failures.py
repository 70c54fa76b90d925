"""A child that cannot be started: the error that Popen would raise, the step, and nothing left of it."""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import resource
import stat
import subprocess
from typing import Any, Iterator
from unittest import mock

import hermes_spawn
from hermes_spawn import DEVNULL, PIPE

from .processes import eventually, own_children
from .stage import Stage, hold, say


class Failures(Stage):
    def file(self, name: str, text: str, mode: int) -> str:
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def assert_like_popen(self, args: list[Any], step: str, says: str, **options: Any) -> None:
        """The same class, errno, text and file name as Popen's; a `SpawnError` too; no child."""
        slots, children = hermes_spawn.status()["slots_in_use"], own_children()
        with self.assertRaises(OSError) as theirs:
            subprocess.Popen(args, **options)
        with self.assertRaises(hermes_spawn.SpawnError) as ours:
            hermes_spawn.spawn_owned(args, **options)
        error, model = ours.exception, theirs.exception
        self.assertIsInstance(error, type(model))
        for field in ("errno", "strerror", "filename"):
            self.assertEqual(getattr(error, field), getattr(model, field), field)
        self.assertEqual((error.code, error.step), (-6, step))
        self.assertIn(says, str(error))
        self.assertEqual(hermes_spawn.status()["slots_in_use"], slots)
        self.assertEqual(own_children(), children)

    def test_what_cannot_be_executed(self) -> None:
        plain = self.file("plain", "#!/bin/sh\n", stat.S_IRUSR)
        lost = self.file("lost", "#!/no/such/interpreter\n", stat.S_IRWXU)
        bare = self.file("bare", "exit 0\n", stat.S_IRWXU)
        self.assert_like_popen(["/no/such/program"], "execve", "/no/such/program")
        # What the message says of PATH depends on how many directories are in it.
        with mock.patch.dict(os.environ, PATH="/usr/bin:/bin"):
            self.assert_like_popen(["hs-no-such-program"], "execve", "PATH")
        for args in ("", [""]):
            with self.subTest(args=args), self.assertRaises(OSError) as theirs:
                subprocess.Popen(args)
            with self.subTest(args=args), self.assertRaises(hermes_spawn.SpawnError) as ours:
                hermes_spawn.spawn_owned(args)
            self.assertIsInstance(ours.exception, type(theirs.exception))
            self.assertEqual(ours.exception.filename, theirs.exception.filename)
        self.assert_like_popen([str(self.folder)], "execve", str(self.folder))
        self.assert_like_popen([plain], "execve", plain)
        self.assert_like_popen([lost], "execve", "/no/such/interpreter")
        self.assert_like_popen([bare], "execve", bare)
        self.assert_like_popen([plain + "/x"], "execve", plain)

    def test_directories_that_are_none(self) -> None:
        for cwd in (self.folder / "missing", self.file("file", "", stat.S_IRWXU)):
            self.assert_like_popen(["true"], "chdir", str(cwd), cwd=cwd)

    def test_a_directory_that_may_not_be_entered(self) -> None:
        closed = self.folder / "closed"
        closed.mkdir(0o600)
        self.folder.chmod(0o755)
        owner = self.owner(starts_a_child_in, str(closed))
        self.assertEqual(owner.hears(), {"permission": True, "step": "chdir", "filename": str(closed)})

    def test_words_that_are_none(self) -> None:
        for args, options in (
            ([], {}),
            (["true", "a\0b"], {}),
            (["tr\0ue"], {}),
            (["true"], {"cwd": "/\0"}),
            (["true"], {"env": {"A": "\0"}}),
            (["true"], {"env": {"A=B": "C"}}),
            (["true"], {"stdout": hermes_spawn.STDOUT}),
            (["true"], {"stdin": -7}),
            (["true"], {"stdin": 2**33}),
            (["true"], {"stdout": 2**32 + 2}),
            (["true"], {"stdout": 2**32 - 3}),
            (["true"], {"pass_fds": [2**32 + 2]}),
        ):
            with self.subTest(args=args, options=options), self.assertRaises(ValueError):
                hermes_spawn.spawn_owned(args, **options)

    def test_an_encoding_that_does_not_exist(self) -> None:
        slots = hermes_spawn.status()["slots_in_use"]
        with self.assertRaises(LookupError):
            hermes_spawn.spawn_owned(["cat"], stdin=hermes_spawn.PIPE, encoding="no-such-encoding")
        eventually("the child is gone", lambda: hermes_spawn.status()["slots_in_use"] == slots)

    def test_descriptors_that_are_closed(self) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        os.close(writer)
        for options in ({"stdin": reader}, {"pass_fds": [reader]}):
            with self.subTest(options=options), self.assertRaises(hermes_spawn.SpawnError) as caught:
                hermes_spawn.spawn_owned(["true"], **options)
            self.assertEqual(caught.exception.errno, 9)
            self.assertIn(str(reader), str(caught.exception))

    def test_no_descriptor_is_left(self) -> None:
        hermes_spawn.spawn_owned(["true"]).wait()
        for options in ({"stdin": PIPE, "stdout": PIPE}, {"stdout": PIPE}, {"stdin": DEVNULL, "stdout": PIPE}):
            with self.subTest(options=options), no_descriptors_left():
                with self.assertRaises(hermes_spawn.SpawnError) as caught:
                    hermes_spawn.spawn_owned(["true"], **options)
                self.assertEqual(caught.exception.errno, errno.EMFILE)

    def test_what_is_of_the_wrong_type_is_named(self) -> None:
        for name, args, options in (
            ("args", ["true", 5], {}),
            ("cwd", ["true"], {"cwd": 5}),
            ("env", ["true"], {"env": {"A": 5}}),
            ("family", ["true"], {"family": 5}),
        ):
            with self.subTest(name), self.assertRaisesRegex(TypeError, name):
                hermes_spawn.spawn_owned(args, **options)

    def test_words_from_an_iterator(self) -> None:
        child = hermes_spawn.spawn_owned(iter(["sh", "-c", "exit 4"]))
        self.assertEqual((child.wait(), child.args), (4, ["sh", "-c", "exit 4"]))

    def test_errors_survive_pickling(self) -> None:
        """As concurrent.futures sends them from one process to another."""
        with self.assertRaises(hermes_spawn.SpawnError) as caught:
            hermes_spawn.spawn_owned(["/no/such/program"])
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertIsInstance(error, FileNotFoundError)
        self.assertEqual(str(error), str(caught.exception))
        self.assertEqual((error.code, error.filename), (-6, "/no/such/program"))
        late = hermes_spawn.TimeoutExpired(["x"], 3.5)
        self.assertEqual(str(pickle.loads(pickle.dumps(late))), str(late))


@contextlib.contextmanager
def no_descriptors_left() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def starts_a_child_in(folder: str) -> None:
    # Root may enter every directory.
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        hermes_spawn.spawn_owned(["true"], cwd=folder)
    except hermes_spawn.SpawnError as error:
        say(permission=isinstance(error, PermissionError), step=error.step, filename=error.filename)
    hold()
