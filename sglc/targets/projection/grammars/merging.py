"""Expressions joined with what they have in common written once, for short patterns of automata.

[a-z] [a-z]{1,7}   →   [a-z]{2,8}          [a-z]{3} " " | [a-z]{2} " "   →   [a-z]{2,3} " "
"""

from __future__ import annotations

from sglc.cfg.model import grammar as g
from sglc.targets.projection.grammars.expressions import choice, repeat, sequence


def in_a_row(*items: g.Expression) -> g.Expression:
    """One after the other; equal neighbours are counted."""
    found: list[g.Expression] = []
    for item in _items(sequence(*items)):
        joined = _counted_together(found[-1], item) if found else None
        if joined is None:
            found.append(item)
        else:
            found[-1] = joined
    return sequence(*found)


def either(one: g.Expression, other: g.Expression) -> g.Expression:
    """One of two; what arms begin or end with alike is written once."""
    arms: list[g.Expression] = []
    waiting = [*_arms(other), *_arms(one)]
    while waiting:
        arm = waiting.pop()
        for at, known in enumerate(arms):
            merged = _merged(known, arm)
            if merged is not None:
                del arms[at]
                waiting.append(merged)
                break
        else:
            arms.append(arm)
    return choice(*arms)


def _items(item: g.Expression) -> tuple[g.Expression, ...]:
    return item.items if isinstance(item, g.Sequence) else (item,)


def _arms(item: g.Expression) -> tuple[g.Expression, ...]:
    match item:
        case g.Alternatives(arms):
            return arms
        case g.Repeat(inner, 0, 1):
            return (*_arms(inner), g.EMPTY)
    return (item,)


def _count(item: g.Expression) -> tuple[g.Expression, int, int | None]:
    """An expression as a count of another."""
    return (item.item, item.minimum, item.maximum) if isinstance(item, g.Repeat) else (item, 1, 1)


def _counted_together(one: g.Expression, other: g.Expression) -> g.Expression | None:
    """Two neighbours as one count; None where they are not of the same."""
    (item, low, high), (same, more, most) = _count(one), _count(other)
    if item != same:
        return None
    return repeat(item, low + more, None if high is None or most is None else high + most)


def _merged(one: g.Expression, other: g.Expression) -> g.Expression | None:
    """Two arms as one; None where they have nothing in common."""
    if one == other:
        return one
    first, second = _items(one), _items(other)
    begin = _alike(first, second)
    end = _alike(first[begin:][::-1], second[begin:][::-1])
    if not begin and not end:
        return _counts_merged(one, other)
    middle = either(sequence(*first[begin : len(first) - end]), sequence(*second[begin : len(second) - end]))
    return in_a_row(*first[:begin], middle, *first[len(first) - end :])


def _alike(one: tuple[g.Expression, ...], other: tuple[g.Expression, ...]) -> int:
    """How many of the first items are equal."""
    return next(
        (at for at, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its),
        min(len(one), len(other)),
    )


def _counts_merged(one: g.Expression, other: g.Expression) -> g.Expression | None:
    """Two counts of the same as one, where no number is missing between them."""
    (item, low, high), (same, more, most) = _count(one), _count(other)
    if item != same or item == g.EMPTY:
        return None
    if (high is not None and more > high + 1) or (most is not None and low > most + 1):
        return None
    return repeat(item, min(low, more), None if high is None or most is None else max(high, most))
