"""Automata as patterns, by elimination of their states."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from sglc.automata.charset import Ranges
from sglc.automata.dfa.operations import labelled
from sglc.automata.term import CharDfa
from sglc.cfg.model import grammar as g
from sglc.targets.projection.grammars.expressions import repeat, size
from sglc.targets.projection.grammars.merging import either, in_a_row

MOST_PARTS = 400
"""Parts of a pattern made from an automaton. A longer one is harder to read than the automaton's states: it
is written state by state where a target has rules, else refused."""


class TooManyParts(Exception):
    """The pattern of an automaton has more than `MOST_PARTS` parts."""


def pattern_of(dfa: CharDfa, written: Callable[[Ranges], g.Expression]) -> g.Expression:
    """The words of an automaton as one expression without rules, by elimination of states (Kleene 1956).

    `written` says how a character of a set is written. States go in the order of the ways through them, those
    with the fewest first. Raises TooManyParts.
    """
    end = len(dfa.edges)
    edges: dict[int, dict[int, g.Expression]] = {state: {} for state in range(-1, end)}
    edges[-1][0] = g.EMPTY
    for state, row in enumerate(labelled(dfa)):
        for points, target in row:
            edges[state][target] = written(points)
        if state in dfa.accepting:
            edges[state][end] = g.EMPTY
    before: dict[int, set[int]] = {state: set() for state in range(end + 1)}
    for state, targets in edges.items():
        for target in targets:
            before[target].add(state)

    def ways(state: int) -> int:
        return len(before[state] - {state}) * len(edges[state].keys() - {state})

    order = [(ways(state), state) for state in range(end)]
    heapify(order)
    left = set(range(end))
    while left:
        count, state = heappop(order)
        if state not in left or count != ways(state):  # another entry has its count of now
            continue
        left.remove(state)
        for touched in _eliminate(state, edges, before) & left:
            heappush(order, (ways(touched), touched))
    return edges[-1].get(end, g.Alternatives(()))


def _eliminate(
    state: int, edges: dict[int, dict[int, g.Expression]], before: dict[int, set[int]]
) -> set[int]:
    """Lead every way through a state past it. The result has the states whose edges change."""
    out = edges.pop(state)
    own = out.pop(state, None)
    loop = g.EMPTY if own is None else repeat(own, 0, None)
    sources = before.pop(state) - {state}
    for target in out:
        before[target].discard(state)
    for source in sources:
        into = edges[source].pop(state)
        for target, onward in out.items():
            way = in_a_row(into, loop, onward)
            known = edges[source].get(target)
            made = way if known is None else either(known, way)
            if size(made) > MOST_PARTS:
                raise TooManyParts
            edges[source][target] = made
            before[target].add(source)
    return sources | out.keys()
