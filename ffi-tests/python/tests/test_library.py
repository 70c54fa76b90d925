"""Finding the library, and agreeing with it on every byte."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional

import hermes_spawn
from hermes_spawn import _abi, _library

from .stage import PACKAGE, Stage

CRATE = PACKAGE.parents[1]
HEADER = CRATE / "include" / "hermes_spawn.h"
LIBRARY = Path(_library.library._name)

RECORDS: dict[str, type[ctypes.Structure]] = {
    "hermes_error": _abi.ErrorRecord,
    "hermes_exit_status": _abi.ExitStatus,
    "hermes_config": _abi.Config,
    "hermes_spawn_options": _abi.SpawnOptions,
    "hermes_guarantee": _abi.GuaranteeRecord,
    "hermes_status_info": _abi.StatusInfo,
}

# Which library was loaded, and from where the package came.
WHICH = """
import hermes_spawn, pathlib
found = {line.split()[5] for line in open("/proc/self/maps") if "libhermes_spawn" in line}
print(pathlib.Path(hermes_spawn.__file__).parent, *found)
"""


class Layout(Stage):
    def test_records_and_constants_are_the_headers(self) -> None:
        if not shutil.which("cc"):
            self.skip("cc is missing")
        program = ["#include <stdio.h>", f'#include "{HEADER}"', "int main(void) {"]
        expected = []
        for name, record in RECORDS.items():
            program.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
            expected.append(f"{name} {ctypes.sizeof(record)}")
            for field, *_ in record._fields_:  # type: ignore[misc]
                size = f"sizeof(((struct {name} *)0)->{field})"
                program.append(f'printf("{name}.{field} %zu %zu\\n", offsetof(struct {name}, {field}), {size});')
                where = getattr(record, field)
                expected.append(f"{name}.{field} {where.offset} {where.size}")
        for name, value in vars(_abi).items():
            if name.isupper() and isinstance(value, int) and not name.endswith("_BYTES"):
                program.append(f'printf("{name} %d\\n", (int)HERMES_{name});')
                expected.append(f"{name} {value}")
        program.append("}")
        with tempfile.TemporaryDirectory(prefix="hs-") as folder:
            built = Path(folder, "layout")
            compiler = ["cc", "-xc", "-std=c99", "-Wall", "-Werror", "-", "-o", str(built)]
            subprocess.run(compiler, input="\n".join(program).encode(), check=True)
            told = subprocess.run([str(built)], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertEqual(told.splitlines(), expected)
        self.assertGreater(len(expected), 60)

    def test_every_error_code_of_the_header_has_its_exception(self) -> None:
        text = HEADER.read_text()
        codes = set(map(int, re.findall(r"HERMES_ERR_\w+ = (-\d+)", text)))
        known = {value for name, value in vars(_abi).items() if name.startswith("ERR_")}
        self.assertEqual(codes, known)
        for code in codes - {_abi.ERR_SPAWN, _abi.ERR_TIMEOUT}:
            record = _abi.ErrorRecord(_abi.ERROR_BYTES, code, 5, b"step", b"message")
            error = hermes_spawn._errors.error_of(record)
            self.assertIsNot(type(error), hermes_spawn.HermesError, code)
            self.assertEqual((error.code, error.step), (code, "step"))
            self.assertIn("message", str(error))

    def test_one_version(self) -> None:
        found = re.search(r'^version = "(.+)"', (CRATE / "Cargo.toml").read_text(), re.MULTILINE)
        assert found is not None
        self.assertEqual(hermes_spawn.__version__, found[1])


class Search(Stage):
    def setUp(self) -> None:
        super().setUp()
        # Without the checkout around it.
        self.site = self.folder / "lib" / "site"
        self.package = self.copy_to(self.site)

    def copy_to(self, folder: Path) -> Path:
        return Path(shutil.copytree(PACKAGE / "hermes_spawn", folder / "hermes_spawn"))

    def run_python(self, code: str, path: Path, **env: str) -> subprocess.CompletedProcess[str]:
        inherited = {
            name: value for name, value in os.environ.items() if name not in ("CARGO_TARGET_DIR", _library.VARIABLE)
        }
        env = {**inherited, "PYTHONPATH": str(path), **env}
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, cwd="/")

    def loads(self, library: Path, site: Optional[Path] = None, **env: str) -> None:
        run = self.run_python(WHICH, site or self.site, **env)
        self.assertEqual(run.stdout.split(), [str((site or self.site) / "hermes_spawn"), str(library)], run.stderr)

    def refuses(self, *says: str, **env: str) -> None:
        run = self.run_python("import hermes_spawn", self.site, **env)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("ImportError", run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)

    def place(self, folder: Path, name: str = _library.FILE) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(LIBRARY, folder / name))

    def test_the_order(self) -> None:
        in_package = self.package / _library.FILE
        self.refuses(
            "HERMES_SPAWN_LIBRARY: not set", f"{in_package}: not there", _library.SONAME, "cargo build --release"
        )
        system = self.place(self.folder / "system", _library.SONAME)
        self.loads(system, LD_LIBRARY_PATH=str(system.parent))
        self.loads(self.place(self.package), LD_LIBRARY_PATH=str(system.parent))
        elsewhere = self.place(self.folder / "elsewhere", "libhermes_spawn-of-mine.so")
        self.loads(elsewhere, LD_LIBRARY_PATH=str(system.parent), HERMES_SPAWN_LIBRARY=str(elsewhere))

    def test_what_was_asked_for_is_not_replaced(self) -> None:
        self.place(self.package)
        missing = str(self.folder / "missing.so")
        self.refuses(f"{missing}: not there", HERMES_SPAWN_LIBRARY=missing)

    def test_the_newest_build_of_the_checkout(self) -> None:
        crate = self.folder / "checkout"
        site = crate / "ffi-tests" / "python"
        self.copy_to(site)
        (crate / "supervisor").mkdir()
        (crate / "supervisor" / "layout.ld").touch()
        release = self.place(crate / "target" / "release")
        self.loads(release, site)
        debug = self.place(crate / "target" / "debug")
        os.utime(release, (1, 1))
        self.loads(debug, site)
        os.utime(debug, (0, 0))
        self.loads(release, site)
        moved = self.place(self.folder / "moved" / "debug")
        self.loads(moved, site, CARGO_TARGET_DIR=str(moved.parents[1]))

    def test_what_is_no_such_library(self) -> None:
        text = self.folder / "text.so"
        text.write_text("not a library\n" * 1000)
        self.refuses(f"{text}: invalid ELF header", HERMES_SPAWN_LIBRARY=str(text))
        self.refuses("libc.so.6: is no libhermes_spawn", HERMES_SPAWN_LIBRARY="libc.so.6")

    def test_another_system(self) -> None:
        self.place(self.package)
        for patch, says in (
            ("platform.system = lambda: 'Darwin'", "this is Darwin on"),
            ("platform.machine = lambda: 'riscv64'", "on riscv64"),
        ):
            run = self.run_python(f"import platform; {patch}; import hermes_spawn", self.site)
            self.assertIn("ImportError: hermes_spawn works on 64-bit Linux on x86_64 and aarch64 only; ", run.stderr)
            self.assertIn(says, run.stderr)
