"""What holds from the states of an automaton on, by components and by a search from each state."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.charset import ALL, LAST, invert, meet, ranges
from sglc.automata.dfa.operations import step
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import CharDfa
from sglc.kernels.trie.token_groups import SCRIPTS, Group
from sglc.runtime.mask.lexeme.row_kinds import RowKinds
from sglc.runtime.mask.lexeme.self_loops import ReachableFacts, _scripts, reachable_facts
from sglc.runtime.mask.lexeme.table import LexemeState
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.lexeme.text_lexeme import TextLexeme

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


def searched(dfas: tuple[CharDfa, ...], places: tuple[int, ...]) -> ReachableFacts:
    """The same by a search from one place."""

    def moves(here: tuple[int, ...], letter: int) -> tuple[int, ...]:
        found = []
        for dfa, at in zip(dfas, here, strict=True):
            row = dfa.edges[at] if at >= 0 else ()
            found.append(next((target for low, high, target in row if low <= letter <= high), -1))
        return tuple(found)

    dead = (-1,) * len(dfas)
    seen = {places}
    stack = [places]
    letters: dict[tuple[int, ...], frozenset[int]] = {}
    while stack:
        here = stack.pop()
        after = {letter: moves(here, letter) for letter in LETTERS}
        letters[here] = frozenset(letter for letter in LETTERS if after[letter] != dead)
        for target in set(after.values()) - seen - {dead}:
            seen.add(target)
            stack.append(target)
    common = frozenset(LETTERS).intersection(*letters.values())
    if not common:
        return ReachableFacts()
    accepting = all(any(at in dfa.accepting for dfa, at in zip(dfas, here, strict=True)) for here in seen)
    return ReachableFacts(ranges([(c, c) for c in common]), len(set(letters.values())) == 1, accepting)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(automata(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_components_know_what_a_search_finds(dfas: list[CharDfa], random: Any) -> None:
    some, rows = tuple(dfas), tuple(map(RowKinds, dfas))
    starts = list(itertools.product(*[range(-1, len(dfa.edges)) for dfa in dfas]))
    random.shuffle(starts)
    known: dict[tuple[int, ...], ReachableFacts] = {}
    for places in [*starts[:8], (-1,) * len(dfas)]:
        assert reachable_facts(rows, places, known) == searched(some, places)
    for places, found in known.items():
        assert found == searched(some, places)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(automata(), st.randoms(use_true_random=False))
def test_leaves_know_what_a_search_finds(dfa: CharDfa, random: Any) -> None:
    lexeme = TextLexeme(TextTable(dfa, "raw"))
    for state in random.sample(range(len(dfa.edges)), len(dfa.edges)):
        assert lexeme._from(state) == searched((dfa,), (state,))


BOUNDS = sorted({0x80, 0x9F, 0xA0, 0x2028, 0x2029, 0xD7FF, 0xE000, LAST, *SCRIPTS[:, :2].ravel().tolist()})
NEAR = st.sampled_from([bound + step for bound in BOUNDS for step in (-1, 0, 1)]).filter(
    lambda point: point <= LAST and not 0xD800 <= point < 0xE000
)


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None)
@given(st.lists(st.tuples(NEAR, NEAR), max_size=12), st.booleans())
def test_groups_of_a_class_beyond_ascii(pairs: list[tuple[int, int]], all_but: bool) -> None:
    taken = [range(min(pair), max(pair) + 1) for pair in pairs]
    owners = {point: group for low, high, group in SCRIPTS.tolist() for point in range(low, high + 1)}
    owners |= dict.fromkeys(range(0x80, 0xA0), Group.CONTROL_1) | {
        0x2028: Group.SEPARATOR,
        0x2029: Group.SEPARATOR,
    }
    found, missing = set(), set()
    # Beyond these, ranges begin and end at the last two characters only.
    for point in (*range(0x80, 0xD800), *range(0xE000, 0x10000), 0x11000, LAST - 1, LAST):
        inside = any(point in part for part in taken) != all_but
        (found if inside else missing).add(owners.get(point, Group.REST))
    chosen = ranges([(part.start, part.stop - 1) for part in taken])
    chosen = meet(invert(chosen), ALL) if all_but else chosen
    if not found:
        return
    every, some = _scripts(chosen)
    assert every == sum([1 << group for group in found - missing])
    assert some == sum([1 << group for group in found])


class CountedRow(tuple[tuple[int, int, int], ...]):
    """The edges of a state, which count how many of them are looked at one by one."""

    looked = 0

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        for edge in super().__iter__():
            CountedRow.looked += 1
            yield edge


def test_a_self_loop_is_found_without_comparing_every_edge_with_every_other() -> None:
    made = compile_regex(r"\p{Lu}[\p{Ll}\p{M}]*([ -]\p{Lu}[\p{Ll}\p{M}]*)*")
    dfa = CharDfa(tuple([CountedRow(row) for row in made.edges]), made.accepting)
    lexeme = TextLexeme(TextTable(dfa, "raw"))
    state = step(made, 0, ord("A"))
    assert state is not None
    CountedRow.looked = 0
    found = lexeme.self_loop(LexemeState(lexeme, lexeme.number(state)), 128)
    assert found is not None and found.bytes[ord("a")] and not found.bytes[ord("A")]
    assert CountedRow.looked < 20 * sum(map(len, made.edges))
