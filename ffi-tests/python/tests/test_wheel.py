"""`pip install ./ffi-tests/python` gives a package that needs nothing of the checkout any more."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path

from .stage import PACKAGE, Stage

USE = """
import hermes_spawn
child = hermes_spawn.spawn_owned(["sh", "-c", "exit 6"])
print(hermes_spawn._library.library._name)
print(child.wait(), hermes_spawn.__version__)
"""


class Wheel(Stage):
    def test_installed_and_used(self) -> None:
        if not shutil.which("cargo"):
            self.skip("cargo is missing")
        venv.create(self.folder / "venv", with_pip=True)
        python = str(self.folder / "venv" / "bin" / "python")
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HERMES_SPAWN_LIBRARY")}
        install = [python, "-m", "pip", "install", "--disable-pip-version-check", str(PACKAGE)]
        done = subprocess.run(install, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode and "No matching distribution found for hatchling" in done.stdout:
            self.skip("the build backend cannot be had: no package registry")
        self.assertEqual(done.returncode, 0, done.stdout)

        site = next((self.folder / "venv" / "lib").glob("python3.*/site-packages"))
        used = subprocess.run([python, "-c", USE], env=env, stdout=subprocess.PIPE, text=True, check=True, cwd="/")
        library, words = used.stdout.splitlines()
        self.assertEqual(Path(library), site / "hermes_spawn" / "libhermes_spawn.so")
        code, version = words.split()
        self.assertEqual(code, "6")
        self.assertTrue((site / "hermes_spawn" / "py.typed").is_file())
        wheel = (site / f"hermes_spawn-{version}.dist-info" / "WHEEL").read_text()
        self.assertIn(f"Tag: py3-none-linux_{os.uname().machine}\n", wheel)
        self.assertIn("Root-Is-Purelib: false\n", wheel)
