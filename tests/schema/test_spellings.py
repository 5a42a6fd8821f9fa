"""How numbers of schemas are spelled."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.analysis.membership import is_word
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions

Spelling = Literal["canonical", "any"]
SPELLINGS: tuple[Spelling, ...] = ("canonical", "any")
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**30), 10**30),
    st.sampled_from([1e300, -1e300, 1.7976931348623157e308, 5e-324, 0.0, -0.0, 1.0, -3.0, 1e16, 10**310]),
)


def accepted(schema: Any, texts: list[str], spelling: Spelling) -> list[str]:
    language = compile_schema(schema, SchemaOptions(spelling=spelling))
    return [text for text in texts if is_word(language, text)]


@given(st.lists(NUMBERS, min_size=1, max_size=4))
@settings(max_examples=examples(16), deadline=None)
def test_a_constant_may_be_written_as_json_dumps_writes_it(values: list[float]) -> None:
    texts = [json.dumps(value) for value in values]
    for spelling in SPELLINGS:
        assert accepted({"enum": values}, texts, spelling) == texts
        assert accepted({"const": values[0]}, texts[:1], spelling) == texts[:1]
        whole = json.dumps(values)
        assert accepted({"const": values}, [whole], spelling) == [whole]


def test_zero_has_a_minus_in_any_spelling_only() -> None:
    texts = ["0", "-0", "0.0", "-0.0", "-0.00", "00", "-", "0e0"]
    assert accepted({"const": 0}, texts, "any") == ["0", "-0", "0.0", "-0.0", "-0.00"]
    assert accepted({"const": 0}, texts, "canonical") == ["0"]
    assert accepted({"const": -0.0}, texts, "canonical") == ["0", "-0.0"]
    assert accepted({"enum": [1, 2]}, ["-1", "-0", "1.0", "2"], "any") == ["1.0", "2"]
    assert accepted({"not": {"const": 0}}, texts, "any") == []


def test_an_integer_keeps_its_one_canonical_spelling() -> None:
    assert accepted({"const": 1}, ["1", "1.0"], "canonical") == ["1"]
    assert accepted({"const": 1.0}, ["1", "1.0", "1.00"], "canonical") == ["1", "1.0"]


@pytest.mark.parametrize(
    ("schema", "taken"),
    [
        ({"type": "number"}, ["1e400", "1e30", "1.0e30", "10e29", "100000e25", "1E30", "0e1"]),
        ({"minimum": 0}, ["1e30", "1.0e30", "10e29", "1E30", "0e1"]),
        ({"type": "integer"}, ["1e30", "10e29", "1E30", "0e1"]),
        ({"type": "integer", "minimum": 0}, ["1e30", "1E30"]),
        ({"const": 1e30}, ["1e+30"]),
    ],
)
def test_exponents_are_those_of_the_page(schema: Any, taken: list[str]) -> None:
    texts = ["1e400", "1e30", "1.0e30", "10e29", "100000e25", "1E30", "1e+30", "0e1", "1e1000"]
    found = [text for text in accepted(schema, texts, "any") if text != "1e+30"] or ["1e+30"]
    assert found == taken
