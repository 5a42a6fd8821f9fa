"""Levels of operators as one level: which of them binds closer does not change which texts are legal.

Where `b` is `s t*`, the level above it, `a: b (x b)*`, is `s t* (x s t*)*`, and that is `s (t | x s)*`: the
denesting rule of Kleene algebra, `t* (y t*)* = (t | y)*`. So an expression with thirty levels is an operand,
and operators with operands after it: one place to be in behind an operand, not one for each level.
"""

from __future__ import annotations

from sglc.grammar.graph import CHOICE, REPEAT, RULE, SEQUENCE, Graph

_TOGETHER = 64
"""So many ways to go on are written in one place; those of further levels are a rule."""
_LONG = 8
"""Parts of an operand that are written again behind each operator."""


def merge_levels(graph: Graph) -> None:
    """Rewrite the levels of a graph that is settled and free of left recursion."""
    levels = {rule: below for rule in graph.rules if (below := _next_level(graph, rule)) is not None}
    for rule in list(levels):
        path: list[int] = []
        here = rule
        while here in levels:
            path.append(here)
            here = levels.pop(here)
        for level in reversed(path):
            _merge(graph, level)


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


def _merge(graph: Graph, rule: int) -> None:
    """Write `a: b (x b)*` as `s (x s | t)*`, if `b` is `s t*`."""
    below = graph.below
    lower, loop = _parts(graph, below[rule][0])
    *operand, repeated = _parts(graph, _body(graph, lower))
    if not 0 < len(operand) <= _LONG or not _is_loop(graph, repeated):
        return
    arms = [graph.sequence((*_parts(graph, arm)[:-1], *operand)) for arm in _arms(graph, below[loop][0])]
    further = below[repeated][0]
    if len(_arms(graph, further)) > _TOGETHER:
        together = graph.rule("operators")
        graph.define(together, further)
        graph.apart.add(together)
        arms.append(together)
    else:
        arms += _arms(graph, further)
    following = graph.repeat(graph.choice(arms), 0, None)
    below[rule] = (graph.sequence((*operand, following)),)


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
