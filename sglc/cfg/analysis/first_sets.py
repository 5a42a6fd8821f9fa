"""What can begin a node of a grammar and what can come after it, as bit sets over labels of the leaves.

The FIRST and FOLLOW sets of the textbooks (Aho, Lam, Sethi and Ullman, section 4.4), on the nodes of a graph;
each is a least fixed point over a work list. The lexical specification labels leaves by the characters that
they begin with or by their terminals, the emitter by their bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sglc.cfg.model.graph import LEAF, REPEAT, SEQUENCE, Graph


class FirstSets:
    """By node the labels of the leaves that it may begin with, found when they are asked for.

    `label` gives those of a leaf. The graph may be left-recursive, and may grow between two questions.
    """

    def __init__(self, graph: Graph, label: Callable[[int], int]) -> None:
        self._graph = graph
        self._label = label
        self._known: dict[int, int] = {}

    def __getitem__(self, node: int) -> int:
        found = self._known.get(node)
        return self._find(node) if found is None else found

    def _find(self, start: int) -> int:
        graph, known = self._graph, self._known
        if graph.kind[start] == LEAF:
            return known.setdefault(start, self._label(start))
        known[start] = 0
        above: dict[int, list[int]] = {start: []}
        waiting = [start]
        for node in waiting:
            found = 0
            for inner in graph.left(node):
                if inner not in known:
                    if graph.kind[inner] == LEAF:
                        known[inner] = self._label(inner)
                    else:
                        known[inner] = 0
                        above[inner] = []
                        waiting.append(inner)
                if inner in above:
                    above[inner].append(node)
                else:
                    found |= known[inner]
            known[node] = found
        while waiting:
            node = waiting.pop()
            found = known[node]
            for outer in above[node]:
                if found & ~known[outer]:
                    known[outer] |= found
                    waiting.append(outer)
        return known[start]

    def of_sequence(self, items: Iterable[int]) -> int:
        """The labels of the leaves that some nodes in a row may begin with."""
        found = 0
        for item in items:
            found |= self[item]
            if not self._graph.nullable[item]:
                break
        return found


def follow_sets(graph: Graph, nodes: list[int], first: FirstSets) -> list[int]:
    """By node: the labels of the leaves that may come after it; nothing comes after the start."""
    follow = [0] * len(graph.kind)
    inherits: dict[int, list[int]] = {}
    """Node to the nodes at its end: what comes after it comes after them."""
    for node in nodes:
        below = graph.below[node]
        if graph.kind[node] == SEQUENCE:
            coming = 0
            last = True
            for item in reversed(below):
                follow[item] |= coming
                if last:
                    inherits.setdefault(node, []).append(item)
                if graph.nullable[item]:
                    coming |= first[item]
                else:
                    coming = first[item]
                    last = False
        else:
            if below:
                inherits.setdefault(node, []).extend(below)
            if graph.kind[node] == REPEAT and graph.about[node][1] != 1:  # type: ignore[index]
                follow[below[0]] |= first[below[0]]
    waiting = [node for node in nodes if follow[node]]
    while waiting:
        node = waiting.pop()
        for inner in inherits.get(node, ()):
            if follow[node] & ~follow[inner]:
                follow[inner] |= follow[node]
                waiting.append(inner)
    return follow
