"""Breakpoints from Python: a function that is called before every hole, and says how the run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sglc
from debugging.scripts import PROGRAMS
from sglc.debug.doors import Here


def notes(breakpoint: Callable[[Here], object]) -> Any:
    module = sglc.load(PROGRAMS / "notes.sgl", f"scripted:{PROGRAMS / 'notes.json'}")
    return module.ask.run("tea", breakpoint_=breakpoint)


def test_it_is_called_before_every_hole() -> None:
    seen: list[tuple[str, int, object]] = []
    found = notes(lambda here: seen.append((here.hole, here.line, here.variables.get("i"))))
    assert [each[:2] for each in seen] == [
        *[("ask.note", 16), ("ask.note", 16), ("ask.sum", 19), ("ask.sum", 19)]
    ]
    assert [record.text for record in found.holes][-1] == "7"


def test_it_gives_values_and_goes_back() -> None:
    visits: list[str] = []

    def look(here: Here) -> object:
        visits.append(f"{here.reason} {here.hole}")
        if here.hole == "ask.sum" and "back ask.note" not in visits:
            return here.back(1)
        return here.force('{"mood": "angry", "size": 3}') if here.reason == "back" else None

    found = notes(look)
    assert visits[:5] == ["hole ask.note", "hole ask.note", "hole ask.sum", "back ask.note", "hole ask.note"]
    assert json.loads(found.holes[0].text) == {"mood": "angry", "size": 3}
    assert found.value.size == 3


def test_it_sees_masks_and_the_conversation() -> None:
    async def look(here: Here) -> object:
        assert here.conversation[-1] == ("assistant", "A: ")
        mask = await here.mask()
        assert mask.allowed == 2 and [each.text for each in mask.after][:1] == ["c"]
        return here.end()

    with pytest.raises(sglc.RunError, match="ended by the debugger"):
        notes(look)


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (lambda here: here.force("nothing"), ValueError, "no value of `ask.note`"),
        (lambda here: here.back("sum"), ValueError, "no hole `sum`"),
        (lambda here: 7, TypeError, "answers with None"),
    ],
)
def test_wrong_answers_end_the_call(
    answer: Callable[[Here], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        notes(answer)


def test_a_decorated_function_has_the_same_door(tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text('["sea"]', encoding="utf-8")

    @sglc.sgl_function(model=f"scripted:{script}")
    def ask(s: Any) -> None:
        s += "A word: "
        s += sglc.gen("word", regex="[a-z]{2,5}")

    def look(here: Here) -> object:
        return here.force("tide")

    assert sglc.execute(ask, breakpoint=look)["word"] == "tide"
