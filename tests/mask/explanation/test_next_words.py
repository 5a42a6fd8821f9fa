"""`Matcher.words` and `Matcher.accept_prefix`: what they promise, on examples and on random languages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.term_oracle import viable
from sglc.automata.analysis.emptiness import is_empty
from sglc.automata.term import Language
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.mask.matcher import Matcher
from strategies.mask_cases import prefixes
from strategies.typed_values import languages

MOOD = {
    "type": "object",
    "properties": {"mood": {"enum": ["calm", "furious", "größe"]}, "age": {"type": "integer"}},
    "required": ["mood", "age"],
    "additionalProperties": False,
}
NUMBERS = [*"0123456789", *(f"-{digit}" for digit in range(1, 10))]


def at(prefix: str, **constraint: Any) -> Matcher:
    matcher = compile_constraint(**constraint).matcher(byte_vocabulary())
    assert matcher.accept_bytes(prefix.encode())
    return matcher


@pytest.mark.parametrize(
    ("prefix", "constraint", "words"),
    [
        (
            "",
            {"choices": ["red", "green", "gray", "é", "light blue"]},
            ["é", "red", "gray", "green", "light"],
        ),
        ("", {"regex": "[ab]c|no"}, ["ac", "bc", "no"]),
        ('{"mood": ', {"json_schema": MOOD}, ['"calm', '"furious', '"größe']),
        (
            '{"mood": "calm", "age": ',
            {"json_schema": MOOD},
            [*"0123456789", *(f"-{n}" for n in range(1, 10))],
        ),
        ("", {"regex": r"\s*x"}, ["x"]),
        ("", {"regex": r"(\\frac|\\sum)"}, ["\\sum", "\\frac"]),
        ("x", {"regex": "x"}, []),
        ("", {"regex": "[a-z]{5}"}, ["aaaaa"]),
    ],
)
def test_examples(prefix: str, constraint: dict[str, Any], words: list[str]) -> None:
    assert [word.decode() for word in at(prefix, **constraint).words()] == words


def test_as_many_and_as_long_as_asked_for() -> None:
    """Without the bound on branching, `[ab]{64}` would take longer than the age of the world."""
    many = at("", regex="[ab]{64}")
    assert len(many.words()) == len(set(many.words())) == 20
    assert {len(word) for word in many.words()} == {64}
    assert [len(word) for word in many.words(3, longest=7)] == [7, 7, 7]
    twenty = at("", choices=[f"w{n:02}" for n in range(20)])
    assert len(twenty.words()) == 20 and len(twenty.words(19)) == 19


def nonempty() -> st.SearchStrategy[Language]:
    return languages().filter(lambda language: not is_empty(language))


@given(st.data())
def test_words_are_legal_and_there_are_some_where_a_word_may_come(data: st.DataObject) -> None:
    language: Language = data.draw(nonempty())
    prefix = data.draw(prefixes(language))
    matcher = compile_constraint(language=language).matcher(byte_vocabulary())
    if not matcher.accept_bytes(prefix):
        return
    words = matcher.words()
    for word in words:
        assert word.strip() and matcher.clone().accept_bytes(word) and viable(language, prefix + word)
    if matcher.forced().strip() and matcher.forced().isascii():
        assert words


@given(st.data())
def test_accept_prefix_takes_what_is_legal_byte_by_byte(data: st.DataObject) -> None:
    language: Language = data.draw(nonempty())
    text = data.draw(prefixes(language)) + data.draw(st.binary(max_size=3)) + data.draw(prefixes(language))
    start = compile_constraint(language=language).matcher(byte_vocabulary())
    slow, count = start.clone(), 0
    while count < len(text) and slow.accept(text[count]):
        count += 1
    quick = start.clone()
    assert quick.accept_prefix(text) == count
    assert quick.config == slow.config and quick.text() == text[:count] and quick.steps == bool(count)
