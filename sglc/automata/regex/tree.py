"""The syntax tree of a regular expression, the same for all dialects, and simple facts about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from sglc.automata.charset import Ranges
from sglc.immutable import value


class RegexError(ValueError):
    """`position` counts characters of the pattern from 0."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"at {position}: {reason}")
        self.position = position
        self.reason = reason


@value
class Chars:
    """One character of a set."""

    these: Ranges


@value
class Join:
    items: tuple[Node, ...]


@value
class Either:
    arms: tuple[Node, ...]


@value
class Loop:
    item: Node
    minimum: int
    maximum: int | None
    position: int
    lazy: bool = False
    """Only told apart while a pattern is read: it matters to atomic groups."""


@value
class Edge:
    """A place told by its two neighbours alone.

    `start`: no character before. `end`: none behind. `line_start`, `line_end`: or one of `these` there.
    `word`: one neighbour is in `these`, the other one is not; `not_word`: the opposite.
    """

    kind: Literal["start", "end", "line_start", "line_end", "word", "not_word"]
    these: Ranges = ()


@value
class Look:
    """A place where `item` does (or, `negated`, does not) match what follows (or, `behind`, comes before)."""

    item: Node
    behind: bool
    negated: bool
    position: int


@value
class Capture:
    """A group that may be referred to; gone when a pattern has been read."""

    item: Node
    number: int
    position: int


@value
class Back:
    """The text that a group has matched; gone when a pattern has been read."""

    number: int
    position: int


Node = Chars | Join | Either | Loop | Edge | Look | Capture | Back

EMPTY = Join(())


def has_look(node: Node) -> bool:
    """Whether there is a lookahead or lookbehind anywhere."""
    return isinstance(node, Look) or any(has_look(part) for part in parts(node))


def has_places(node: Node) -> bool:
    """Whether there is an `Edge` or a `Look` anywhere."""
    return isinstance(node, Edge | Look) or any(has_places(part) for part in parts(node))


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes directly below one."""
    if isinstance(node, Join):
        return node.items
    if isinstance(node, Either):
        return node.arms
    if isinstance(node, Loop | Look | Capture):
        return (node.item,)
    return ()


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """A node with the nodes directly below it changed; whether loops are lazy does not matter any more."""
    if isinstance(node, Join):
        return Join(tuple(map(change, node.items)))
    if isinstance(node, Either):
        return Either(tuple(map(change, node.arms)))
    if isinstance(node, Loop):
        return Loop(change(node.item), node.minimum, node.maximum, node.position)
    return replace(node, item=change(node.item)) if isinstance(node, Look | Capture) else node


def may_be_empty(node: Node, sure: bool = False) -> bool:
    """Whether the empty text matches: where places inside hold, or (`sure`) wherever it stands."""
    if isinstance(node, Loop):
        return node.minimum == 0 or may_be_empty(node.item, sure)
    if isinstance(node, Either):
        return any(may_be_empty(arm, sure) for arm in node.arms)
    if isinstance(node, Join | Capture):
        return all(may_be_empty(part, sure) for part in parts(node))
    return not sure and not isinstance(node, Chars)


def longest_word(node: Node) -> int | None:
    """The characters of its longest word, -1 without any word, None if there are ever longer ones; only asked
    where there are no places inside."""
    if isinstance(node, Chars):
        return 1 if node.these else -1
    inside = [longest_word(part) for part in parts(node)]
    if isinstance(node, Loop):
        (item,) = inside
        if item == -1:
            return 0 if node.minimum == 0 else -1
        if item == 0 or node.maximum == 0:
            return 0
        return None if item is None or node.maximum is None else item * node.maximum
    if isinstance(node, Either):
        return None if None in inside else max((each for each in inside if each is not None), default=-1)
    if -1 in inside:
        return -1
    return None if None in inside else sum(each for each in inside if each is not None)


def without_anchors(node: Node, left: bool, right: bool) -> tuple[Node, bool, bool]:
    """Take `^` and `$` at the ends of a node into the flags, which say whether any text may come there."""
    items = node.items if isinstance(node, Join) else (node,)
    while items and items[0] == Edge("start"):
        items, left = items[1:], False
    while items and items[-1] == Edge("end"):
        items, right = items[:-1], False
    return (items[0] if len(items) == 1 else Join(items)), left, right


def cut(node: Node, *, left: bool) -> Node:
    """A simpler node that matches the same where any text may follow (`left`: come before).

    There a loop need not go on beyond its minimum: `a{2,900}` is `a{2}`, and `b(cd?)*` is `b`.
    """
    if isinstance(node, Loop) and not has_places(node):
        if node.minimum == 0:
            return EMPTY
        if node.minimum == 1:
            return cut(node.item, left=left)
        rest: Node = Loop(node.item, node.minimum - 1, node.minimum - 1, node.position)
        last = cut(node.item, left=left)
        return Join((last, rest) if left else (rest, last))
    if isinstance(node, Join) and node.items:
        # Once nothing is left of an item, any text may follow the one before it.
        items = list(node.items if left else reversed(node.items))
        while items:
            first = cut(items[0], left=left)
            if first != EMPTY:
                items[0] = first
                break
            items.pop(0)
        return Join(tuple(items if left else reversed(items)))
    if isinstance(node, Either):
        arms = tuple(dict.fromkeys(cut(arm, left=left) for arm in node.arms))
        if EMPTY in arms:
            return EMPTY
        return arms[0] if len(arms) == 1 else Either(arms)
    return node


def factor(node: Node, depth: int = 0) -> Node:
    """The same language, common beginnings of alternatives taken out, so that fewer states are at work."""
    if not isinstance(node, Either):
        return with_parts(node, lambda part: factor(part, depth))
    if len(node.arms) < 3 or depth > _FACTOR_DEPTH:
        return node
    groups: dict[Node, list[tuple[Node, ...]]] = {}
    for arm in dict.fromkeys(node.arms):
        items = arm.items if isinstance(arm, Join) else (arm,)
        groups.setdefault(items[0] if items else EMPTY, []).append(items)
    arms: list[Node] = []
    for group in groups.values():
        if len(group) == 1:
            arms.append(Join(tuple(factor(item, depth + 1) for item in group[0])))
            continue
        shared = 0
        while all(len(items) > shared and items[shared] == group[0][shared] for items in group):
            shared += 1
        rest = Either(tuple(Join(items[shared:]) for items in group))
        arms.append(Join((*group[0][:shared], factor(rest, depth + 1))))
    return arms[0] if len(arms) == 1 else Either(tuple(arms))


_FACTOR_DEPTH = 60
"""How often what is left of alternatives is factored again, which is a recursion."""


def costliest(pattern: str, node: Node) -> str:
    """What is said of a pattern that takes too much work: how it begins, and where what is repeated most
    often (or looked at) stands in it."""
    best, position = 0, 0
    waiting: list[tuple[Node, int]] = [(node, 1)]
    while waiting:
        here, times = waiting.pop()
        if isinstance(here, Loop):
            times *= max(here.minimum, here.maximum or 2)
            if times > best:
                best, position = times, here.position
        elif isinstance(here, Look) and best < 2:
            best, position = 2, here.position
        waiting += [(part, times) for part in parts(here)]
    shown = pattern if len(pattern) <= _SHOWN else pattern[: _SHOWN - 1] + "…"
    return f"the pattern /{shown}/ at character {position}"


_SHOWN = 60
"""Characters of a pattern in a message."""
