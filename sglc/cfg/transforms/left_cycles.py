"""Finds the left-recursive cycles of a grammar."""

from __future__ import annotations

from sglc.cfg.model.graph import Graph


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
