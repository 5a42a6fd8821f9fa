"""Denests levels of operator precedence: precedence does not change which texts are legal.

Where `b` is `s t*`, the level above it, `a: b (x b)*`, is `s t* (x s t*)*`, and that is `s (t | x s)*`: the
denesting rule of Kleene algebra, `t* (y t*)* = (t | y)*`. So an expression with thirty levels is an operand
followed by operators with operands: one state behind an operand, not one for each level.
"""

from __future__ import annotations

from sglc.cfg.model.graph import CHOICE, REPEAT, RULE, SEQUENCE, Graph

_TOGETHER = 64
"""So many ways to go on are written in one place; those of further levels are a rule."""
_LOOKS = 20
"""How often levels are looked at, for each part of the grammar."""
_LONG = 8
"""Parts of an operand that are written again behind each operator."""


class OperatorLevels:
    """Merges the levels of a settled graph without left recursion, each at first use."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._left = _LOOKS * len(graph.kind)

    def merge(self, rule: int) -> None:
        """Write `a: b (x b)*` as `s (x s | t)*`, if `b` is `s t*`, or is written as `a` is."""
        graph, below = self.graph, self.graph.below
        if below[rule] and len(below[below[rule][0]]) != 2:
            # Not `b (x b)*`: most rules are not.
            return
        path = self._path(rule)
        if not path:
            return
        lower, loop = _parts(graph, below[path[-1]][0])
        *operand, repeated = _parts(graph, _body(graph, lower))
        if 0 < len(operand) <= _LONG and _is_loop(graph, repeated):
            arms = list(_arms(graph, below[repeated][0]))
        else:
            # The lowest level is `s t*` itself.
            path.pop()
            operand, arms = [lower], list(_arms(graph, below[loop][0]))
        if not path:
            return
        for level in reversed(path):
            if len(arms) > _TOGETHER:
                together = graph.rule("operators")
                graph.define(together, graph.choice(arms))
                graph.apart.add(together)
                arms = [together]
            loop = _parts(graph, below[level][0])[1]
            for arm in _arms(graph, below[loop][0]):
                arms.append(graph.sequence((*_parts(graph, arm)[:-1], *operand)))
        following = graph.repeat(graph.choice(arms), 0, None)
        below[rule] = (graph.sequence((*operand, following)),)

    def _path(self, rule: int) -> list[int]:
        """The levels from a rule down that are all written as one above another; none where many have been
        looked at before."""
        path: list[int] = []
        here: int | None = rule
        while here is not None and self._left > 0:
            self._left -= 1
            path.append(here)
            here = _next_level(self.graph, here)
        return path[:-1] if here is None else []


def _next_level(graph: Graph, rule: int) -> int | None:
    """The rule `b` of one that is written `b (x b)*` or `b (x b | y b)*`, None for another one."""
    kind, below = graph.kind, graph.below
    items = _parts(graph, below[rule][0]) if below[rule] else ()
    if len(items) != 2 or kind[items[0]] != RULE or not _is_loop(graph, items[1]):
        return None
    for arm in _arms(graph, below[items[1]][0]):
        parts = _parts(graph, arm)
        if len(parts) < 2 or parts[-1] != items[0]:
            return None
    return items[0]


def _body(graph: Graph, rule: int) -> int:
    """What a rule is, where it is only another one, that one."""
    node = rule
    for _ in range(_LONG):
        if graph.kind[node] != RULE:
            break
        node = graph.below[node][0]
    return node


def _is_loop(graph: Graph, node: int) -> bool:
    return graph.kind[node] == REPEAT and graph.about[node] == (0, None)


def _parts(graph: Graph, node: int) -> tuple[int, ...]:
    return graph.below[node] if graph.kind[node] == SEQUENCE else (node,)


def _arms(graph: Graph, node: int) -> tuple[int, ...]:
    return graph.below[node] if graph.kind[node] == CHOICE else (node,)
