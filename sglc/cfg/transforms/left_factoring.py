"""Left factoring: alternatives with a common prefix become the prefix and a choice of what follows it.

`x a | x b` is `x (a | b)`. The texts are the same, but alternatives with a common prefix share its states
until they differ. Alternatives that are rules are expanded.
"""

from __future__ import annotations

from collections.abc import Hashable

from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph
from sglc.cfg.transforms.denest_operators import OperatorLevels

_DEEP = 4
"""How deep parts are compared; below, only the same part is equal."""
_GROWTH = 2
"""How many nodes may be added for each that there is."""
_NESTED = 20
"""How many times what is left is factored again: rules that are looked into may lead back to themselves."""


class Factoring:
    """Factors the choices of a graph, each at first use. Nodes are only added to the graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.most = (1 + _GROWTH) * len(graph.kind)
        self._done: set[int] = set()
        self._levels = OperatorLevels(graph)
        self._nested: dict[int, int] = {}

    def all(self, start: int) -> list[int]:
        """Factor everything below a node; all that is then below it, each behind what it is part of unless
        there is a cycle."""
        kind = self.graph.kind
        order: list[int] = []
        entered: set[int] = set()
        left: set[int] = set()
        stack = [start]
        while stack:
            node = stack[-1]
            if node not in entered:
                entered.add(node)
                for inner in self.below(node):
                    if inner not in entered:
                        if kind[inner] == LEAF:
                            entered.add(inner)
                            order.append(inner)
                        else:
                            stack.append(inner)
            else:
                stack.pop()
                if node not in left:
                    left.add(node)
                    order.append(node)
        return order[::-1]

    def below(self, node: int) -> tuple[int, ...]:
        """What is below a node; the arms of a choice begin with different parts, and levels are merged."""
        graph = self.graph
        kind = graph.kind[node]
        if kind == RULE and node not in self._done:
            self._done.add(node)
            self._levels.merge(node)
        elif kind == CHOICE and node not in self._done:
            self._done.add(node)
            if len(graph.kind) <= self.most and self._nested.get(node, 0) < _NESTED:
                self._factor(node)
        return graph.below[node]

    def _factor(self, node: int) -> None:
        graph = self.graph
        groups: dict[Hashable, list[tuple[int, tuple[int, ...]]]] = {}
        for arm in graph.below[node]:
            items = _items(graph, arm)
            groups.setdefault(_key(graph, items[0], _DEEP) if items else None, []).append((arm, items))
        if len(groups) == len(graph.below[node]):
            return
        arms: list[int] = []
        for key, group in groups.items():
            if key is None or len(group) == 1:
                arms += [arm for arm, _ in group]
                continue
            same = _common(graph, [items for _, items in group])
            rest = graph.choice([graph.sequence(items[same:]) for _, items in group])
            self._nested[rest] = self._nested.get(node, 0) + 1
            arms.append(graph.sequence((*group[0][1][:same], rest)))
        graph.below[node] = tuple(dict.fromkeys(arms))


def _items(graph: Graph, arm: int) -> tuple[int, ...]:
    """The parts of an alternative, one after the other."""
    node = arm
    if graph.kind[node] == RULE and graph.below[node]:
        node = graph.below[node][0]
        if graph.kind[node] not in (SEQUENCE, LEAF):
            return (arm,)
    return graph.below[node] if graph.kind[node] == SEQUENCE else (node,)


def _common(graph: Graph, arms: list[tuple[int, ...]]) -> int:
    """With how many equal parts all of them begin."""
    count = 0
    for parts in zip(*arms, strict=False):
        if len({_key(graph, part, _DEEP) for part in parts}) > 1:
            break
        count += 1
    return count


def _key(graph: Graph, node: int, deep: int) -> Hashable:
    """Equal for parts with the same notation."""
    kind = graph.kind[node]
    if kind == LEAF:
        about = graph.about[node]
        return about.index if isinstance(about, Token) else about
    if kind == RULE or not deep:
        return ("node", node)
    inner = tuple([_key(graph, part, deep - 1) for part in graph.below[node]])
    return (kind, graph.about[node] if kind == REPEAT else None, inner)
