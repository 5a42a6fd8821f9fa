"""Conditions without parts whose truth is known, what they leave out, and the lengths that they allow."""

from __future__ import annotations

from math import ceil

from sglc.types.arithmetic import is_number
from sglc.types.condition import (
    All,
    Among,
    Compared,
    Condition,
    Divided,
    Either,
    Flag,
    Not,
    atoms,
    conjuncts,
    holds,
    known,
    listed,
)
from sglc.types.values import GivenError, Value

MOST_ITEMS = 65_536
"""Largest length that a condition on a list or map may compare with."""


def left_out(condition: Condition) -> list[str]:
    """The texts that a condition leaves out, of one that says no more (`is_expressible` of a `span of`)."""
    found: list[Value] = []
    for part in conjuncts(condition):
        inner = part.part if isinstance(part, Not) else part
        if isinstance(inner, Compared):
            found.append(known(inner.bound))
        elif isinstance(inner, Among):
            found += listed(known(inner.values))
    return [text for text in found if isinstance(text, str)]


def settled(condition: Condition) -> Condition:
    """The condition without parts whose truth is known: `All(())` where it holds, `Either(())` where not."""
    match condition:
        case Flag(value=value):
            return All(()) if known(value) else Either(())
        case Divided(step=step) if known(step) == 0:
            raise GivenError("a condition divides by zero")
        case Not(part=part):
            inner = settled(part)
            match inner:
                case All(parts=()):
                    return Either(())
                case Either(parts=()):
                    return All(())
            return Not(inner)
        case All(parts=parts):
            found = [settled(part) for part in parts]
            if Either(()) in found:
                return Either(())
            found = [part for part in found if part != All(())]
            return found[0] if len(found) == 1 else All(tuple(found))
        case Either(parts=parts):
            found = [settled(part) for part in parts]
            if All(()) in found:
                return All(())
            found = [part for part in found if part != Either(())]
            return found[0] if len(found) == 1 else Either(tuple(found))
    return condition


def lengths(least: int, most: int | None, condition: Condition) -> list[tuple[int, int | None]]:
    """The ranges of lengths within bounds for which a condition holds. Raises GivenError."""
    marks = [
        ceil(bound)
        for part in atoms(condition)
        if isinstance(part, Compared) and is_number(bound := known(part.bound))
    ]
    beyond = max([least, *marks, 0]) + 1
    if beyond > MOST_ITEMS:
        raise GivenError("a condition compares with a length that no list has")
    last = beyond if most is None else min(beyond, most)
    found: list[tuple[int, int | None]] = []
    start: int | None = None
    for length in range(least, last + 2):
        # A range stands for all lists of its length.
        here = length <= last and holds(condition, range(length))
        if here and start is None:
            start = length
        elif not here and start is not None:
            open_ended = length == last + 1 and last == beyond
            found.append((start, most if open_ended else length - 1))
            start = None
    return found
