"""Events of a run, and their form as versioned JSON lines. `docs/trace.md` describes each event."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from time import time_ns
from typing import IO, Any

from sglc.cache_files import open_private

VERSION = 1
PIECES = frozenset({"text", "forced", "generated"})
"""Events that add text."""
FLUSHED_EVENTS = frozenset({"hole_end", "error", "finish", "check", "retry"})
"""Events after which a trace file is flushed, so that what stands in it is whole up to there."""
REST = 100_000_000
"""Nanoseconds of events after which it is flushed in any case, for those who read it while it grows."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `branch` is the path of fork indices (`0.2`), empty outside of forks.

    `span` is `file:line:column` of the instruction, empty where there is none. Keys of `data` depend on the
    kind: `text` of `text`, `forced` and `generated` pieces; `hole` of everything about one hole.
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    branch: str = ""
    span: str = ""
    time: int = field(default_factory=time_ns, compare=False)
    """When it happened, in nanoseconds since 1970. Events are told in the order of the program, so those of a
    call that ran ahead may be older than the one before them."""
    took: Mapping[str, object] = field(default_factory=dict, compare=False)
    """What it cost this process: keys that differ from run to run (`queue`, `reused` of a `hole_end`)."""

    @property
    def text(self) -> str:
        """The piece of text that an event of kind `text`, `forced` or `generated` adds; else empty."""
        return str(self.data.get("text", "")) if self.kind in PIECES else ""

    def line(self) -> str:
        """The event as one JSON line, without the line end."""
        row: dict[str, object] = {"v": VERSION, "event": self.kind, **self.data}
        if self.branch:
            row["branch"] = self.branch
        if self.span:
            row["span"] = self.span
        return json.dumps(row, ensure_ascii=False, default=_plain)


def _seconds(since: int, until: int) -> float:
    """Seconds between two times in nanoseconds, with 4 digits; 0 where the first is the later one."""
    return round(max(0, until - since) / 1e9, 4)


def _plain(value: object) -> str:
    return str(value) if isinstance(value, Decimal) else repr(value)


def plain_data(value: object) -> object:
    """Data of an event as JSON has it: what has no words of its own is text, what is not finite is null."""
    if isinstance(value, Mapping):
        return {str(name): plain_data(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(each) for each in value]
    if isinstance(value, float) and value - value != 0:
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


Listener = Callable[[Event], None]


class ListenerFault(Exception):
    """A listener has failed, not the program. `reason` is its exception."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class DeferredEvents:
    """Keeps the events of a call that runs ahead, until the call comes."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._listeners: tuple[Listener, ...] | None = None

    def __call__(self, event: Event) -> None:
        if self._listeners is None:
            self._events.append(event)
        else:
            for listener in self._listeners:
                listener(event)

    def pass_on(self, listeners: tuple[Listener, ...]) -> None:
        """Tell the listeners what was kept, and from now on everything at once."""
        for event in self._events:
            for listener in listeners:
                listener(event)
        self._events, self._listeners = [], listeners


class TraceWriter:
    """Writes events to a file as JSON lines. An event is a whole line or nothing.

    `generated` pieces are left out, because the tokens that make them up are written. Each event gets `t`,
    the seconds since the first one, and the end of a hole the `seconds` since its beginning, by their times.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._first: int | None = None
        self._flushed = 0
        self._begun: dict[tuple[str, object], int] = {}
        """When the hole began that is open, by branch and name."""

    @classmethod
    def open(cls, path: str | Path) -> TraceWriter:
        """A writer of a new file that its user alone may read (0600). Raises OSError."""
        return cls(open_private(path))

    def __call__(self, event: Event) -> None:
        if event.kind == "generated":
            return
        place = (event.branch, event.data.get("hole"))
        more: dict[str, object] = {}
        if event.kind == "hole_start":
            self._begun[place] = event.time
        elif event.kind == "hole_end" and place in self._begun:
            more["seconds"] = _seconds(self._begun.pop(place), event.time)
        if self._first is None:
            self._first = event.time
        more["t"] = _seconds(self._first, event.time)
        self._file.write(replace(event, data={**event.data, **more, **event.took}).line() + "\n")
        if event.kind in FLUSHED_EVENTS or event.time - self._flushed > REST:
            self._flushed = event.time
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
