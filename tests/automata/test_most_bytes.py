"""The longest words of languages: no word is longer than the bound."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.analysis.emptiness import is_empty, is_finite, shortest_words
from sglc.automata.analysis.most_bytes import most_bytes
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Choice, Language, Repeat, Rule, Sequence, Span, Term, Text, Words
from sglc.types.language.language import language
from sglc.types.type import EnumType, FieldType, Int, ListOf, Named, RecordType, Str
from strategies.typed_values import languages, words_of


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(described=languages().filter(lambda each: not is_empty(each)), data=st.data())
def test_no_word_is_longer(described: Language, data: st.DataObject) -> None:
    bound = most_bytes(described)
    if bound is not None:
        assert is_finite(described)
        for _ in range(3):
            assert len(data.draw(words_of(described))) <= bound


@pytest.mark.parametrize(
    "term",
    [
        Bytes(b"abc"),
        Words(frozenset({b"a", b"bcd"})),
        Text(compile_regex("a[b-d]{1,2}|é")),
        Text(compile_regex('["x]{0,2}'), "json"),
        Text(compile_regex("[ab]*"), "raw", 1, 2),
        Sequence((Bytes(b"x"), Choice((Bytes(b"y"), Bytes(b"zz"))))),
        Repeat(Words(frozenset({b"a", b"bb"})), 0, 2, b", "),
        Span("aéb", "raw", 1, 2),
    ],
    ids=lambda term: type(term).__name__,
)
def test_small_languages_exactly(term: object) -> None:
    described = Language(term)  # type: ignore[arg-type]
    assert most_bytes(described) == max(map(len, shortest_words(described, 1000)))


def test_of_a_record() -> None:
    table = {
        "R": RecordType("R", (FieldType("a", Int(0, 99)), FieldType("b", Named("E"), optional=True))),
        "E": EnumType("E", ("x", "yes")),
    }
    assert most_bytes(language(Named("R"), table)) == len('{"a": 99, "b": "yes"}')


def test_what_has_no_longest_word_has_no_bound() -> None:
    assert most_bytes(language(Str(), {})) is None
    assert most_bytes(language(ListOf(Int(0, 9)), {})) is None
    nested = Language(Rule("r"), {"r": Sequence((Bytes(b"("), Choice((Bytes(b""), Rule("r"))), Bytes(b")")))})
    assert most_bytes(nested) is None


def test_a_text_with_a_cycle_is_bounded_by_its_characters() -> None:
    assert most_bytes(Language(Text(compile_regex("é(a|b)*"), "raw", 0, 50))) == 100


@pytest.mark.slow
@pytest.mark.parametrize("depth", [300, 5_000])
def test_rules_and_terms_may_nest_as_deep_as_they_like(depth: int) -> None:
    rules: dict[str, Term] = {
        f"r{at}": Choice((Bytes(b"x"), Sequence((Bytes(b"ab"), Rule(f"r{at + 1}"))))) for at in range(depth)
    }
    rules[f"r{depth}"] = Bytes(b"xyz")
    assert most_bytes(Language(Rule("r0"), rules)) == 2 * depth + 3
    nested: Term = Bytes(b"x")
    for _ in range(depth):
        nested = Repeat(nested, 1, 1)
    assert most_bytes(Language(nested)) == 1
