"""Runs on a terminal: what is said, that nothing steers the terminal, and that lines fit."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from example_budget import examples
from golden_case import GoldenCase, golden_cases
from hostile.traces import lines_of, read, trace_of, traces
from sglc.viewer.terminal import DEEPEST_BAR, LEAST_COLUMNS, TerminalPicture

Golden = Callable[[GoldenCase, str], None]


def lines(trace: bytes, columns: int | None = None, color: bool = False) -> list[Text]:
    run, reading = read(trace)
    return list(TerminalPicture(run, reading, columns=columns, color=color, verbose=True).lines())


@pytest.mark.parametrize("case", golden_cases("show/runs"), ids=str)
def test_runs(case: GoldenCase, golden: Golden) -> None:
    golden(case, "\n".join(line.plain for line in lines(trace_of(case.input))))


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(traces, st.sampled_from([40, 100]), st.booleans())
def test_any_events_make_lines_that_fit_and_steer_nothing(
    rows: list[dict[str, Any]], columns: int, color: bool
) -> None:
    for line in lines(lines_of(rows), columns, color):
        assert line.cell_len <= max(columns, 2 * DEEPEST_BAR + 2 + LEAST_COLUMNS)
        categories = {unicodedata.category(char) for char in line.plain}
        assert not categories & {"Cc", "Cf", "Cs", "Zl", "Zp"}, line.plain


HOLE = """
{"e": "hole_start", "hole": "f.x"}
{"e": "forced", "hole": "f.x", "text": "sure"}
{"e": "token", "hole": "f.x", "text": "calm", "pressure": 0.05, "top": [["odd", -1.0, false]]}
{"e": "token", "hole": "f.x", "text": "fought", "pressure": 5.0}
{"e": "hole_end", "hole": "f.x", "text": "surecalmfought"}
"""


def test_colours_tell_forced_drawn_and_fought() -> None:
    [line] = [line for line in lines(trace_of(HOLE), 80, color=True) if line.plain == "  surecalmfought"]
    styles = {line.plain[span.start : span.end]: str(span.style) for span in line.spans}
    assert styles["sure"] == "dim" and styles["calm"] == "bold" and "red" in styles["fought"]
    [told] = [line for line in lines(trace_of(HOLE), 80, color=True) if "'odd'" in line.plain]
    assert any("strike" in str(span.style) for span in told.spans)


@pytest.mark.parametrize("color", [True, False])
def test_only_a_picture_in_colours_has_escapes(color: bool) -> None:
    run, reading = read(trace_of(HOLE))
    out = io.StringIO()
    TerminalPicture(run, reading, columns=60, color=color, verbose=False).write(out)
    assert ("\x1b[" in out.getvalue()) is color
    assert all(not line.endswith(" ") for line in out.getvalue().splitlines())


def test_deep_calls_keep_room_for_text() -> None:
    """Bars are drawn for as many groups as leave room, on both sides of that number."""
    for deep in (DEEPEST_BAR - 1, DEEPEST_BAR + 3):
        calls = "\n".join(f'{{"e": "call", "function": "g{n}"}}' for n in range(deep))
        [line] = [
            line
            for line in lines(trace_of(calls + '\n{"e": "text", "text": "here"}'), 30)
            if "here" in line.plain
        ]
        assert line.plain.count("│") == min(deep, DEEPEST_BAR)
