"""Formatting as edits: they lead to the formatted text, and declarations are formatted whole or not."""

from __future__ import annotations

from random import Random

import pytest

from example_budget import examples
from layouts.restyled import restyled
from sglc.diagnostics.edits import edited
from sglc.format.edits import formatted_range, formatting_edits
from sglc.format.formatter import formatted
from sglc.source import Source
from sglc.syntax.dump import dump
from sglc.syntax.parse import parse
from strategies.mutated_programs import originals

TWO = "fn f() -> int:\n  return 1\n\n\n# of g\nfn g() -> int:\n  return  2\n"


def made(text: str, edits: object) -> str:
    return edited(text, edits)  # type: ignore[arg-type]


def shown(text: str, start: int, end: int) -> list[tuple[int, str, str]]:
    edits, found = formatted_range(Source("program.sgl", text), start, end)
    assert not found
    return [(edit.span.start, edit.span.text, edit.text) for edit in edits]


def test_an_edit_is_as_small_as_it_can_be():
    assert shown("const A = 1\nconst B=2 # two\nconst C = 3\n", 0, 0) == []
    assert shown("const A = 1\nconst B=2 # two\n", 0, 100) == [(19, "=2", " = 2 ")]
    assert shown("fn f() -> int:\n  return 1\n", 0, 0) == [(17, "", "  ")]


def test_a_range_formats_the_declarations_that_it_touches():
    second = TWO.index("of g")
    assert formatted(Source("p", TWO))[0] == (
        "fn f() -> int:\n    return 1\n\n# of g\nfn g() -> int:\n    return 2\n"
    )
    assert made(TWO, formatted_range(Source("p", TWO), 0, 3)[0]) == TWO.replace("  return 1", "    return 1")
    assert made(TWO, formatted_range(Source("p", TWO), second, second)[0]) == (
        "fn f() -> int:\n  return 1\n\n# of g\nfn g() -> int:\n    return 2\n"
    )
    assert formatted_range(Source("p", TWO), 0, len(TWO))[0]


def test_a_program_with_errors_has_no_edits():
    edits, found = formatting_edits(Source("p", "fn f(:\n"))
    assert not edits and found


def test_a_long_declaration_is_compared_in_bounded_time():
    text = "fn f():\n" + "  user: | x\n" * 3000
    edits, _ = formatting_edits(Source("p", text))
    assert made(text, edits) == formatted(Source("p", text))[0]


@pytest.mark.parametrize("number", range(examples(40)))
def test_edits_lead_to_the_formatted_text_and_parts_are_the_same_program(number):
    dice = Random(number)
    programs = originals()[:60]
    text = restyled(dice.choice(programs).text, dice)
    source = Source("program.sgl", text)
    edits, found = formatting_edits(source)
    if found:
        return
    result = formatted(source)[0]
    assert made(text, edits) == result
    start = dice.randrange(len(text) + 1)
    part = made(text, formatted_range(source, start, dice.randrange(start, len(text) + 1))[0])
    assert dump(parse(Source("program.sgl", part))[0]) == dump(parse(source)[0])
    assert formatted(Source("program.sgl", part))[0] == result
