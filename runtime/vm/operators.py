"""Unary and binary operators by the spelling that instructions name them with.

Integers become decimals and decimals floats where operands differ; dividing two integers gives a decimal.
Whatever cannot be computed is a `Failure`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow
from functools import lru_cache
from typing import Any

from sglc.automata.dfa import accepts
from sglc.automata.regex import RegexError, compile_regex
from sglc.automata.term import CharDfa
from sglc.runtime.vm.values import ITEMS_LIMIT, TEXT_LIMIT, failure, kind
from sglc.types.equality import equal, position
from sglc.types.values import EnumValue

DIGITS = Context(prec=50, Emax=999_999, Emin=-999_999, traps=[InvalidOperation, DivisionByZero, Overflow])
"""Decimals are exact up to 50 digits; beyond, results are rounded half even."""
INTEGER_BITS = 20_000
"""Most bits of an integer that a program may compute."""


_TOO_DEEP = "values are nested too deeply to be compared"


def _promote(a: Any, b: Any) -> tuple[Any, Any]:
    """Two numbers as numbers of one kind."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a), float(b)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return (
            a if isinstance(a, Decimal) else Decimal(a),
            b if isinstance(b, Decimal) else Decimal(b),
        )
    return a, b


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _numbers(symbol: str, a: Any, b: Any) -> tuple[Any, Any]:
    if not (_is_number(a) and _is_number(b)):
        raise failure(f"`{symbol}` does not work on {kind(a)} and {kind(b)}")
    try:
        return _promote(a, b)
    except OverflowError:
        raise failure("a number is too large for a float") from None


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
        raise failure("an integer grew too large")
    if isinstance(value, str) and len(value) > TEXT_LIMIT:
        raise failure(f"a text grew beyond {TEXT_LIMIT} characters")
    if isinstance(value, list | dict) and len(value) > ITEMS_LIMIT:
        raise failure(f"a list or map grew beyond {ITEMS_LIMIT} items")
    return value


def _arithmetic(symbol: str, plain: Callable[[Any, Any], Any], exact: Callable[[Any, Any], Any]) -> Any:
    def compute(a: Any, b: Any) -> Any:
        a, b = _numbers(symbol, a, b)
        try:
            return _bounded(exact(a, b) if isinstance(a, Decimal) else plain(a, b))
        except ZeroDivisionError:
            raise failure("division by zero") from None
        except (DecimalException, OverflowError) as fault:
            if isinstance(fault, DivisionByZero) or (b == 0 and symbol in ("/", "//", "%")):
                raise failure("division by zero") from None
            raise failure(f"the result of `{symbol}` is too large") from None

    return compute


_add_numbers = _arithmetic("+", operator.add, DIGITS.add)
_multiply_numbers = _arithmetic("*", operator.mul, DIGITS.multiply)


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        a, b = Decimal(a), Decimal(b)
        return DIGITS.divide(a, b)
    return a / b


def _floor_divide(a: Decimal, b: Decimal) -> Decimal:
    quotient = DIGITS.divide_int(a, b)
    if DIGITS.multiply(quotient, b) != a and (a < 0) != (b < 0):
        quotient -= 1
    return quotient


def _modulo(a: Decimal, b: Decimal) -> Decimal:
    """The remainder with the divisor's sign, as for integers."""
    rest = DIGITS.remainder(a, b)
    return rest + b if rest != 0 and (rest < 0) != (b < 0) else rest


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        if b < 0:
            return DIGITS.power(Decimal(a), Decimal(b))
        if abs(a) > 1 and b * a.bit_length() > INTEGER_BITS:
            raise OverflowError
        return a**b
    result = a**b
    if isinstance(result, complex):
        raise failure("a negative number has no power that is a fraction")
    return result


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, str) and isinstance(b, str):
        if len(a) + len(b) > TEXT_LIMIT:
            raise failure(f"a text grew beyond {TEXT_LIMIT} characters")
        return a + b
    if isinstance(a, list | range) and isinstance(b, list | range):
        if len(a) + len(b) > ITEMS_LIMIT:
            raise failure(f"a list grew beyond {ITEMS_LIMIT} items")
        return [*a, *b]
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    return _add_numbers(a, b)


def _multiply(a: Any, b: Any) -> Any:
    for sequence, times in ((a, b), (b, a)):
        if isinstance(sequence, str | list) and isinstance(times, int) and not isinstance(times, bool):
            if len(sequence) * max(times, 0) > ITEMS_LIMIT:
                raise failure("a repeated text or list grew too large")
            return sequence * times
    return _multiply_numbers(a, b)


def same(a: Any, b: Any) -> bool:
    try:
        return equal(a, b)
    except RecursionError:
        raise failure(_TOO_DEEP) from None


def _compare(symbol: str, test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(a: Any, b: Any) -> bool:
        while isinstance(a, list | tuple) and isinstance(b, list | tuple):
            # By the first parts that differ, else by length.
            places = range(min(len(a), len(b)))
            at = next((at for at in places if not same(a[at], b[at])), None)
            if at is None:
                return test(len(a), len(b))
            a, b = a[at], b[at]
        if (isinstance(a, str) and isinstance(b, str)) or (_is_number(a) and _is_number(b)):
            return test(a, b)
        raise failure(f"`{symbol}` does not order {kind(a)} and {kind(b)}")

    return compare


def occurrences(items: Sequence[Any], item: Any, most: int | None = None) -> int:
    """How many items equal one; `most` are enough."""
    found, at = 0, -1
    try:
        while most is None or found < most:
            at = position(items, item, at + 1)
            if at < 0:
                break
            found += 1
    except RecursionError:
        raise failure(_TOO_DEEP) from None
    return found


def contains(container: Any, item: Any) -> bool:
    """`item in container`: part of a text, item of a list, key of a map."""
    if isinstance(container, str):
        if not isinstance(item, str):
            raise failure(f"a text cannot contain {kind(item)}")
        return item in container
    if isinstance(container, dict):
        return isinstance(item, str | EnumValue) and item in container
    if isinstance(container, list | tuple | range):
        return occurrences(container, item, 1) > 0
    raise failure(f"{kind(container)} contains nothing")


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> CharDfa:
    try:
        return compile_regex(pattern)
    except RegexError as fault:
        raise failure(f"/{pattern}/ is no regular expression: {fault}") from None


def matches(text: Any, pattern: Any) -> bool:
    """Whether the whole text matches a regular expression."""
    if not (isinstance(text, str) and isinstance(pattern, str)):
        raise failure(f"`matches` does not work on {kind(text)}")
    return accepts(_pattern(pattern), text)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": _add,
    "-": _arithmetic("-", operator.sub, DIGITS.subtract),
    "*": _multiply,
    "/": _arithmetic("/", _divide, DIGITS.divide),
    "//": _arithmetic("//", operator.floordiv, _floor_divide),
    "%": _arithmetic("%", operator.mod, _modulo),
    "**": _arithmetic("**", _power, DIGITS.power),
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
    "starts with": lambda a, b: a.startswith(b),
    "ends with": lambda a, b: a.endswith(b),
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
}


def _negate(value: Any) -> Any:
    if not _is_number(value):
        raise failure(f"`-` does not work on {kind(value)}")
    return DIGITS.minus(value) if isinstance(value, Decimal) else -value


UNARY: dict[str, Callable[[Any], Any]] = {
    "-": _negate,
    "not": lambda value: not value,
    "+": lambda value: value,
}
