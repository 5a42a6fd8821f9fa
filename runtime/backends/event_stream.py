"""Server-sent events, as the WHATWG's HTML standard has them (section 9.2.6, "Interpreting an event stream").

Bytes may be cut anywhere, inside characters and line ends too. Two things are stricter than there: bytes that
are no UTF-8 and lines without end break the protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from sglc.runtime.backends.exchange import BackendFault

_T = TypeVar("_T")
LONGEST_LINE = 4 << 20
"""Bytes of a line. The longest are chunks with log-probabilities of some thousand prompt tokens."""
LONGEST_EVENT = 16 << 20
"""Bytes of the data of an event, which may have many lines."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its type (`message` where none is given) and its data, lines joined."""

    type: str
    data: str


class EventStreamReader:
    """Takes bytes in, gives events out. An event is whole at the blank line behind it, and not before."""

    def __init__(self, *, longest_line: int = LONGEST_LINE, longest_event: int = LONGEST_EVENT) -> None:
        self._longest_line = longest_line
        self._longest_event = longest_event
        self._rest = bytearray()
        self._searched = 0
        self._after_return = False
        self._begun = False
        self._type = ""
        self._data: list[str] = []
        self._size = 0

    def take(self, piece: bytes) -> Iterator[ServerEvent]:
        """The events that a piece ends. Raises BackendFault at what breaks the protocol."""
        self._rest += piece
        while (line := self._line()) is not None:
            event = self._enter(line)
            if event is not None:
                yield event
        if len(self._rest) > self._longest_line:
            raise BackendFault("protocol", f"a line of the stream has more than {self._longest_line:,} bytes")

    def _line(self) -> bytes | None:
        """The next line without its end, which is CR, LF or both; None where it is not whole."""
        if self._after_return and self._rest:
            if self._rest[0] == 0x0A:
                del self._rest[0]
            self._after_return = False
        feed = self._rest.find(b"\n", self._searched)
        back = self._rest.find(b"\r", self._searched, None if feed < 0 else feed)
        end = feed if back < 0 else back
        if end < 0:
            self._searched = len(self._rest)
            return None
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        self._searched = 0
        self._after_return = back >= 0
        if len(line) > self._longest_line:
            raise BackendFault("protocol", f"a line of the stream has more than {self._longest_line:,} bytes")
        return line

    def _enter(self, line: bytes) -> ServerEvent | None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        if line.startswith(b":"):
            return None
        try:
            field, _, value = line.decode("utf-8").partition(":")
        except UnicodeDecodeError:
            raise BackendFault("protocol", "a line of the stream is no UTF-8", again=True) from None
        value = value.removeprefix(" ")
        if field == "event":
            self._type = value
        elif field == "data":
            self._size += len(value) + 1
            if self._size > self._longest_event:
                raise BackendFault("protocol", f"an event has more than {self._longest_event:,} bytes")
            self._data.append(value)
        return None

    def _dispatch(self) -> ServerEvent | None:
        data = "\n".join(self._data)
        found = ServerEvent(self._type or "message", data) if self._data else None
        self._type, self._data, self._size = "", [], 0
        return found


async def server_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent]:
    """The events of a body; what is begun at its end is no event."""
    reader = EventStreamReader()
    async with closed_after(pieces):
        async for piece in pieces:
            for event in reader.take(piece):
                yield event


@asynccontextmanager
async def closed_after(iterator: AsyncIterator[_T]) -> AsyncIterator[AsyncIterator[_T]]:
    """Closes an iterator at the end of the block, where it can be closed: an asynchronous generator can."""
    try:
        yield iterator
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()
