"""Finding libhermes_spawn, loading it, calling it."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from pathlib import Path
from typing import Any, Iterator

from . import _abi
from ._errors import error_of

VARIABLE = "HERMES_SPAWN_LIBRARY"
FILE = "libhermes_spawn.so"
# What the system's loader knows it by.
SONAME = f"{FILE}.{_abi.ABI_VERSION}"


def _check_system() -> None:
    """Elsewhere the library does not compile, so there is no use in looking for it."""
    system, machine = platform.system(), platform.machine()
    if system != "Linux" or machine not in ("x86_64", "aarch64") or sys.maxsize < 2**32:
        bits = "64" if sys.maxsize > 2**32 else "32"
        raise ImportError(
            "hermes_spawn works on 64-bit Linux on x86_64 and aarch64 only; "
            f"this is {system} on {machine}, with a {bits}-bit Python"
        )


def _checkout_builds() -> Iterator[Path]:
    """The builds of the checkout that this file is part of, the newest first; none if it is installed elsewhere."""
    above = Path(__file__).resolve().parents
    if len(above) < 4:
        return
    crate = above[3]
    if not (crate / "supervisor" / "layout.ld").is_file():
        return
    target = Path(os.environ.get("CARGO_TARGET_DIR", crate / "target"))
    builds = [crate / target / profile / FILE for profile in ("release", "debug")]
    yield from sorted(builds, key=lambda build: build.stat().st_mtime if build.exists() else 0, reverse=True)


def _candidates() -> Iterator[str]:
    yield str(Path(__file__).resolve().with_name(FILE))
    yield from map(str, _checkout_builds())
    yield SONAME


def _load() -> ctypes.CDLL:
    _check_system()
    wanted = os.environ.get(VARIABLE)
    # A library that was asked for by name is not silently replaced by another.
    looked = [] if wanted else [f"{VARIABLE}: not set"]
    for name in [wanted] if wanted else _candidates():
        try:
            return _checked(ctypes.CDLL(name))
        except OSError as error:
            missing = os.path.isabs(name) and not os.path.exists(name)
            # The loader begins with the name.
            looked.append(f"{name}: {'not there' if missing else str(error).removeprefix(f'{name}: ')}")
    places = "\n".join(f"  {place}" for place in looked)
    raise ImportError(
        f"hermes_spawn cannot load {FILE}. It looked at:\n{places}\n"
        f"Build it with `cargo build --release --no-default-features` in the checkout, or set {VARIABLE} to its path."
    )


def _checked(library: ctypes.CDLL) -> ctypes.CDLL:
    """With its signatures. `OSError` if it is not the library that this package was written for."""
    try:
        for name, (result, arguments) in _abi.SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise OSError(f"is no libhermes_spawn, or an older one: {error}") from None
    found = library.hermes_abi_version()
    if found != _abi.ABI_VERSION:
        raise OSError(f"has ABI version {found}; this package needs {_abi.ABI_VERSION}")
    return library


# ctypes lets go of the GIL for each call.
library: Any = _load()


def call(name: str, *arguments: Any) -> None:
    """Calls a function that ends with an error record, and raises what it reports."""
    record = _abi.ErrorRecord(_abi.ERROR_BYTES)
    if getattr(library, name)(*arguments, record):
        raise error_of(record)


def version() -> str:
    return str(library.hermes_version_string().decode())
