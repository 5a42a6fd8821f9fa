"""Choices among many words, and the walk of them inside JSON strings of every spelling."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.term_oracle import accepts, viable
from sglc.automata.analysis.ambiguity import overlap
from sglc.automata.analysis.emptiness import is_finite, shortest_words
from sglc.automata.dfa.operations import all_words
from sglc.automata.term import Bytes, Choice, Language, Listed, Sequence, Text
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions
from strategies.byte_vocabulary import BYTE_VOCABULARY, EXAMPLES, some
from strategies.entry_strategies import listed
from strategies.mask_cases import brute_force, mask_of, prefixes, vocabularies


@pytest.mark.slow
@pytest.mark.parametrize("spelling", ["canonical", "any"])
def test_very_many_choices(spelling) -> None:
    chance = random.Random(1)
    words = sorted({f"{chance.randrange(16**6):x}/{number}" for number in range(60_000)})
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b"00", b"a/1", b"7\\u002f", b'9"'])
    schema = {"enum": words}
    matcher = compile_constraint(json_schema=schema, schema_options=SchemaOptions(spelling=spelling)).matcher(
        vocabulary
    )
    assert matcher.accept_bytes(b'"')
    bytes_legal = {ord(word[0]) for word in words} | ({0x5C} if spelling == "any" else set())
    assert {t for t in mask_of(matcher, vocabulary) if t < 256} == bytes_legal
    slash = b"\\u002f" if spelling == "any" else b"/"
    for word in chance.sample(words, 20):
        twin = matcher.clone()
        head, tail = word.split("/")
        assert twin.accept_bytes(head.encode() + slash + tail.encode())
        longer = {other[len(word)] for other in words if other.startswith(word) and other != word}
        expected = {ord(char) for char in longer} | {0x22}
        if spelling == "any" and longer:
            expected.add(0x5C)
        assert {token for token in mask_of(twin, vocabulary) if token < 256} == expected
        assert twin.accept_bytes(b'"') and twin.is_complete()


@pytest.mark.slow
@some(EXAMPLES)
@given(st.data(), listed(), listed())
def test_masks_of_lists_are_exact(data, one: Listed, other: Listed) -> None:
    ways = (
        one,
        Sequence((Bytes(b'["'), one, Bytes(b'"]'))),
        Choice((one, other)),
        Sequence((one, other)),
        Sequence((one, Text(all_words(((0x61, 0x7A),)), one.encoding))),
    )
    language = Language(data.draw(st.sampled_from(ways)))
    constraint = compile_constraint(language=language)
    assert constraint.is_empty == (not viable(language, b""))
    if constraint.is_empty:
        return
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)
    assert matcher.is_accepting() == accepts(language, prefix)
    ending = matcher.shortest_completion()
    assert accepts(language, prefix + ending)
    finished = [word for word in shortest_words(language, 400) if word.startswith(prefix)]
    assert not finished or len(ending) <= min(map(len, finished)) - len(prefix)


@some(40)
@given(listed(), listed())
def test_questions_about_lists(one: Listed, other: Listed) -> None:
    words = shortest_words(Language(one), 50)
    assert len(set(words)) == len(words) and all(accepts(Language(one), word) for word in words)
    assert is_finite(Language(one))
    shared = overlap(Language(one), Language(other))
    if one.encoding == other.encoding:
        assert (shared is not None) == bool(one.texts & other.texts)
    if shared is not None:
        assert accepts(Language(one), shared) and accepts(Language(other), shared)


def test_what_only_one_word_goes_on_with_is_forced() -> None:
    matcher = compile_constraint(choices=["list", "listen closely"]).matcher(BYTE_VOCABULARY)
    assert matcher.forced() == b"list"
    assert matcher.accept_bytes(b"list") and matcher.is_accepting() and not matcher.is_complete()
    assert matcher.accept_bytes(b"e") and matcher.forced() == b"n closely"
    assert matcher.accept_bytes(b"n clos") and matcher.forced() == b"ely"
    assert matcher.accept_bytes(b"ely") and matcher.is_complete()


def test_the_shortest_ending_of_an_escape_is_not_the_shortest_escape() -> None:
    words = Listed(texts=frozenset({'"\x01', "a"}), encoding="json-any")
    matcher = compile_constraint(language=Language(words)).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(b"\\")
    assert matcher.shortest_completion() == b"u0061"
