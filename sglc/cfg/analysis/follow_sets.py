"""What can begin a node and what can come after it, as bit sets over labels of the leaves.

The FIRST and FOLLOW sets of the textbooks (Aho, Lam, Sethi and Ullman, section 4.4), on the nodes of a graph;
each is a least fixed point over a work list.
"""

from __future__ import annotations

from sglc.cfg.model.graph import LEAF, REPEAT, SEQUENCE, Graph


def first_sets(graph: Graph, nodes: list[int], labels: dict[int, int]) -> list[int]:
    """By node: the labels of the leaves that it may begin with."""
    first = [0] * len(graph.kind)
    above: dict[int, list[int]] = {}
    for node in nodes:
        for inner in graph.below[node]:
            above.setdefault(inner, []).append(node)
            if graph.kind[node] == SEQUENCE and not graph.nullable[inner]:
                break
    waiting = []
    for node in nodes:
        if graph.kind[node] == LEAF:
            first[node] = labels[node]
            waiting.append(node)
    while waiting:
        node = waiting.pop()
        for outer in above.get(node, ()):
            if first[node] & ~first[outer]:
                first[outer] |= first[node]
                waiting.append(outer)
    return first


def follow_sets(graph: Graph, nodes: list[int], first: list[int], end: int) -> list[int]:
    """By node: the labels of the leaves that may come after it; `end` comes after the start."""
    follow = [0] * len(graph.kind)
    follow[graph.start] = end
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
