"""How often a rule can write a part of a text: exactly once, at most once, or any number of times."""

from __future__ import annotations

from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, RULE, Graph, bounds

_MANY = 2
"""Two and more are one number."""
_NEVER = 3
"""More than all: nothing is known yet."""


def occurrences(graph: Graph, rule: str) -> tuple[int, int]:
    """(fewest, most) parts of a text that the rule writes, those inside other such parts not counted.

    Two stands for any number above one. The least fixed point of the most, the greatest of the fewest.
    """
    most = _fixed_point(graph, rule, 0, fewest=False)
    fewest = _fixed_point(graph, rule, _NEVER, fewest=True)
    (body,) = graph.below[graph.start]
    return min(fewest[body], _MANY), most[body]


def _fixed_point(graph: Graph, rule: str, begin: int, *, fewest: bool) -> list[int]:
    values = [begin] * len(graph.kind)
    above: list[list[int]] = [[] for _ in values]
    for node, below in enumerate(graph.below):
        for inner in below:
            above[inner].append(node)
    waiting = list(range(len(values)))
    while waiting:
        node = waiting.pop()
        found = _value(graph, node, rule, values, fewest)
        if found != values[node]:
            values[node] = found
            waiting += above[node]
    return values


def _value(graph: Graph, node: int, rule: str, values: list[int], fewest: bool) -> int:
    kind, below = graph.kind[node], graph.below[node]
    if kind == LEAF:
        return 0
    if kind == RULE:
        return 1 if graph.about[node] == rule else values[below[0]]
    if kind == CHOICE:
        return min((values[arm] for arm in below), default=_NEVER) if fewest else _largest(values, below)
    if kind == REPEAT:
        minimum, maximum = bounds(graph.about[node])
        times = minimum if fewest else _MANY if maximum is None else maximum
        parts = [values[below[0]]] * min(times, _MANY)
    else:
        parts = [values[item] for item in below]
    return _NEVER if _NEVER in parts else min(sum(parts), _MANY)


def _largest(values: list[int], below: tuple[int, ...]) -> int:
    return max((values[arm] for arm in below), default=0)
