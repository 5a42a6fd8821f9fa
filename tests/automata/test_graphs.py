"""Graphs: what can be reached, and orders in which what follows comes first, against plain definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata.graphs import reached, successors_first

GRAPHS = st.integers(1, 7).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size)
)


def all_behind(graph: list[list[int]]) -> list[set[int]]:
    """What each node leads to by one or more edges."""
    behind = [set(row) for row in graph]
    for _ in graph:
        behind = [row | {last for node in row for last in behind[node]} for row in behind]
    return behind


@given(GRAPHS)
def test_what_can_be_reached(graph):
    behind = all_behind(graph)
    for start in range(len(graph)):
        found = reached([start], graph.__getitem__)
        assert found[0] == start and len(found) == len(set(found))
        assert set(found) == behind[start] | {start}
    assert reached([], graph.__getitem__) == []


@pytest.mark.slow
@given(GRAPHS)
def test_successors_come_first_and_cycles_are_left_out(graph):
    behind = all_behind(graph)
    cyclic = {node for node in range(len(graph)) if node in behind[node]}
    order = successors_first(dict(enumerate(graph)))
    assert set(order) == {node for node in range(len(graph)) if not (behind[node] | {node}) & cyclic}
    places = {node: place for place, node in enumerate(order)}
    assert all(places[other] < places[node] for node in order for other in graph[node])
