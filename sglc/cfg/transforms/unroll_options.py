"""Unrolls chains of optional parts: `a? b? c?` becomes `a (b? c?) | b (c?) | c | nothing`.

Read part by part, a chain of a thousand options has a thousand states at its beginning, and again behind each
option. Unrolled, it is a choice of the first part that is present. What follows a part is a rule, so these
choices share their ends and stay small together.
"""

from __future__ import annotations

from sglc.cfg.model.graph import CHOICE, NO, REPEAT, RULE, SEQUENCE, YES, Graph, bounds

MANY = 24
"""So many options in a row are written as a choice."""
_TOGETHER = 32
"""Choices end in a rule after so many parts."""


def unroll_options(graph: Graph) -> None:
    """Rewrite the long runs of options in a graph that is settled and free of left recursion.

    For texts between which nothing looks ahead.
    """
    for node, below in enumerate(list(graph.below)):
        if len(below) >= MANY and graph.kind[node] == SEQUENCE:
            options = [graph.nullable[item] and _filled(graph, item) for item in below]
            if sum(map(bool, options)) >= MANY:
                _unroll(graph, node, options)


def _unroll(graph: Graph, node: int, options: list[int]) -> None:
    """`options`: the parts of a sequence without the empty text, 0 where that is not at hand."""
    below = graph.below[node]
    behind = graph.empty
    end = len(below)
    while end:
        begin = size = end
        # Back to the last long run of options, or over it.
        while begin and (size - begin < MANY or options[begin - 1]):
            begin -= 1
            if not options[begin]:
                size = begin
        if size - begin >= MANY:
            behind = graph.sequence((*below[size:end], behind))
            behind = _choices(graph, options[begin:size], behind)
        else:
            behind = graph.sequence((*below[begin:end], behind))
        end = begin
    # What was the sequence is the same as the choice that it comes down to.
    graph.kind[node], graph.below[node] = graph.kind[behind], graph.below[behind]
    graph.about[node] = graph.about[behind]


def _choices(graph: Graph, options: list[int], behind: int) -> int:
    """A rule of the first part that is there, what may follow it, or only what is behind all of them."""
    kind, below, begins = graph.kind, graph.below, graph.begins
    nullable = graph.nullable[behind]
    after = behind
    arms: tuple[int, ...] = ()
    last = behind
    for number, option in enumerate(reversed(options)):
        if number and not number % _TOGETHER:
            arms, last = (), after
        parts = below[option] if kind[option] == SEQUENCE else (option,)
        rest = below[after] if kind[after] == SEQUENCE else (after,)
        arms = (graph.add(SEQUENCE, (*parts, *rest), None, NO, YES, begins[parts[0]]), *arms)
        after = graph.rule("rest")
        graph.apart.add(after)
        graph.define(after, graph.add(CHOICE, (*arms, last), None, nullable, YES, True))
    return after


def _filled(graph: Graph, node: int) -> int:
    """The texts of an option but the empty one, as a node; 0 where it is not written as one."""
    kind, below = graph.kind, graph.below
    for _ in range(MANY):
        if kind[node] != RULE or not below[node]:
            break
        node = below[node][0]
    if kind[node] == REPEAT:
        item = below[node][0]
        minimum, maximum = bounds(graph.about[node])
        if minimum or graph.nullable[item]:
            return 0
        if maximum == 1:
            return item
        if maximum is None:
            return graph.sequence((item, node))
        return graph.sequence((item, graph.repeat(item, 0, maximum - 1)))
    if kind[node] == CHOICE:
        arms = [arm for arm in below[node] if arm != graph.empty]
        if len(arms) < len(below[node]) and arms and not any([graph.nullable[arm] for arm in arms]):
            return graph.choice(arms)
    return 0
