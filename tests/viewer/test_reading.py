"""Reading traces: what is damaged is told with its line, what is sound is kept, and nothing is unbounded."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from hostile.traces import lines_of, read, traces
from sglc.viewer import reading as reader
from sglc.viewer.reading import TOLD_FAULTS, Event, Reading

GOOD = b'{"v": 1, "event": "text", "text": "a"}\n'


def events(data: bytes, **limits: int) -> tuple[list[Event], Reading]:
    reading = Reading()
    return list(reading.events(io.BytesIO(data), **limits)), reading


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"v": 1, "event": "text"\n', "not JSON: expecting ',' delimiter, column 25"),
        (b"\xff\n", "byte 1 is not UTF-8"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
        (b"[1]\n", "no event"),
        (b'{"v": 1, "event": 5}\n', "no event"),
        (b'{"v": 2, "event": "text"}\n', "of version 2 of the format; version 1 can be read"),
        (b'{"v": true, "event": "text"}\n', "of version True"),
        (b'{"event": "text"}\n', "of version None"),
    ],
)
def test_a_damaged_line_is_told_and_the_others_are_read(line: bytes, reason: str) -> None:
    found, reading = events(GOOD + line + b"\n" + GOOD)
    assert [event.line for event in found] == [1, 4]
    [fault] = reading.faults
    assert fault.line == 2 and reason in fault.reason and not fault.unfinished


@given(st.integers(1, len(GOOD) - 2))
def test_a_last_line_that_is_cut_short_is_told_as_such(length: int) -> None:
    found, reading = events(GOOD + GOOD[:length])
    assert len(found) == 1
    assert [(fault.line, fault.unfinished) for fault in reading.faults] == [(2, True)]


def test_a_whole_last_line_needs_no_line_end() -> None:
    found, reading = events(GOOD + GOOD[:-1])
    assert len(found) == 2 and not reading.faults


def test_only_some_damaged_lines_are_told_one_by_one() -> None:
    for many in (TOLD_FAULTS, TOLD_FAULTS + 1):
        _, reading = events(b"x\n" * many + GOOD)
        assert reading.damaged == many and len(reading.faults) == TOLD_FAULTS


def test_events_behind_the_limits_are_counted() -> None:
    for most, kept in ((4, 4), (5, 5), (6, 5)):
        found, reading = events(GOOD * 5, most=most)
        assert len(found) == kept and reading.left_out == 5 - kept and reading.lines == 5
    size = len(GOOD)
    for bytes_, kept in ((3 * size, 3), (4 * size - 1, 3), (4 * size, 4)):
        found, reading = events(GOOD * 5, most_bytes=bytes_)
        assert len(found) == kept and reading.left_out == 5 - kept


def test_nothing_behind_a_line_that_is_left_out_is_read() -> None:
    """What comes after a gap would stand in the wrong place."""
    long = b'{"v": 1, "event": "text", "text": "' + b"a" * 500 + b'"}\n'
    found, reading = events(GOOD + long + GOOD, most_bytes=300)
    assert len(found) == 1 and reading.left_out == 2


def test_a_line_without_end_is_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for longest, kept in ((len(GOOD), 3), (len(GOOD) - 2, 2)):
        monkeypatch.setattr(reader, "LONGEST_LINE", longest)
        short = GOOD.replace(b" ", b"")
        found, reading = events(short + GOOD + short)
        assert len(found) == kept and reading.lines == 3
        assert [fault.line for fault in reading.faults] == [2] * (3 - kept)


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(st.one_of(st.binary(), traces.map(lines_of)), st.data())
def test_no_file_is_too_damaged(data: bytes, draw: st.DataObject) -> None:
    cut = draw.draw(st.integers(0, len(data)))
    run, reading = read(data[:cut] + b"\xff{\n" + data[cut:])
    assert reading.damaged >= 1 and run.outcome


def test_numbers_are_finite_or_none() -> None:
    row: dict[str, Any] = json.loads('{"a": NaN, "b": Infinity, "c": 1e999, "d": 2, "e": true, "f": "x"}')
    event = Event("token", {**row, "g": 10**400}, 1)
    assert [event.number(key) for key in "abcdefg"] == [None, None, None, 2.0, None, None, None]
