"""What is found out about the nodes of a constraint before any of them is opened."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.nodes.core import RuleNode
from sglc.runtime.mask.product_nodes.difference import Exclusion


def analyse(nodes: Sequence[Node], machine: Machine) -> None:
    """Find out which of new nodes are productive and nullable, by a least fixpoint; refuse left recursion.

    Raises ConstraintError.
    """
    undecided: list[tuple[int, Exclusion]] = []
    for node in nodes:
        if isinstance(node, Exclusion):
            below = _reachable(node)
            if node in below:
                raise ConstraintError("an exclusion may not contain itself")
            undecided.append((sum(isinstance(other, Exclusion) for other in below), node))
    _fixpoint(nodes)
    _refuse_left_recursion(nodes)
    # An exclusion has fewer inside it than any that it is inside of, so what it asks about is decided.
    for _, exclusion in sorted(undecided, key=lambda pair: pair[0]):
        exclusion.settle(machine)
        _fixpoint(nodes)


def _fixpoint(nodes: Sequence[Node]) -> None:
    """Looks again at what is above a node that has changed, so that long chains cost no more."""
    # Mostly nodes are made after those they are made of, and one look at each is enough.
    for node in nodes:
        productive, nullable = node.analyse()
        node.productive = node.productive or productive
        node.nullable = node.nullable or nullable
    if all([node.analyse() == (node.productive, node.nullable) for node in nodes]):
        return
    above: dict[int, list[Node]] = {}
    for node in nodes:
        for child in node.children():
            above.setdefault(child.index, []).append(node)
    waiting = deque(_children_first(nodes))
    # Of a choice between thousands each arm would have it asked again.
    queued = {node.index for node in waiting}
    while waiting:
        node = waiting.popleft()
        queued.discard(node.index)
        productive, nullable = node.analyse()
        if (productive, nullable) == (node.productive, node.nullable):
            continue
        if nullable and not node.nullable:
            asked = above.get(node.index, [])
        elif productive and not node.productive:
            asked = [outer for outer in above.get(node.index, ()) if not outer.productive]
        else:
            continue
        node.nullable = node.nullable or nullable
        node.productive = node.productive or productive
        for outer in asked:
            if outer.index not in queued:
                queued.add(outer.index)
                waiting.append(outer)


def _children_first(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, each after those it is made of unless there is a cycle."""
    order: list[Node] = []
    fresh = {node.index for node in nodes}
    for start in nodes:
        if start.index not in fresh:
            continue
        fresh.discard(start.index)
        stack = [(start, iter(start.children()))]
        while stack:
            node, children = stack[-1]
            child = next((child for child in children if child.index in fresh), None)
            if child is None:
                order.append(node)
                stack.pop()
            else:
                fresh.discard(child.index)
                stack.append((child, iter(child.children())))
    return order


def _refuse_left_recursion(nodes: Sequence[Node]) -> None:
    done: set[int] = set()
    for start in nodes:
        if not isinstance(start, RuleNode) or start.index in done:
            continue
        path: set[int] = set()
        stack: list[tuple[Node, bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                path.discard(node.index)
                done.add(node.index)
            elif node.index in path:
                name = node.name if isinstance(node, RuleNode) else start.name
                raise ConstraintError(f"rule {name!r} may call itself before it has read a byte")
            elif node.index not in done:
                path.add(node.index)
                stack.append((node, True))
                stack += [(child, False) for child in node.openers()]


def _reachable(root: Node) -> set[Node]:
    """All nodes strictly below one."""
    found: set[Node] = set()
    stack = list(root.children())
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            node.make_children()
            stack += node.children()
    return found
