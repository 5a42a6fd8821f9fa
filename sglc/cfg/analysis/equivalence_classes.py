"""Parts of a large grammar that are built alike, of terminals that behave alike, as one part.

A thousand statements that differ in their keyword are one statement, as far as it matters what may come
before and behind their parts. What is found of such a class, of which there are few, holds for all its
members; only what may follow it is what may follow any of them, which is more than may follow each.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from sglc.cfg.model.graph import CHOICE, LEAF, RULE, SEQUENCE, Graph


class EquivalenceClasses:
    """classes  a graph with one node for each class of parts
    of       by node of the whole graph its class, -1 for those that were not asked for
    leaf     by class of leaves one of them
    """

    def __init__(self, graph: Graph, nodes: list[int], keys: Mapping[int, Hashable]) -> None:
        """`nodes` are all below the start, mostly from above to below; `keys` tells leaves apart."""
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
