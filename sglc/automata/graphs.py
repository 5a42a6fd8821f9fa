"""Questions about directed graphs: what can be reached, and whether there are cycles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def reached(starts: Iterable[K], following: Callable[[K], Iterable[K]]) -> list[K]:
    """All nodes that can be reached from some, each once: these first, nearer ones before others."""
    found = list(dict.fromkeys(starts))
    seen = set(found)
    for node in found:
        for other in following(node):
            if other not in seen:
                seen.add(other)
                found.append(other)
    return found


def successors_first(following: Mapping[K, Collection[K]]) -> list[K]:
    """The nodes, each behind all that it leads to, by Kahn's algorithm (1962).

    Those from which a cycle can be reached are left out. `following` has all nodes.
    """
    before: dict[K, list[K]] = {node: [] for node in following}
    for node, others in following.items():
        for other in others:
            before[other].append(node)
    left = {node: len(others) for node, others in following.items()}
    order = [node for node, count in left.items() if not count]
    for node in order:
        for earlier in before[node]:
            left[earlier] -= 1
            if not left[earlier]:
                order.append(earlier)
    return order
