"""Builds libhermes_spawn with Cargo and puts it into the wheel."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARGO = ["cargo", "build", "--release", "--no-default-features", "--lib", "--locked"]


class CargoBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # An editable install finds the library in the checkout's target/.
        if version == "editable":
            return
        crate = Path(self.root).parent.parent
        if not (crate / "Cargo.toml").is_file():
            raise SystemExit(f"{crate} is not the hermes-spawn checkout: the library is built from its source")
        build_data["force_include"][built_library(crate)] = "hermes_spawn/libhermes_spawn.so"
        # For any Python 3, since ctypes needs no ABI of it; for this system only.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False


def built_library(crate: Path) -> str:
    """Cargo itself says where it has put the library: `CARGO_TARGET_DIR` and its configuration may move it."""
    command = [*CARGO, "--message-format=json-render-diagnostics"]
    try:
        build = subprocess.run(command, cwd=crate, stdout=subprocess.PIPE, check=True)
    except FileNotFoundError:
        raise SystemExit("cargo is missing: the wheel's library is built from Rust source") from None
    for message in map(json.loads, build.stdout.splitlines()):
        if message["reason"] == "compiler-artifact" and "cdylib" in message["target"]["kind"]:
            for name in message["filenames"]:
                if name.endswith(".so"):
                    return name
    raise SystemExit("cargo has built no shared library")
