"""Subsets made where walks come to them, held against the construction in plain Python."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.dfa.subset_construction import Subsets
from sglc.automata.term import CharNfa, Pattern
from sglc.kernels import jit_library
from sglc.kernels.dsl.array_layouts import LayoutError
from sglc.kernels.trie.subset_api import SubsetTable
from sglc.runtime.mask.lexeme import subset_dfa as subset_states
from sglc.runtime.mask.lexeme.subset_dfa import SubsetStates, few_ranges
from sglc.runtime.mask.lexeme.utf8_states import Characters
from sglc.runtime.mask.nodes.pattern import PatternTable
from strategies.regex_automata import SUFFIXES, nfa_of
from strategies.regex_patterns import patterns

MOST = 60
"""States that are looked at."""
LONG = "(a|b)*a(a|b){70}(.|\\n)*"
"""Subsets of more than one word, and all texts."""


def compare(nfa: CharNfa) -> int:
    """Follow all edges side by side; how many states have been met."""
    found = few_ranges(nfa)
    assert found is not None
    made, expected = SubsetStates(nfa, found, Characters("raw")), Subsets(nfa)
    numbers = {0: 0}
    waiting = [0]
    for state in waiting:
        there = numbers[state]
        assert set(made.members(state)) == set(expected.members(there))
        assert made.ends(state) == expected.ends(there)
        assert made.lasting(state) == expected.lasting(there)
        edges = made.edges(state)
        assert [edge[:2] for edge in edges] == [edge[:2] for edge in expected.edges(there)]
        assert made.ends(state) == expected.ends(there)
        for (low, high, target), (_, _, other) in zip(edges, expected.edges(there), strict=True):
            assert made.after(state, low) == made.after(state, high) == target
            if target not in numbers:
                if len(numbers) > MOST:
                    continue
                numbers[target] = other
                waiting.append(target)
            assert numbers[target] == other
        below = edges[0][0] - 1 if edges else 5
        assert below < 0 or made.after(state, below) is None
    return len(numbers)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
@settings(max_examples=examples(60), deadline=None)
@given(patterns(), st.booleans(), st.integers(1, 5))
def test_states_are_those_of_the_construction(
    compiled: bool, pattern: str, anchored: bool, together: int
) -> None:
    assume(not re.search(r"\(\?<?[=!]", pattern))
    nfa = nfa_of(pattern, anchored)
    assume(nfa is not None and few_ranges(nfa) is not None)
    jit_library.use_reference(not compiled)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subset_states, "_ROOM", 2)
            patch.setattr(subset_states, "TOGETHER", together)
            compare(nfa)
    finally:
        jit_library.use_reference(False)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("pattern", [SUFFIXES, LONG])
def test_many_states(compiled: bool, pattern: str) -> None:
    nfa = nfa_of(pattern)
    assert nfa is not None
    jit_library.use_reference(not compiled)
    try:
        assert compare(nfa) > MOST
    finally:
        jit_library.use_reference(False)


def test_which_patterns_are_made_so() -> None:
    assert isinstance(PatternTable(nfa_of(SUFFIXES), "raw").subsets, SubsetStates)
    for pattern in ("(a|b)*a(a|b){600}", "[a-z]*(ab|cd|ef|gh|ij|kl)[a-z]*"):
        assert isinstance(PatternTable(nfa_of(pattern), "raw").subsets, Subsets)
    assert few_ranges(Pattern(nfa_of("[ab]*a?")).nfa) == frozenset({(97, 98), (97, 97)})


def test_arrays_of_other_sizes_are_refused() -> None:
    nfa = nfa_of(SUFFIXES)
    states = SubsetStates(nfa, few_ranges(nfa), Characters("raw"))
    one, steps = np.zeros(1, np.uint64), np.zeros((3, 2, 1), np.uint64)
    with pytest.raises(LayoutError):
        SubsetTable(np.zeros(2, np.int32), steps, one, one, one)
    with pytest.raises(LayoutError):
        SubsetTable(np.zeros(3, np.int32), steps, np.zeros(2, np.uint64), one, one)
    table = SubsetTable(np.zeros(3, np.int32), steps, one, one, one)
    with pytest.raises(LayoutError):
        table.load(0, 5000, 2, 0, states.current())
