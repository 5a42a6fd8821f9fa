"""Finds the left-recursive cycles of a grammar, and rewrites those of the simple form."""

from __future__ import annotations

from sglc.cfg.model.graph import CHOICE, RULE, SEQUENCE, Graph


def unwound(graph: Graph, cycle: list[int]) -> bool:
    """Write `a: a x | a y | b | c`, where nothing else leads back to its beginning, as `(b | c) (x | y)*`.

    False, and nothing is changed, if the cycle is of another form. The nodes of a cycle but its rules stand
    nowhere else.
    """
    kind, below, nullable = graph.kind, graph.below, graph.nullable
    rules = [node for node in cycle if kind[node] == RULE]
    if len(rules) != 1 or nullable[rules[0]]:
        return False
    rule = rules[0]
    body = below[rule][0]
    members = set(cycle)
    if kind[body] != CHOICE or len(cycle) != 2 + len(members.intersection(below[body])):
        return False
    rests: list[int] = []
    seeds: list[int] = []
    for arm in below[body]:
        items = below[arm] if kind[arm] == SEQUENCE else (arm,)
        if items[-1] == rule:
            return False
        if arm not in members:
            seeds.append(arm)
        elif kind[arm] != SEQUENCE or items[0] != rule or all([nullable[item] for item in items[1:]]):
            return False
        else:
            rests.append(graph.sequence(items[1:]))
    # What is read once more is never empty.
    graph.below[rule] = (graph.sequence((graph.choice(seeds), graph.repeat(graph.choice(rests), 0, None))),)
    return True


def left_recursive_sccs(graph: Graph) -> list[list[int]]:
    """Strongly connected components of `left` that are recursive, by Tarjan's algorithm (1972)."""
    # What begins with no rule is in no cycle: it counts as done.
    index = [-1 if begins else 0 for begins in graph.begins]
    low = list(index)
    on_path: set[int] = set()
    path: list[int] = []
    found: list[list[int]] = []
    count = 0
    for root in graph.rules:
        if index[root] >= 0:
            continue
        index[root] = low[root] = count = count + 1
        path.append(root)
        on_path.add(root)
        stack = [(root, iter(graph.left(root)))]
        while stack:
            node, following = stack[-1]
            for inner in following:
                if index[inner] < 0:
                    index[inner] = low[inner] = count = count + 1
                    path.append(inner)
                    on_path.add(inner)
                    stack.append((inner, iter(graph.left(inner))))
                    break
                if inner in on_path and index[inner] < low[node]:
                    low[node] = index[inner]
            else:
                stack.pop()
                if stack and low[node] < low[stack[-1][0]]:
                    low[stack[-1][0]] = low[node]
                if low[node] == index[node]:
                    members = []
                    while True:
                        member = path.pop()
                        on_path.discard(member)
                        members.append(member)
                        if member == node:
                            break
                    if len(members) > 1 or node in graph.left(node):
                        found.append(members)
    return found
