"""Equivalence classes of the nodes of a large grammar: the same construction from equivalent terminals.

A thousand statements that differ only in their keyword are one class. A grammar has few classes, so analyses
run on the graph of the classes, and their results hold for all members. FOLLOW sets become larger: what may
follow a class is what may follow any of its members.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from sglc.cfg.model.graph import CHOICE, LEAF, RULE, SEQUENCE, Graph


class EquivalenceClasses:
    """classes  a graph with one node for each class of parts
    of       the class of each node of the whole graph, -1 for nodes outside `nodes`
    leaf     one leaf of each class of leaves
    """

    def __init__(self, graph: Graph, nodes: list[int], keys: Mapping[int, Hashable]) -> None:
        """`nodes` are all below the start, mostly from above to below; `keys` distinguishes leaves."""
        self.classes = classes = Graph()
        self.of = of = [-1] * len(graph.kind)
        self.leaf: dict[int, int] = {}
        known: dict[Hashable, int] = {(SEQUENCE, None, ()): classes.empty}
        circular: list[int] = []
        kind, below, about, nullable = graph.kind, graph.below, graph.about, graph.nullable
        for node in reversed(nodes):
            if of[node] >= 0:
                continue
            parts = tuple([of[inner] for inner in below[node]])
            if -1 in parts:
                for inner in below[node]:
                    if of[inner] < 0:
                        # It comes back to itself, and is a class of its own.
                        of[inner] = classes.add(kind[inner], (), about[inner], nullable[inner])
                        circular.append(inner)
                        if kind[inner] == LEAF:
                            self.leaf[of[inner]] = inner
                if of[node] >= 0:
                    continue
                parts = tuple([of[inner] for inner in below[node]])
            what = kind[node]
            if what == CHOICE:
                parts = tuple(dict.fromkeys(parts))
            if what == RULE or (what == CHOICE and len(parts) == 1):
                of[node] = parts[0]
                continue
            key = what, keys[node] if what == LEAF else about[node], parts
            found = known.get(key)
            if found is None:
                found = known[key] = classes.add(what, parts, about[node], nullable[node])
                if what == LEAF:
                    self.leaf[found] = node
            of[node] = found
        for node in circular:
            classes.below[of[node]] = tuple([of[inner] for inner in below[node]])
        classes.start = of[graph.start]

    @property
    def order(self) -> list[int]:
        """The classes, mostly from above to below."""
        return list(range(len(self.classes.kind)))[::-1]
