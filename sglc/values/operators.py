"""Unary and binary operators by the spelling that operations and instructions name them with.

`sglc.types.arithmetic` computes with numbers. What cannot be computed raises `ValueFault`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sglc.automata.dfa.operations import accepts
from sglc.automata.term import CharDfa
from sglc.types.arithmetic import ArithmeticFault, compute, is_number, negated
from sglc.types.equality import equal, position
from sglc.types.values import EnumValue
from sglc.values.kinds import ITEMS_LIMIT, TEXT_LIMIT, ValueFault, kind

_TOO_DEEP = "values are nested too deeply to be compared"


def _arithmetic(symbol: str) -> Callable[[object, object], object]:
    def work(a: object, b: object) -> object:
        if not (is_number(a) and is_number(b)):
            raise ValueFault(f"`{symbol}` does not work on {kind(a)} and {kind(b)}")
        try:
            return compute(symbol, a, b)
        except ArithmeticFault as fault:
            raise ValueFault(str(fault)) from None

    return work


def extend(items: list[object], more: list[object] | range) -> None:
    """Put items behind those of a list, which is changed. Raises ValueFault beyond the limit."""
    if len(items) + len(more) > ITEMS_LIMIT:
        raise ValueFault(f"a list grew beyond {ITEMS_LIMIT} items")
    items.extend(more)


_add_numbers = _arithmetic("+")
_multiply_numbers = _arithmetic("*")


def add(a: object, b: object) -> object:
    """`a + b`: of two numbers, texts, lists or tuples. Raises ValueFault for others, and beyond limits."""
    if isinstance(a, str) and isinstance(b, str):
        if len(a) + len(b) > TEXT_LIMIT:
            raise ValueFault(f"a text grew beyond {TEXT_LIMIT} characters")
        return a + b
    if isinstance(a, list | range) and isinstance(b, list | range):
        together = list(a)
        extend(together, b)
        return together
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    return _add_numbers(a, b)


def _multiply(a: object, b: object) -> object:
    for sequence, times in ((a, b), (b, a)):
        if isinstance(sequence, str | list) and isinstance(times, int) and not isinstance(times, bool):
            if len(sequence) * max(times, 0) > ITEMS_LIMIT:
                raise ValueFault("a repeated text or list grew too large")
            return sequence * times
    return _multiply_numbers(a, b)


def same(a: object, b: object) -> bool:
    """`a == b` of the language (`sglc.types.equality`). Raises ValueFault for values nested too deeply."""
    try:
        return equal(a, b)
    except RecursionError:
        raise ValueFault(_TOO_DEEP) from None


def _compare(symbol: str, test: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def compare(a: object, b: object) -> bool:
        while isinstance(a, list | tuple) and isinstance(b, list | tuple):
            # By the first parts that differ, else by length.
            places = range(min(len(a), len(b)))
            at = next((at for at in places if not same(a[at], b[at])), None)
            if at is None:
                return test(len(a), len(b))
            a, b = a[at], b[at]
        if (isinstance(a, str) and isinstance(b, str)) or (is_number(a) and is_number(b)):
            return test(a, b)
        raise ValueFault(f"`{symbol}` does not order {kind(a)} and {kind(b)}")

    return compare


def occurrences(items: Sequence[object], item: object, most: int | None = None) -> int:
    """How many items equal one; `most` are enough."""
    found, at = 0, -1
    try:
        while most is None or found < most:
            at = position(items, item, at + 1)
            if at < 0:
                break
            found += 1
    except RecursionError:
        raise ValueFault(_TOO_DEEP) from None
    return found


def contains(container: object, item: object) -> bool:
    """`item in container`: part of a text, item of a list, key of a map."""
    if isinstance(container, str):
        if not isinstance(item, str):
            raise ValueFault(f"a text cannot contain {kind(item)}")
        return item in container
    if isinstance(container, dict):
        return isinstance(item, str | EnumValue) and item in container
    if isinstance(container, list | tuple | range):
        return occurrences(container, item, 1) > 0
    raise ValueFault(f"{kind(container)} contains nothing")


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> CharDfa:
    from sglc.automata.regex.compile import RegexError, compile_regex  # most programs match nothing

    try:
        return compile_regex(pattern)
    except RegexError as fault:
        raise ValueFault(f"/{pattern}/ is no regular expression: {fault}") from None


def matches(text: object, pattern: object) -> bool:
    """Whether the whole text matches a regular expression."""
    if not (isinstance(text, str) and isinstance(pattern, str)):
        raise ValueFault(f"`matches` does not work on {kind(text)}")
    return accepts(_pattern(pattern), text)


BINARY: dict[str, Callable[[object, object], object]] = {
    "+": add,
    "-": _arithmetic("-"),
    "*": _multiply,
    "/": _arithmetic("/"),
    "//": _arithmetic("//"),
    "%": _arithmetic("%"),
    "**": _arithmetic("**"),
    "==": same,
    "!=": lambda a, b: not same(a, b),
    "<": _compare("<", operator.lt),
    "<=": _compare("<=", operator.le),
    ">": _compare(">", operator.gt),
    ">=": _compare(">=", operator.ge),
    "in": lambda a, b: contains(b, a),
    "not in": lambda a, b: not contains(b, a),
    "contains": contains,
    "matches": matches,
    "both": lambda a, b: a is True and b is True,
}


def _negate(value: object) -> object:
    if not is_number(value):
        raise ValueFault(f"`-` does not work on {kind(value)}")
    return negated(value)


UNARY: dict[str, Callable[[object], object]] = {
    "-": _negate,
    "not": lambda value: not value,
}
