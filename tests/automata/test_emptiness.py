"""Emptiness, shortest words, finiteness, overlap and junctions, against the oracle of terms."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from counting import calls_of
from example_budget import examples
from oracles import term_oracle
from sglc.automata.alphabet import may_write
from sglc.automata.analysis.ambiguity import junction_conflict, overlap
from sglc.automata.analysis.bracket_balance import is_bracketed
from sglc.automata.analysis.emptiness import (
    empty_rules,
    is_empty,
    is_finite,
    shortest,
    shortest_words,
)
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import (
    Arm,
    Bytes,
    Choice,
    Except,
    Family,
    Language,
    Object,
    Repeat,
    Rule,
    Sequence,
    Text,
    Words,
)
from sglc.automata.work import WorkAccount, charged
from sglc.types.language.language import language
from strategies.typed_values import languages, terms, types


@pytest.mark.slow
@given(languages())
@settings(max_examples=examples(70))
def test_shortest_words_are_words_and_none_is_missed(lang):
    found = shortest_words(lang, 4)
    others = term_oracle.some_words(lang, 4)
    assert len(set(found)) == len(found) == len(others)
    assert all(term_oracle.accepts(lang, word) for word in (*found, *others))
    assert is_empty(lang) == (not others)
    if others:
        assert len(shortest(lang)) <= min(map(len, others))


@pytest.mark.slow
@given(terms().map(Language))
@settings(max_examples=examples(32))
def test_a_finite_language_can_be_listed(lang):
    try:
        many = len(term_oracle.some_words(lang, 50)) if is_finite(lang) else None
    except term_oracle.OracleLimit:
        reject()
    if many is None:
        assert len(shortest_words(lang, 40)) == 40
    elif many < 50:
        assert len(shortest_words(lang, many + 1)) == many


@given(terms().map(Language))
def test_words_have_no_other_characters_than_may_be_written(lang):
    for word in shortest_words(lang, 20):
        for character in {chr(byte) for byte in word if byte < 0x80}:
            assert may_write(lang, character), (word, character)


def test_what_is_never_written_is_known():
    lines = Language(
        Sequence((text("[a-z]+"), Bytes(b"; "), Words(frozenset({b"x", b"yz"})), text("\n", encoding="json")))
    )
    assert not may_write(lines, "\n")
    assert not may_write(lines, "Q")
    assert all(may_write(lines, character) for character in "az; x\\n")


def text(pattern: str, low: int = 0, high: int | None = None, encoding="raw") -> Text:
    return Text(compile_regex(pattern), encoding, low, high)


@pytest.mark.parametrize(
    ("term", "word"),
    [
        (text("a*", 2, 3), b"aa"),
        (text("(aa)*", 3, 3), None),
        (text("(aa)*", 3, 5), b"aaaa"),
        (Except(Words(frozenset({b"a", b"bb"})), frozenset({b"a"})), b"bb"),
        (Except(Words(frozenset({b"a"})), frozenset({b"a"})), None),
        (Repeat(text("[ab]"), 2, 3, b", "), b"a, a"),
        (Repeat(Bytes(b"x"), 3, 2), None),
        (
            Object((), (Family(compile_regex("[ab]"), (Arm(Bytes(b"1")),)),), 2, distinct=True),
            b'"a": 1, "b": 1',
        ),
        (Object((), (Family(compile_regex("[ab]"), (Arm(Bytes(b"1")),)),), 3, distinct=True), None),
        (text('["]|é', encoding="json"), b'\\"'),
    ],
)
def test_counts_keys_and_exclusions_are_exact(term, word):
    assert shortest(Language(term)) == word


def test_a_rule_that_never_ends_is_empty():
    endless = Language(Rule("r"), {"r": Sequence((Bytes(b"("), Rule("r"), Bytes(b")")))})
    assert is_empty(endless)
    ending = Language(Rule("r"), {"r": Sequence((Bytes(b"("), Choice((Rule("r"), Bytes(b""))), Bytes(b")")))})
    assert shortest(ending) == b"()" and not is_finite(ending)


# Small languages of text, so that overlaps can be found by listing.
SMALL = st.sampled_from(
    ["a", "ab?", "[ab]{1,2}", "b*", "a-b|a", '"a?"', "(ab)+", r"\[a*\]", "aa|b", "[^a]", "<{0,2}"]
)


@st.composite
def small_languages(draw: st.DrawFn) -> Language:
    parts = draw(st.lists(SMALL, min_size=1, max_size=2))
    high = draw(st.none() | st.integers(1, 3))
    items = [text(part, 0, high) for part in parts]
    if draw(st.booleans()):
        return Language(Choice(tuple(items)))
    if draw(st.booleans()):
        return Language(Repeat(items[0], 1, 2, b"-"))
    return Language(Sequence(tuple(items)))


LISTED = ["".join(chars) for size in range(5) for chars in product('ab-"<', repeat=size)]


@given(small_languages(), small_languages())
@settings(max_examples=examples(60))
def test_overlap_finds_a_text_of_both_if_there_is_one(a, b):
    found = overlap(a, b)
    if found is not None:
        assert term_oracle.accepts(a, found) and term_oracle.accepts(b, found)
    else:
        listed = [word.encode() for word in LISTED if len(word) <= 3]
        assert not any(term_oracle.accepts(a, word) and term_oracle.accepts(b, word) for word in listed)


@given(small_languages(), st.sampled_from(("a", "b", "-", "ab", "<<", "bb", '"')))
@settings(max_examples=examples(60))
def test_a_junction_is_clear_exactly_if_no_text_has_two_readings(lang, stop):
    words = [word for word in LISTED if term_oracle.accepts(lang, word.encode())]
    found = junction_conflict(lang, stop)
    if found is None:
        for short in words:
            for long in words:
                if len(short) < len(long):
                    assert not (long + stop).startswith(short + stop)
    else:
        assert term_oracle.accepts(lang, found.encode())
        shorter = [
            found[:cut] for cut in range(len(found)) if term_oracle.accepts(lang, found[:cut].encode())
        ]
        assert any((found + stop).startswith(word + stop) for word in shorter)


@pytest.mark.parametrize("goes_on", [True, False])
def test_long_texts_before_a_junction_cost_no_more(goes_on):
    """Their characters are not counted where a value goes on behind its shortest word, or never does."""
    more = Bytes(b"-b")

    def spent(chars: int) -> int:
        long = text("a[ab]*a|aa*b", 1, chars)
        lang = Language(Sequence((long, Bytes(b";"), Choice((Bytes(b""), more)) if goes_on else more)))
        with charged(WorkAccount()) as account:
            assert (junction_conflict(lang, "-") is not None) == goes_on
        return account.spent

    assert spent(100_000) == spent(10) < 400


def test_a_text_is_walked_exactly_where_its_characters_could_go_on():
    assert junction_conflict(Language(text("a-a")), "-") is None
    assert junction_conflict(Language(text("ab|cda(-b)?", 2, 5)), "-") == "cda-b"


@given(types(), st.sampled_from(('"', "}", "]", ",", "0", " ")))
@settings(max_examples=examples(25))
def test_a_value_in_brackets_ends_where_its_bracket_closes(typed, after):
    lang = language(*typed)
    if is_bracketed(lang):
        for word in term_oracle.some_words(lang, 3):
            assert not term_oracle.viable(lang, word + after.encode())


def test_objects_and_arrays_of_types_are_proved_to_be_in_brackets():
    from sglc.types.type import FieldType, Int, ListOf, MapOf, Named, Optional, RecordType, Str, TupleOf

    tree = RecordType(
        "Tree", (FieldType("v", Optional(Str())), FieldType("kids", ListOf(Named("Tree")), optional=True))
    )
    for type in (Named("Tree"), ListOf(Str()), MapOf(Str(), Int()), TupleOf((Int(), Named("Tree")))):
        assert is_bracketed(language(type, {"Tree": tree}))
    for type in (Str(), Int(), Optional(ListOf(Str()))):
        assert not is_bracketed(language(type, {}))


def test_the_shortest_words_of_a_rule_may_all_be_left_out() -> None:
    brackets = Sequence((Bytes(b"("), Choice((Rule("r"), Sequence(()))), Bytes(b")")))
    left_out = frozenset(b"(" * depth + b")" * depth for depth in range(1, 40))
    language = Language(Except(Rule("r"), left_out), {"r": brackets, "e": Except(Rule("r"), left_out)})
    assert shortest_words(language, 2) == (b"(" * 40 + b")" * 40, b"(" * 41 + b")" * 41)
    assert not is_empty(language) and empty_rules(language.rules) == []
    assert is_empty(Language(Except(Rule("r"), frozenset([b"x"])), {"r": Bytes(b"x"), "s": brackets}))


def test_words_of_a_chain_of_rules_are_found_in_one_pass():
    """Whatever way the rules stand: each asks for the one below it, and has a longer word of its own."""

    def calls(count: int, backwards: bool) -> int:
        rules = {
            f"r{i}": Choice((Bytes(b"y" * 2 * (count - i + 1)), Sequence((Bytes(b"x"), Rule(f"r{i + 1}")))))
            for i in range(count)
        } | {f"r{count}": Bytes(b"z")}
        order = reversed(rules.items()) if backwards else rules.items()
        language = Language(Rule("r0"), dict(order))
        words = []
        found = calls_of(lambda: words.append(shortest(language)))
        assert words == [b"x" * count + b"z"]
        return found

    for backwards in (False, True):
        assert calls(400, backwards) < 5 * calls(100, backwards)
