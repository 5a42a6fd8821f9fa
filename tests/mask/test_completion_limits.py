"""Completions that nobody wants written out are refused at once, and the longest that are not are right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.analysis.emptiness import is_empty, shortest
from sglc.automata.dfa import operations as dfa
from sglc.automata.dfa.nfa_union import concatenate
from sglc.automata.term import Bytes, Language, Repeat, Text
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import CompletionTooLong
from strategies.byte_vocabulary import BYTE_VOCABULARY


def nested(levels: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema, "minItems": 2}
    return schema


def doubled(levels: int) -> str:
    """A rule that is twice the next one, and so on."""
    lines = [f"r{level}: r{level + 1} r{level + 1}" for level in range(levels)]
    return "\n".join(["start: r0", *lines, f'r{levels}: "a" | "bb"'])


def in_brackets(levels: int) -> str:
    """A rule with the next one in brackets, and so on."""
    lines = [f'r{level}: "(" r{level + 1} ")" | "[[" r{level + 1} "]"' for level in range(levels)]
    return "\n".join(["start: r0", *lines, f'r{levels}: "a" | "bb"'])


@pytest.mark.parametrize(
    "constraint",
    [
        {"json_schema": {"type": "array", "minItems": 10**7, "items": {"type": "integer"}}},
        {"json_schema": {"type": "string", "minLength": 10**7}},
        {"json_schema": {"type": "object", "minProperties": 10**6}},
        {"json_schema": nested(60)},
        {"regex": "(((a{1000}){1000}){1000}){1000}"},
        {"grammar": doubled(200)},
    ],
    ids=["items", "characters", "properties", "nested", "pattern", "rules"],
)
def test_what_is_too_long_is_refused(constraint: dict[str, Any]) -> None:
    matcher = compile_constraint(**constraint).matcher(BYTE_VOCABULARY)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grammar", "word"),
    [
        (doubled(16), b"a" * 2**16),
        (in_brackets(1500), b"(" * 1500 + b"a" + b")" * 1500),
        ("start: WORD\nWORD: /" + "(a|b)" * 3000 + "/", b"a" * 3000),
    ],
    ids=["twice", "nested", "terminal"],
)
def test_the_shortest_text_of_a_grammar_is_written_whatever_its_rules(grammar: str, word: bytes) -> None:
    assert compile_constraint(grammar=grammar).matcher(BYTE_VOCABULARY).shortest_completion() == word


@settings(max_examples=examples(50), deadline=None)
@given(st.text("([{|", max_size=30), st.integers(0, 3))
def test_of_equally_short_texts_the_smallest_completes(opened: str, more: int) -> None:
    """Brackets are closed by what they stand for, or by a smaller sign where one is left."""
    grammar = """
        start: a
        a: "(" a ")" | "(" a "$" | "[" a "]" | "{" a "}" | "{" a "$$" | "|" a ")" | "|" a "(" | "x"
    """
    matcher = compile_constraint(grammar=grammar).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes((opened + "(" * more).encode())
    closing = {"(": "$", "[": "]", "{": "}", "|": "("}
    expected = "x" + "".join(closing[sign] for sign in reversed(opened + "(" * more))
    assert matcher.shortest_completion() == expected.encode()


@pytest.mark.slow
def test_what_is_kept_of_a_deep_text_grows_with_its_depth() -> None:
    matcher = compile_constraint(json_schema=True).matcher(BYTE_VOCABULARY)
    for _ in range(1_500):
        assert matcher.accept_bytes(b"[[")
        assert matcher.shortest_completion() == b"]" * (2 * matcher.steps)
    rests = matcher.machine.rests.values()
    assert sum(len(word) for _, word, _ in rests) < 10 * len(rests)
    assert matcher.machine.endings.bytes < 8 << 20


LETTERS = dfa.all_words(((0x61, 0x7A),))


def test_the_shortest_word_of_a_long_text_is_found_at_once() -> None:
    assert shortest(Language(Text(LETTERS, min_chars=300_000))) == b"a" * 300_000
    ends = concatenate(LETTERS, dfa.literal("!"))
    assert shortest(Language(Text(ends, min_chars=2_000))) == b"a" * 1_999 + b"!"


@pytest.mark.parametrize(
    "term", [Text(LETTERS, min_chars=10**9), Repeat(Bytes(b"ab"), 10**9, None, b"")], ids=["text", "repeat"]
)
def test_a_word_that_is_too_long_is_not_written_out(term: Any) -> None:
    with pytest.raises(dfa.TooLong):
        shortest(Language(term))
    assert not is_empty(Language(term))
