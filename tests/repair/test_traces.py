"""Traces of repairs: what they tell is what is returned, and `sglc show` draws it."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import pytest

import sglc
from golden_case import GoldenCase, golden_cases
from hostile.traces import read
from sglc.runtime.vm.state.trace import Event, TraceWriter
from sglc.viewer.terminal import TerminalPicture


def answering(*answers: Any) -> Any:
    """A function that gives these answers, one a call, the last one again and again."""
    left = list(answers)
    return lambda prompt: left.pop(0) if len(left) > 1 else left[0]


def written(*answers: Any, **options: Any) -> tuple[str, list[dict[str, Any]]]:
    """The trace of a repair without its times, as a file has it, and its events."""
    file = io.StringIO()
    try:
        sglc.repair(answering(*answers), trace=TraceWriter(file), **options)
    except sglc.RunError as error:
        assert error.name in ("Truncated", "Backend", "Unsatisfiable")
    rows = [json.loads(line) for line in file.getvalue().splitlines()]
    for row in rows:
        row.pop("seconds", None)
        del row["t"]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), rows


@pytest.mark.parametrize("case", golden_cases("show/repairs"), ids=str)
def test_pictures(case: GoldenCase, golden: Any) -> None:
    options, *answers = [json.loads(line) for line in case.input.splitlines()]
    trace, rows = written(*answers, **options)
    picture = TerminalPicture(*read(trace.encode()), columns=None, color=False, verbose=True)
    kinds = " ".join(row["event"] for row in rows)
    golden(case, "\n".join([kinds, *(line.plain for line in picture.lines())]))


def test_events_tell_what_is_returned() -> None:
    heard: list[Event] = []
    answers = ("[1; 2]", " 3 or so")
    found = sglc.repair(answering(*answers), "Numbers: ", regex=r"\[\d(, \d)+\]", trace=heard.append)
    corrections = [event.data for event in heard if event.kind == "correction"]
    assert len(corrections) == len(found.corrections) == 2
    for told, each in zip(corrections, found.corrections, strict=True):
        assert told == {
            "hole": "repair.text",
            "at": each.at,
            "wrong": each.wrong,
            "put": each.put,
            "by": each.by,
        }
    told = [event.data for event in heard if event.kind == "answer"]
    assert len(told) == found.calls and sum(each["written"] for each in told) == found.written
    end = next(event.data for event in heard if event.kind == "hole_end")
    assert end["text"] == found.text and end["ended"] == found.ended
    assert (end["calls"], end["written"], end["spent"]) == (found.calls, found.written, found.tokens)
    assert heard[1].data == {"text": "Numbers: ", "inserted": True}
    assert heard[-1].kind == "finish" and heard[-1].data["seconds"] == pytest.approx(found.seconds, abs=1e-4)
    awaited: list[Event] = []
    again = sglc.repair_async(answering(*answers), "Numbers: ", regex=r"\[\d(, \d)+\]", trace=awaited.append)
    assert asyncio.run(again).text == found.text
    assert [e.data for e in awaited if e.kind != "finish"] == [e.data for e in heard if e.kind != "finish"]


def test_a_repair_that_fails_tells_the_error_and_what_was_legal() -> None:
    heard: list[Event] = []
    with pytest.raises(sglc.RunError) as caught:
        sglc.repair(answering("a?"), regex="([ab] )*c", max_corrections=2, trace=heard.append)
    assert [event.kind for event in heard if event.kind in ("hole_end", "finish")] == []
    error = heard[-1]
    assert error.kind == "error" and error.data["name"] == caught.value.name == "Truncated"
    assert error.data["partial"] == caught.value.partial and error.data["caught"] is False
    heard.clear()
    with pytest.raises(sglc.RunError):
        sglc.repair(answering(3), regex="[0-9]*;", trace=heard.append)
    assert [event.kind for event in heard] == ["start", "hole_start", "answer", "error"]


def test_characters_that_no_text_may_have_are_written_as_escapes() -> None:
    trace, rows = written("1\ud800", regex="[0-9];", prompt="a\udcff")
    assert next(row["wrong"] for row in rows if row["event"] == "correction") == "\\ud800"
    assert rows[1]["text"] == "a\\udcff" and trace.encode()
