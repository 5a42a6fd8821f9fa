"""What all words of a language begin and end with, against the words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.analysis.certain_text import LONGEST, MOST_PLACES, certain_beginning, certain_end
from sglc.automata.analysis.emptiness import shortest_words
from sglc.automata.dfa.operations import TooLarge
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import (
    Anything,
    Bytes,
    Choice,
    Except,
    Language,
    Nothing,
    Repeat,
    Rule,
    Sequence,
    Term,
    Text,
    Words,
)
from sglc.types.language.language import language
from sglc.types.type import Alternatives, Constant, FieldType, Int, Named, Optional, RecordType, Str, TupleOf
from strategies.typed_values import languages, types, words_of

FEW = 200


def in_common(texts: list[str]) -> str:
    size = 0
    while all(len(text) > size and text[size] == texts[0][size] for text in texts):
        size += 1
    return texts[0][:size]


def certain(described: Language) -> tuple[str, str]:
    begins = certain_beginning(described)
    return begins, certain_end(described, begins)


@pytest.mark.slow
@given(data=st.data(), described=languages())
@settings(max_examples=examples(120))
def test_every_word_of_random_languages_has_both(data: st.DataObject, described: Language) -> None:
    begins, ends = certain(described)
    try:
        words = shortest_words(described, 20)
    except TooLarge:
        words = ()
    for word in (*words, *(data.draw(words_of(described)) for _ in range(3 if words else 0))):
        text = word.decode("utf-8", "replace")
        assert text.startswith(begins) and text.endswith(ends) and len(text) >= len(begins + ends)


@pytest.mark.slow
@given(drawn=types())
@settings(max_examples=examples(120))
def test_every_text_of_random_types_has_both(drawn: tuple[Any, Any]) -> None:
    described = language(*drawn)
    begins, ends = certain(described)
    for word in shortest_words(described, 30):
        text = word.decode()
        assert text.startswith(begins) and text.endswith(ends) and len(text) >= len(begins + ends)


CONSTANTS = st.sampled_from(
    ["red", "reed", "ready", "d", "", 'say "a"', "say \\b", "näher", "näh", True, 12, 120]
)
SMALL: st.SearchStrategy[Any] = st.recursive(
    CONSTANTS.map(Constant)
    | st.tuples(st.integers(95, 120), st.integers(0, 20)).map(lambda two: Int(two[0], two[0] + two[1]))
    | st.sampled_from([r"ab?c", r"(ba|bc)d{1,2}", r'["\\]x', "é{2}", "a{3}|a{5}"]).map(
        lambda pattern: Str(patterns=(pattern,), layout="free")
    )
    | st.just(Named("R")),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda arms: Alternatives(tuple(arms)))
        | inner.map(Optional)
        | st.lists(inner, min_size=1, max_size=2).map(lambda items: TupleOf(tuple(items)))
    ),
    max_leaves=4,
)


@st.composite
def small_types(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """Types of few values, with a record whose fields may be left out."""
    fields = tuple(
        FieldType(name, Constant(draw(st.sampled_from(["u", "uu", 1]))), optional=draw(st.booleans()))
        for name in ("name", "note", "x")
    )
    return draw(SMALL), {"R": RecordType("R", fields)}


@pytest.mark.slow
@given(drawn=small_types())
@settings(max_examples=examples(200))
def test_of_small_types_they_are_the_longest(drawn: tuple[Any, dict[str, Any]]) -> None:
    described = language(*drawn)
    words = [word.decode() for word in shortest_words(described, FEW)]
    if not words or len(words) == FEW:
        return
    begins, ends = certain(described)
    assert begins == in_common(words)
    shared = in_common([word[::-1] for word in words])[::-1]
    room = min(map(len, words)) - len(begins)
    longest = shared[max(0, len(shared) - room) :] if room else ""
    assert longest.endswith(ends)
    if isinstance(described.root, Words | Text):
        assert ends == longest


def _text(pattern: str, *bounds: Any) -> Text:
    return Text(compile_regex(pattern), "raw", *bounds)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (Bytes(b"yes"), ("yes", "")),
        (Words(frozenset((b"aba", b"ababa"))), ("aba", "")),
        (Words(frozenset((b"abxba", b"abyyba"))), ("ab", "ba")),
        (Sequence((Choice((Bytes(b""), Bytes(b", a"))), Bytes(b", b"))), (", ", "b")),
        (_text(r"ab.{2,5}cd"), ("ab", "cd")),
        (_text(r"a*b"), ("", "b")),
        (_text(r"a+", 3), ("aaa", "")),
        (Text(compile_regex(r'["\\]'), "json"), ("\\", "")),
        (Text(compile_regex(r'x"y"z'), "json"), ('x\\"y\\"z', "")),
        (Except(Words(frozenset((b"on", b"off", b"of"))), frozenset((b"on",))), ("o", "")),
        (Repeat(Bytes(b"ab"), 2, None, b","), ("ab,ab", "")),
        (Sequence((Bytes(b"["), Repeat(_text("[0-9]"), 0, 9, b","), Bytes(b"]"))), ("[", "]")),
        (Sequence((Bytes(b"["), Anything(), Bytes(b"]"))), ("[", "]")),
        (Nothing(), ("", "")),
        (Rule("r"), ("(", ")")),
    ],
)
def test_terms(term: Term, expected: tuple[str, str]) -> None:
    rules: dict[str, Term] = {"r": Sequence((Bytes(b"("), Choice((Bytes(b"x"), Rule("r"))), Bytes(b")")))}
    assert certain(Language(term, rules)) == expected


def test_the_text_is_bounded_and_so_are_the_places() -> None:
    assert certain_beginning(Language(Bytes(b"a" * 3 * LONGEST))) == "a" * LONGEST
    assert certain_beginning(Language(_text("b{9000}c"))) == "b" * LONGEST
    assert len(certain_end(Language(Sequence((_text("[01]"), Bytes(b"a" * 3 * LONGEST)))))) == LONGEST
    many = [_text(f"ab{'x' * number}y") for number in range(MOST_PLACES + 1)]
    assert certain_beginning(Language(Choice(tuple(many[:MOST_PLACES])))) == "ab"
    assert certain_beginning(Language(Choice(tuple(many)))) == ""
    doubled: Term = Bytes(b"a")
    for _ in range(60):
        doubled = Choice((doubled, Sequence((Bytes(b"a"), doubled))))
    begins, ends = certain(Language(doubled))
    assert re.fullmatch("a?", begins + ends)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [300, 5_000])
def test_rules_and_terms_may_nest_as_deep_as_they_like(depth):
    rules: dict[str, Term] = {
        f"r{at}": Sequence((Bytes(b"("), Rule(f"r{at + 1}"), Bytes(b")"))) for at in range(depth)
    }
    rules[f"r{depth}"] = Choice((Bytes(b"x"), Bytes(b"y")))
    shown = min(depth, LONGEST)
    assert certain(Language(Rule("r0"), rules)) == ("(" * shown, ")" * shown)
    nested: Term = Bytes(b"x")
    for _ in range(depth):
        nested = Sequence((nested,))
    assert certain_end(Language(nested)) == "x"
