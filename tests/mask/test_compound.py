"""Arrays, objects and spans: masks, walks and completions, held against the oracle of terms."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.term_oracle import accepts, viable
from sglc.automata.term import Except, Language
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from strategies.byte_vocabulary import BYTE_VOCABULARY, EXAMPLES, some
from strategies.mask_cases import brute_force, mask_of, prefixes, shortest_by_search, vocabularies
from strategies.typed_values import compounds, words_of


@pytest.fixture
def options() -> ConstraintOptions:
    """Options that no other test has: its machine is not shared with them."""
    return ConstraintOptions(max_terms=200_001)


@pytest.mark.slow
@some(EXAMPLES // 2)
@given(data=st.data())
def test_masks_are_exact(options: ConstraintOptions, data: st.DataObject) -> None:
    language = data.draw(compounds())
    constraint = compile_constraint(language=language, options=options)
    assert constraint.is_empty == (not viable(language, b""))
    assume(not constraint.is_empty)
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)
    assert matcher.is_accepting() == accepts(language, prefix)


@some(EXAMPLES // 2)
@given(data=st.data())
def test_whole_words_are_read_byte_by_byte(options: ConstraintOptions, data: st.DataObject) -> None:
    language = data.draw(compounds())
    assume(viable(language, b""))
    word = data.draw(words_of(language))
    assert accepts(language, word)
    matcher = compile_constraint(language=language, options=options).matcher(BYTE_VOCABULARY)
    for byte in word:
        assert matcher.allows(byte)
        assert matcher.accept(byte)
    assert matcher.is_accepting()


@pytest.mark.slow
@some(EXAMPLES // 2)
@given(data=st.data())
def test_legal_walks_never_meet_a_dead_end(options: ConstraintOptions, data: st.DataObject) -> None:
    language = data.draw(compounds())
    assume(viable(language, b""))
    vocabulary = data.draw(vocabularies(language))
    matcher = compile_constraint(language=language, options=options).matcher(vocabulary)
    dice = random.Random(data.draw(st.integers(0, 1000)))
    for _ in range(dice.randrange(1, 14)):
        legal = sorted(mask_of(matcher, vocabulary))
        if not legal:
            break
        assert matcher.accept(dice.choice(legal))
    text = matcher.text()
    ending = matcher.shortest_completion()
    assert accepts(language, text + ending)
    assert matcher.clone().accept_bytes(ending)


@pytest.mark.slow
@some(EXAMPLES // 2)
@given(data=st.data())
def test_completions_are_as_short_as_any(options: ConstraintOptions, data: st.DataObject) -> None:
    language = data.draw(compounds())
    assume(viable(language, b""))
    prefix = data.draw(prefixes(language))
    matcher = compile_constraint(language=language, options=options).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(prefix)
    ending = matcher.shortest_completion()
    assert accepts(language, prefix + ending)
    assert len(ending) == shortest_by_search(matcher, len(ending))


@some(EXAMPLES // 4)
@given(data=st.data())
def test_excluded_values_are_never_finished(options: ConstraintOptions, data: st.DataObject) -> None:
    inner = data.draw(compounds())
    assume(viable(inner, b""))
    refused = frozenset(data.draw(st.lists(words_of(inner), max_size=3)))
    language = Language(Except(inner.root, refused), inner.rules)
    constraint = compile_constraint(language=language, options=options)
    assert constraint.is_empty == (not viable(language, b""))
    assume(not constraint.is_empty)
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)
    word = prefix + matcher.shortest_completion()
    assert word not in refused
    assert accepts(language, word)
