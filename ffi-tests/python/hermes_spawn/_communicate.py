"""Talking to a child's three streams at once."""

from __future__ import annotations

import io
import os
import select
import selectors
import time
from typing import IO, Any, Optional


class Conversation:
    """What has been said so far survives a timeout, so that `communicate` can be called again."""

    def __init__(
        self, stdin: Optional[IO[Any]], stdout: Optional[IO[Any]], stderr: Optional[IO[Any]], said: Any
    ) -> None:
        self._stdin = stdin
        self._outputs = (stdout, stderr)
        self._heard: list[list[bytes]] = [[], []]
        self._to_say = memoryview(_as_bytes(stdin, said))
        if stdin is not None and not stdin.closed:
            try:
                stdin.flush()
            except BrokenPipeError:
                pass
            if not self._to_say:
                self._hang_up()

    def go_on(self, deadline: Optional[float]) -> bool:
        """Until all is said and heard; false if the deadline is over before."""
        with selectors.DefaultSelector() as selector:
            if self._stdin is not None and not self._stdin.closed:
                selector.register(self._stdin, selectors.EVENT_WRITE)
            for number, output in enumerate(self._outputs):
                if output is not None and not output.closed:
                    selector.register(output, selectors.EVENT_READ, number)
            while selector.get_map():
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left < 0:
                    return False
                for key, _ in selector.select(left):
                    done = self._say() if key.fileobj is self._stdin else self._hear(key.data)
                    if done:
                        selector.unregister(key.fileobj)
                        self._close(key.fileobj)
        return True

    def heard(self, number: int) -> Optional[bytes]:
        """What one stream has said so far, as bytes; `None` if it is no pipe."""
        return None if self._outputs[number] is None else b"".join(self._heard[number])

    def result(self) -> tuple[Any, Any]:
        return (self._text(0), self._text(1))

    def _text(self, number: int) -> Any:
        output, data = self._outputs[number], self.heard(number)
        if data is None or not isinstance(output, io.TextIOWrapper):
            return data
        return data.decode(output.encoding, output.errors or "strict").replace("\r\n", "\n").replace("\r", "\n")

    def _say(self) -> bool:
        assert self._stdin is not None
        try:
            # So much goes into a pipe that poll calls writable without waiting.
            written = os.write(self._stdin.fileno(), self._to_say[: select.PIPE_BUF])
        except BrokenPipeError:
            return True
        self._to_say = self._to_say[written:]
        return not self._to_say

    def _hear(self, number: int) -> bool:
        output = self._outputs[number]
        assert output is not None
        data = os.read(output.fileno(), 32768)
        self._heard[number].append(data)
        return not data

    def _hang_up(self) -> None:
        if self._stdin is not None:
            self._close(self._stdin)

    @staticmethod
    def _close(stream: Any) -> None:
        try:
            stream.close()
        except BrokenPipeError:
            pass


def _as_bytes(stdin: Optional[IO[Any]], said: Any) -> Any:
    if not said:
        return b""
    if stdin is None:
        raise ValueError("there is no pipe to the child's stdin to send input to")
    if isinstance(stdin, io.TextIOWrapper):
        return said.encode(stdin.encoding, stdin.errors)
    return said
