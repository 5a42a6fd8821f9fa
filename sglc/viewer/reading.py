"""From the lines of a trace to its events. What is damaged is told with its line, and what is sound is kept.

`docs/trace.md` describes the format. Readers skip kinds and keys that they do not know.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

VERSION = 1
"""The version of the format that is read. Another one means that the meaning of a key has changed."""
LONGEST_LINE = 32 * 1024 * 1024
"""Most bytes of a line. The longest text of the language has 4 million characters, at most 6 bytes each in
JSON; a file of other kinds may be a single line of any length, which need not be held in memory."""
MOST_EVENTS = 200_000
"""Most events that are read: each takes up to a kilobyte of memory and some hundred bytes of a page. A long
generation has 10,000 tokens."""
MOST_BYTES = 48 * 1024 * 1024
"""Bytes behind which nothing more is read, so that a page has at most some times as many: 200,000 events of
the usual kind, with five candidates each, and room for the longest line."""
TOLD_FAULTS = 8
"""Most damaged lines that are told one by one; a file of another kind has nothing but damaged lines."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its kind, its other keys, its line in the file."""

    kind: str
    data: Mapping[str, Any]
    line: int

    def text(self, key: str) -> str:
        """A text; empty where there is none, or something else."""
        found = self.data.get(key)
        return found if isinstance(found, str) else ""

    def number(self, key: str) -> float | None:
        """A finite number, None where there is none."""
        return number(self.data.get(key))

    def count(self, key: str) -> int | None:
        """A whole number from 0 on, None where there is none."""
        found = self.data.get(key)
        return found if type(found) is int and found >= 0 else None

    def texts(self, key: str) -> list[str]:
        """The texts of a list; none where there is no list."""
        found = self.data.get(key)
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def number(value: object) -> float | None:
    """A finite number as a float, None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that was not read, and why. `unfinished` is the last line of a run that was cut short."""

    line: int
    reason: str
    unfinished: bool = False
    version: bool = False
    """Whether the line is sound, but of another version of the format."""


@dataclass(slots=True)
class Reading:
    """What reading a trace came to. It is whole when `events` has ended."""

    faults: list[Fault] = field(default_factory=list)
    """The first of them."""
    damaged: int = 0
    """How many lines were not read."""
    lines: int = 0
    size: int = 0
    """Bytes of the lines that were read."""
    left_out: int = 0
    """Lines behind the last event that was read."""

    def note(self, fault: Fault) -> None:
        """One line more was not read."""
        self.damaged += 1
        if len(self.faults) < TOLD_FAULTS:
            self.faults.append(fault)

    def events(
        self, file: IO[bytes], *, most: int = MOST_EVENTS, most_bytes: int = MOST_BYTES
    ) -> Iterator[Event]:
        """The sound events of a file, at most `most` of them from `most_bytes`; the lines behind them are
        counted."""
        read = 0
        for line, whole in _lines(file):
            self.lines += 1
            if not line.strip():
                continue
            if read == most or self.size + len(line) > most_bytes:
                self.left_out += 1
                self.size = most_bytes  # nothing behind a gap is read
                continue
            self.size += len(line)
            found = self._event(line, whole)
            if found is not None:
                read += 1
                yield found

    def _event(self, line: bytes, whole: bool) -> Event | None:
        at = self.lines
        if not whole and not line.endswith(b"\n") and len(line) > LONGEST_LINE:
            self.note(Fault(at, f"it has more than {LONGEST_LINE:,} bytes"))
            return None
        try:
            data = json.loads(line.rstrip(b"\r\n"))
        except (ValueError, RecursionError) as problem:
            if whole:
                self.note(Fault(at, f"it is not JSON: {_reason(problem)}"))
            else:
                self.note(Fault(at, "it is unfinished: the run was cut short, or goes on", unfinished=True))
            return None
        kind = data.get("event") if isinstance(data, dict) else None
        if not isinstance(kind, str):
            self.note(Fault(at, "it is no event: an object with the text `event` was expected"))
            return None
        version = data.get("v")
        if version != VERSION or isinstance(version, bool):
            told = f"it is of version {str(version)[:20]} of the format; version {VERSION} can be read"
            self.note(Fault(at, told, version=True))
            return None
        return Event(kind, data, at)


def _lines(file: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each line, and whether its end is there. Of a line that is too long only the beginning is given."""
    while line := file.readline(LONGEST_LINE + 1):
        whole = line.endswith(b"\n")
        if not whole and len(line) > LONGEST_LINE:
            while more := file.readline(LONGEST_LINE):
                if more.endswith(b"\n"):
                    break
        yield line, whole


def _reason(problem: Exception) -> str:
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg[:1].lower()}{problem.msg[1:]}, column {problem.colno}"
    if isinstance(problem, UnicodeDecodeError):
        return f"byte {problem.start + 1} is not UTF-8"
    return "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)[:100]
