"""Ranges that likely go one too far.

`a..b` includes b. Elsewhere, and in this language before, a range of a program leaves its end out, so what
counts rounds or places from 0 is looked at: `0..<n` has n values, `0..n` has n + 1. What is meant to include
its end says so with `..=` and is never reported (docs/decisions/036-inclusive-ranges.md).
"""

from __future__ import annotations

from sglc.check.core.walk import mentions, parts
from sglc.immutable import value
from sglc.syntax.tree import ast


@value
class Rounds:
    """What goes over a range: its variable, what is done in each round, and whether rounds are branches."""

    variable: str
    done: object
    branches: bool = False


def slip(node: ast.Range, rounds: Rounds | None) -> str:
    """Why the end of a range is likely not meant, as a sentence; empty where it may well be.

    `rounds` is None where the range is not gone over.
    """
    if node.operator.text != "..":
        return ""
    from_zero = isinstance(node.start, ast.Number) and node.start.value == 0
    to_length = _is_length(node.stop)
    stop = node.stop.span.text
    if from_zero and to_length:
        return f"the last place is `{stop} - 1`, and `0..{stop}` is one value more than there are places"
    if rounds is None or (isinstance(node.stop, ast.Binary) and node.stop.operator == "-"):
        return ""
    if (from_zero or to_length) and _is_index(rounds.done, rounds.variable):
        return f"`{rounds.variable}` is used as a place, and places are counted from 0"
    if to_length and not isinstance(node.start, ast.Number):
        return f"the last place is `{stop} - 1`"
    if not from_zero:
        return ""
    if rounds.branches:
        return "one branch is made for each value, 0 and the end among them"
    if rounds.variable == "_" or not mentions(rounds.done, (rounds.variable,)):
        return "the rounds are only counted, and 0 is one of them"
    if not isinstance(node.stop, ast.Number):
        return f"`0..{stop}` has one value more than `{stop}`"
    return ""


def _is_length(node: ast.Expression) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.function, ast.Reference)
        and node.function.name == "len"
    )


def _is_index(node: object, variable: str) -> bool:
    """Whether `xs[variable]` stands anywhere in a part of the tree."""
    waiting: list[object] = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting += found
            continue
        if isinstance(found, ast.Index) and isinstance(found.index, ast.Reference):
            if found.index.name == variable:
                return True
        waiting += parts(found)
    return False
