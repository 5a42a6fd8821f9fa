"""Completions that nobody wants written out are refused at once, and the longest that are not are right."""

from __future__ import annotations

from typing import Any

import pytest

from sglc.automata import dfa
from sglc.automata.emptiness import is_empty, shortest
from sglc.automata.term import Bytes, Language, Repeat, Text
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.errors import CompletionTooLong
from test_mask_exactness import BYTE_VOCABULARY


def nested(levels: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema, "minItems": 2}
    return schema


@pytest.mark.parametrize(
    "given",
    [
        {"json_schema": {"type": "array", "minItems": 10**9, "items": {"type": "integer"}}},
        {"json_schema": {"type": "string", "minLength": 10**12}},
        {"json_schema": {"type": "object", "minProperties": 10**6}},
        {"json_schema": nested(60)},
        {"regex": "(((a{1000}){1000}){1000}){1000}"},
    ],
    ids=["items", "characters", "properties", "nested", "pattern"],
)
def test_what_is_too_long_is_refused(given: dict[str, Any]) -> None:
    matcher = compile_constraint(**given).matcher(BYTE_VOCABULARY)
    assert matcher.mask().any()
    with pytest.raises(CompletionTooLong):
        matcher.shortest_completion()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 3000, "items": {"type": "integer"}},
        {"type": "string", "minLength": 9000},
        {"type": "object", "minProperties": 60},
        nested(9),
    ],
    ids=["items", "characters", "properties", "nested"],
)
def test_what_is_long_is_completed(schema: Any) -> None:
    matcher = compile_constraint(json_schema=schema).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(matcher.shortest_completion())
    assert matcher.is_accepting()


LETTERS = dfa.all_words(((0x61, 0x7A),))


def test_the_shortest_word_of_a_long_text_is_found_at_once() -> None:
    assert shortest(Language(Text(LETTERS, min_chars=300_000))) == b"a" * 300_000
    ends = dfa.concatenate(LETTERS, dfa.literal("!"))
    assert shortest(Language(Text(ends, min_chars=2_000))) == b"a" * 1_999 + b"!"


@pytest.mark.parametrize(
    "term", [Text(LETTERS, min_chars=10**9), Repeat(Bytes(b"ab"), 10**9, None, b"")], ids=["text", "repeat"]
)
def test_a_word_that_is_too_long_is_not_written_out(term: Any) -> None:
    with pytest.raises(dfa.TooLong):
        shortest(Language(term))
    assert not is_empty(Language(term))
