"""Reductions of rules as functions: the parts of a rule go to the function that its action names."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from sglc.lalr.tables import Rule, Step

BuildFunction = Callable[..., object]
"""Makes a value from a context, the start and end of its extent in the text, and its parts in order."""

Reduction = Callable[[object, list[Any], int, int], object]
"""Makes the value of one rule from a context, the values of its symbols, and its extent in the text."""


def reduction(rule: Rule, function: BuildFunction | None) -> Reduction:
    """The reduction of a rule. Without a function its parts are given as a list.

    The single part of a rule that hands it on needs no reduction: `Rule.action` is "".
    """
    if rule.appends:
        return _appending(rule.steps)
    steps = rule.steps
    if function is None and steps == tuple(range(rule.length)):
        return lambda context, values, start, end: values
    if function is None or any(isinstance(step, tuple) for step in steps):
        return _gathering(steps, function)
    indices = [rule.length if step is None else step for step in steps if not isinstance(step, tuple)]
    if not indices:
        return lambda context, values, start, end: function(context, start, end)
    padded = None in steps
    if len(indices) == 1:
        if padded:
            return lambda context, values, start, end: function(context, start, end, None)
        (only,) = indices
        return lambda context, values, start, end: function(context, start, end, values[only])
    if len(indices) == 2 and not padded:
        one, two = indices
        return lambda context, values, start, end: function(context, start, end, values[one], values[two])
    pick = itemgetter(*indices)

    def reduce(context: object, values: list[Any], start: int, end: int) -> object:
        values.append(None)
        return function(context, start, end, *pick(values))

    return reduce


def _appending(steps: tuple[Step, ...]) -> Reduction:
    """Of a left-recursive list: the first part is the list so far."""
    if len(steps) == 2 and isinstance(steps[1], int):
        only = steps[1]

        def append(context: object, values: list[Any], start: int, end: int) -> object:
            values[0].append(values[only])
            return values[0]

        return append
    rest = steps[1:]

    def extend(context: object, values: list[Any], start: int, end: int) -> object:
        target = values[0]
        for step in rest:
            if isinstance(step, tuple):
                target.extend(values[step[0]])
            else:
                target.append(None if step is None else values[step])
        return target

    return extend


def _gathering(steps: tuple[Step, ...], function: BuildFunction | None) -> Reduction:
    """Of a rule with lists among its parts, which are spliced in, or without a function."""
    last = steps[-1] if steps else None
    if function is not None and isinstance(last, tuple) and len(steps) <= 2:
        (spliced,) = last
        if len(steps) == 1:
            return lambda context, values, start, end: function(context, start, end, *values[spliced])
        (head, _) = steps
        if isinstance(head, int):
            return lambda context, values, start, end: function(
                context, start, end, values[head], *values[spliced]
            )

    def gather(context: object, values: list[Any], start: int, end: int) -> object:
        parts: list[Any] = []
        for step in steps:
            if isinstance(step, tuple):
                parts.extend(values[step[0]])
            else:
                parts.append(None if step is None else values[step])
        return parts if function is None else function(context, start, end, *parts)

    return gather
