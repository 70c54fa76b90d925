"""A child that cannot be started: the error that Popen would raise, the step, and nothing left of it."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
from typing import Any

import hermes_spawn

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
        self.assert_like_popen(["hs-no-such-program"], "execve", "PATH")
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
            with self.subTest(options=options), self.assertRaises(OSError) as caught:
                hermes_spawn.spawn_owned(["true"], **options)
            self.assertEqual(caught.exception.errno, 9)
            self.assertIn(str(reader), str(caught.exception))

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


def starts_a_child_in(folder: str) -> None:
    # Root may enter every directory.
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        hermes_spawn.spawn_owned(["true"], cwd=folder)
    except hermes_spawn.SpawnError as error:
        say(permission=isinstance(error, PermissionError), step=error.step, filename=error.filename)
    hold()
