"""The layout of programs, by example."""

from __future__ import annotations

import pytest

from golden_case import golden_cases
from layouts.laws import keeps_the_laws
from sglc.format.formatter import formatted
from sglc.format.quoted import quoted
from sglc.source import Source, Span


@pytest.mark.parametrize("case", golden_cases("format/layouts"), ids=str)
def test_programs_have_one_layout(case, golden):
    text = case.input + "\n"
    result, found = formatted(Source("program.sgl", text))
    assert not found, found
    golden(case, result)
    assert keeps_the_laws(text)


def quote(text: str) -> str:
    return quoted(Span(Source("program.sgl", text), 0, len(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", "n"),
        ("n>3", "n > 3"),
        ("len(  x )==[1,2 ,][0]", "len(x) == [1, 2][0]"),
        ('all([\n    a != "  ",  # why\n    b\n])', 'all([a != "  ", b])'),
        ("x ==  'python'", "x == 'python'"),
        ("x\n  is None", "x is None"),
        ("", ""),
    ],
)
def test_conditions_are_quoted_in_one_spelling(text, expected):
    assert quote(text) == expected
