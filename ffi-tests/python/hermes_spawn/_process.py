"""A child that this process owns, in the shape of `subprocess.Popen`."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
import time
from ctypes import byref, c_int32, c_void_p
from types import TracebackType
from typing import IO, Any, Callable, Iterator, Optional, Sequence, Union

from . import _abi
from ._communicate import Conversation
from ._errors import HermesError, NotFoundError, Path, TimeoutExpired, UnsupportedError, error_of
from ._library import call, library

# poll(2) takes an int of milliseconds.
_LONGEST_POLL_MS = 3_600_000
_LONGEST_GRACE_S = 16777.215
# What complies with a stop does so within milliseconds; what does not has its grace.
_LONGEST_PAUSE_S = 0.02


class _Descriptor:
    """Closed with its last reference: a thread may still be polling it when another one has learnt the status."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self.fd)


class OwnedProcess:
    """An owned child: its leader, and the group that the leader began.

    Dropping the object stops nothing: the child stays owned. Methods may be called from any thread. In a forked copy of
    this process they raise `InvalidArgumentError`: the child is the original's.
    """

    args: Union[Path, Sequence[Path]]
    pid: int
    stdin: Optional[IO[Any]] = None
    stdout: Optional[IO[Any]] = None
    stderr: Optional[IO[Any]] = None
    returncode: Optional[int] = None
    """As `Popen.returncode`: negative for a signal. `None` while it runs, and when the status is unknown."""
    status_unknown: bool = False
    """It has ended, and somebody else took its status: a `waitpid(-1)` of the host, SIGCHLD ignored."""

    _end: Optional[_Descriptor] = None
    _conversation: Optional[Conversation] = None
    _stopping: bool = False
    _stop_error: Optional[HermesError] = None

    def __init__(self, handle: c_void_p, args: Union[Path, Sequence[Path]]) -> None:
        self._handle = handle
        self._stop_lock = threading.Lock()
        self.args = args
        self.pid = library.hermes_child_pid(handle)

    def __del__(self, free: Callable[[c_void_p], None] = library.hermes_child_free) -> None:
        free(self._handle)

    @property
    def pgid(self) -> int:
        """The child began the group, so it is the same number."""
        return self.pid

    def __repr__(self) -> str:
        code = "unknown" if self.status_unknown else self.returncode
        return f"<OwnedProcess: pid {self.pid}, returncode: {code}, args: {self.args!r}>"

    def poll(self) -> Optional[int]:
        """The return code, if it has ended. Never waits."""
        self._look()
        return self.returncode

    def wait(self, timeout: Optional[float] = None) -> Optional[int]:
        """Waits for the leader's end, however long its descendants live, and returns its return code.

        Raises `TimeoutExpired`. An unknown status is `None`, with `status_unknown` set.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        if self._look():
            return self.returncode
        # The library's own wait would keep Python's signal handlers from running until the child ends; poll returns to
        # them at once.
        end = self._end_descriptor()
        poller = select.poll()
        poller.register(end.fd, select.POLLIN)
        while not self._look():
            left = _LONGEST_POLL_MS
            if deadline is not None and timeout is not None:
                seconds = deadline - time.monotonic()
                if seconds <= 0:
                    raise TimeoutExpired(self.args, timeout)
                left = min(left, int(seconds * 1000) + 1)
            poller.poll(left)
        return self.returncode

    async def wait_async(self) -> Optional[int]:
        """As `wait`, for asyncio: no thread is used, and cancelling it leaves the child alone."""
        if not self._look():
            loop = asyncio.get_running_loop()
            # A loop has one reader for each number; several tasks may wait for one child.
            end = self._end_descriptor()
            fd = os.dup(end.fd)
            try:
                ended: asyncio.Future[None] = loop.create_future()
                loop.add_reader(fd, _set, ended)
                try:
                    await ended
                finally:
                    loop.remove_reader(fd)
            finally:
                os.close(fd)
            self._look()
        return self.returncode

    def communicate(self, input: Any = None, timeout: Optional[float] = None) -> tuple[Any, Any]:
        """Sends `input`, reads stdout and stderr to their ends, waits. As `Popen.communicate`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if self._conversation is None:
            self._conversation = Conversation(self.stdin, self.stdout, self.stderr, input)
        elif input:
            raise ValueError("Cannot send input after starting communication")
        conversation = self._conversation
        if not conversation.go_on(deadline):
            raise TimeoutExpired(self.args, timeout or 0, conversation.heard(0), conversation.heard(1))
        self.wait(None if deadline is None else max(0, deadline - time.monotonic()))
        return conversation.result()

    def send_signal(self, sig: int) -> None:
        """Sends a signal to the leader alone; nothing if it has ended."""
        # ctypes would cut it down to another signal.
        if not 0 <= sig <= 64:
            raise ValueError(f"sig is {sig}, which is no signal")
        if self._look() or sig == 0:
            return
        try:
            call("hermes_child_signal_leader", self._handle, sig)
        except NotFoundError:
            pass

    def terminate(self) -> None:
        """SIGTERM to the leader alone."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to the leader alone."""
        self.send_signal(signal.SIGKILL)

    def stop(self, grace: float = 3.0) -> None:
        """Ends the whole group: SIGTERM, `grace` seconds to comply, SIGKILL. Returns when nothing in it runs.

        Raises `StillAliveError` if something cannot be ended, `NotFoundError` if the group was released.
        """
        self._begin_stop(grace)
        # In short sleeps, between which Python's signal handlers run: the library's own stop would hold up `^C`.
        for pause in _pauses():
            time.sleep(pause)
            if self._is_stopped():
                return

    async def stop_async(self, grace: float = 3.0) -> None:
        """As `stop`, for asyncio: no thread is used. Once begun it goes on by itself, also if this is cancelled."""
        self._begin_stop(grace)
        for pause in _pauses():
            await asyncio.sleep(pause)
            if self._is_stopped():
                return

    def _begin_stop(self, grace: float) -> None:
        if not isinstance(grace, (int, float)):
            raise TypeError(f"grace is {grace!r}, and must be a number of seconds")
        if not 0 <= grace <= _LONGEST_GRACE_S:
            raise ValueError(f"grace is {grace} s, and must be from 0 to {_LONGEST_GRACE_S} s")
        with self._stop_lock:
            if not self._stopping:
                self._stop_error = None
                call("hermes_child_stop_begin", self._handle, int(grace * 1000))
                self._stopping = True

    def _is_stopped(self) -> bool:
        """The library tells the end once; several may wait for it."""
        with self._stop_lock:
            if self._stopping:
                record = _abi.ErrorRecord(_abi.ERROR_BYTES)
                code = library.hermes_child_stop_poll(self._handle, byref(record))
                if code == _abi.ERR_TIMEOUT:
                    return False
                self._stopping = False
                self._stop_error = error_of(record) if code else None
        if self._stop_error is not None:
            raise self._stop_error
        self._look()
        return True

    def __enter__(self) -> OwnedProcess:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        """Closes the pipes and waits, as `Popen` does. An exception does not wait for the child: it stops the group."""
        try:
            if kind is not None:
                self.stop()
        finally:
            for pipe in (self.stdout, self.stderr, self.stdin):
                if pipe is not None:
                    try:
                        pipe.close()
                    except BrokenPipeError:
                        pass
        self.wait()

    def _look(self) -> bool:
        """Whether it has ended; notes how."""
        if self.returncode is not None or self.status_unknown:
            return True
        status = _abi.ExitStatus(_abi.EXIT_STATUS_BYTES)
        record = _abi.ErrorRecord(_abi.ERROR_BYTES)
        code = library.hermes_child_wait(self._handle, 0, byref(status), byref(record))
        if code == _abi.ERR_TIMEOUT:
            return False
        if code:
            raise error_of(record)
        if status.kind == _abi.UNKNOWN:
            self.status_unknown = True
        else:
            self.returncode = status.code if status.kind == _abi.EXITED else -status.code
        self._end = None
        return True

    def _end_descriptor(self) -> _Descriptor:
        """Readable once the leader has ended. Two threads that both make one do no harm."""
        end = self._end
        if end is None:
            end = self._end = _Descriptor(self._new_end_descriptor())
        return end

    def _new_end_descriptor(self) -> int:
        fd = c_int32()
        try:
            call("hermes_child_exit_fd", self._handle, byref(fd))
        except UnsupportedError:
            # Without the library's threads. Nobody but the library reaps a child of this process that still runs, so
            # if it is there after the pidfd was opened, the pidfd is its own.
            pidfd = os.pidfd_open(self.pid)
            self._look()
            return pidfd
        return fd.value


def _pauses() -> Iterator[float]:
    pause = 0.001
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def _set(future: asyncio.Future[None]) -> None:
    # Called again before its reader is removed, and for one that was cancelled.
    if not future.done():
        future.set_result(None)
