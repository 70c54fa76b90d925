"""`spawn_owned`."""

from __future__ import annotations

import io
import subprocess
from errno import EACCES
from ctypes import byref, c_char_p, c_int32, c_void_p
from os import PathLike, strerror
from typing import IO, Any, Iterable, Mapping, Optional, Union

from . import _abi
from ._errors import Path, SpawnPermissionError, spawn_error_of
from ._library import library
from ._process import OwnedProcess
from ._state import encoded

PIPE = subprocess.PIPE
DEVNULL = subprocess.DEVNULL
STDOUT = subprocess.STDOUT

Stream = Union[int, IO[Any], None]


def spawn_owned(
    args: Union[Path, Iterable[Path]],
    *,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    cwd: Optional[Path] = None,
    env: Union[Mapping[str, str], Mapping[bytes, bytes], None] = None,
    pass_fds: Iterable[int] = (),
    family: Optional[str] = None,
    group_only: bool = False,
    keep_session: bool = False,
    controlling_tty: bool = False,
    text: bool = False,
    encoding: Optional[str] = None,
    errors: Optional[str] = None,
) -> OwnedProcess:
    """Starts a long-lived child in a session and process group of its own. It cannot outlive this process.

    `args`, the streams, `cwd`, `env`, `pass_fds`, `text`, `encoding` and `errors` are as for `subprocess.Popen`.
    `family` says for people what kind of thing this is. `group_only`: what leaves the process group is not searched for
    when this process dies. `keep_session`: a group of its own in this session. `controlling_tty`: the terminal on the
    child's stdin becomes its controlling terminal.

    Raises what `Popen` raises; each such error is a `SpawnError` too. `SupervisorError`: nothing could watch over the
    child, so none was started.
    """
    # A list of its own: an iterator can be looked at once.
    words: list[Path] = [args] if isinstance(args, (str, bytes, PathLike)) else list(args)
    if not words:
        raise ValueError("args is empty: it must hold the program's name at least")
    if not encoded(words[0], "args"):
        # Popen looks for it in the directories of PATH, and finds these themselves.
        raise SpawnPermissionError(EACCES, strerror(EACCES), words[0])
    is_text = bool(text or encoding or errors)
    if is_text:
        # An encoding that does not exist is told before there is a child.
        io.TextIOWrapper(io.BytesIO(), encoding, errors)
    passed = sorted(set(pass_fds))
    if passed and not -1 < passed[0] <= passed[-1] < 2**31:
        raise ValueError(f"pass_fds is {passed}, and must be file descriptors")
    # In the order of its fields: by keyword takes ctypes three times as long.
    options = _abi.SpawnOptions(
        _abi.SPAWN_OPTIONS_BYTES,
        (_abi.SPAWN_GROUP_ONLY if group_only else 0)
        | (_abi.SPAWN_KEEP_SESSION if keep_session else 0)
        | (_abi.SPAWN_CONTROLLING_TTY if controlling_tty else 0),
        None,
        _strings([encoded(word, "args") for word in words]),
        None if env is None else _strings(list(_environment(env))),
        None if cwd is None else encoded(cwd, "cwd"),
        _abi.STDIO_INHERIT if stdin is None else _stream("stdin", stdin),
        _abi.STDIO_INHERIT if stdout is None else _stream("stdout", stdout),
        _abi.STDIO_INHERIT if stderr is None else _stream("stderr", stderr),
        len(passed),
        (c_int32 * len(passed))(*passed) if passed else None,
        None if family is None else encoded(family, "family"),
    )
    handle = c_void_p()
    record = _abi.ErrorRecord(_abi.ERROR_BYTES)
    if library.hermes_spawn_owned(byref(options), byref(handle), byref(record)):
        raise spawn_error_of(record, words[0], cwd)
    child = OwnedProcess(handle, args if isinstance(args, (str, bytes, PathLike, list, tuple)) else words)
    if PIPE in (stdin, stdout, stderr):
        _attach_pipes(child, options, is_text, encoding, errors)
    return child


def _strings(words: list[bytes]) -> Any:
    return (c_char_p * (len(words) + 1))(*words, None)


def _environment(env: Union[Mapping[str, str], Mapping[bytes, bytes]]) -> Iterable[bytes]:
    for name, value in env.items():
        line = encoded(name, "env")
        if not line or b"=" in line:
            raise ValueError(f"illegal environment variable name: {name!r}")
        yield line + b"=" + encoded(value, "env")


def _stream(name: str, stream: Union[int, IO[Any]]) -> int:
    if stream == PIPE:
        return _abi.STDIO_PIPE
    if stream == DEVNULL:
        return _abi.STDIO_NULL
    if stream == STDOUT:
        if name != "stderr":
            raise ValueError("STDOUT can only be used for stderr")
        return _abi.STDIO_TO_STDOUT
    fd = stream if isinstance(stream, int) else stream.fileno()
    # ctypes would cut a larger one down to another number.
    if not 0 <= fd < 2**31:
        raise ValueError(f"{name} is {fd}, which is no file descriptor")
    return fd


def _attach_pipes(
    child: OwnedProcess, options: _abi.SpawnOptions, is_text: bool, encoding: Optional[str], errors: Optional[str]
) -> None:
    for name, mode in (("stdin", "wb"), ("stdout", "rb"), ("stderr", "rb")):
        if getattr(options, f"{name}_fd") == _abi.STDIO_PIPE:
            take = getattr(library, f"hermes_child_take_{name}_fd")
            pipe: IO[Any] = open(take(child._handle), mode)
            if is_text:
                pipe = io.TextIOWrapper(pipe, encoding, errors, write_through=mode == "wb")
            setattr(child, name, pipe)
