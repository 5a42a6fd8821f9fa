"""What holds from the states of an automaton on, by components and by a search from each state."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from sglc.automata.term import CharDfa
from sglc.runtime.mask.still import Onward, onward, onward_within

LETTERS = range(ord("a"), ord("g"))


@st.composite
def automata(draw: st.DrawFn) -> CharDfa:
    states = draw(st.integers(1, 7))
    target = st.integers(0, states - 1)
    edges = []
    for _ in range(states):
        row = draw(st.dictionaries(st.sampled_from(LETTERS), target, max_size=len(LETTERS)))
        whole = draw(st.none() | target)
        edges.append(
            tuple([(letter, letter, row[letter]) for letter in sorted(row)])
            if whole is None
            else ((LETTERS[0], LETTERS[-1], whole),)
        )
    return CharDfa(tuple(edges), frozenset(draw(st.sets(target))))


@settings(max_examples=examples(100), deadline=None)
@given(automata(), st.randoms(use_true_random=False))
def test_components_know_what_a_search_finds(dfa: CharDfa, random: Any) -> None:
    states = list(range(len(dfa.edges)))
    random.shuffle(states)
    known: dict[int, Onward] = {}
    for state in states:
        if state not in known:
            onward_within(dfa, state, known)
    for state in states:
        assert known[state] == onward((dfa,), (state,))
