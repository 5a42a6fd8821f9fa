"""Operators, functions and methods of the language."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from enum import Enum
from typing import Any

from sglc.targets.python.support.values import Failure, Scored, attribute, items, kind, same, show
from sglc.types.arithmetic import (
    DECIMALS,
    NUMBER_DIGITS,
    ArithmeticFault,
    Number,
    absolute,
    compute,
    is_number,
    negated,
    number_fault,
)


def calculate(symbol: str, left: object, right: object) -> Any:
    """`left symbol right` of numbers; `+` also joins texts, lists and tuples, `*` also repeats."""
    if symbol == "+":
        for each in (str, list, tuple):
            if isinstance(left, each) and isinstance(right, each):
                return operator.add(left, right)
    if symbol == "*":
        for sequence, times in ((left, right), (right, left)):
            if isinstance(sequence, str | list) and isinstance(times, int) and not isinstance(times, bool):
                return sequence * times
    if not (is_number(left) and is_number(right)):
        raise Failure(f"`{symbol}` does not work on {kind(left)} and {kind(right)}")
    try:
        return compute(symbol, left, right)
    except ArithmeticFault as fault:
        raise Failure(str(fault)) from None


def negative(value: Any) -> Any:
    """`-value`."""
    return negated(value)


def compare(symbol: str, left: object, right: object) -> bool:
    """`left symbol right` for `<`, `<=`, `>` and `>=`."""
    test = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[symbol]
    while isinstance(left, list | tuple) and isinstance(right, list | tuple):
        places = range(min(len(left), len(right)))
        at = next((at for at in places if not same(left[at], right[at])), None)
        if at is None:
            return bool(test(len(left), len(right)))
        left, right = left[at], right[at]
    if (isinstance(left, str) and isinstance(right, str)) or (is_number(left) and is_number(right)):
        return bool(test(left, right))
    raise Failure(f"`{symbol}` does not order {kind(left)} and {kind(right)}")


def contains(container: Any, part: object) -> bool:
    """Whether it has this part of a text, item of a list, key of a map."""
    if isinstance(container, str):
        if not isinstance(part, str):
            raise Failure(f"a text cannot contain {kind(part)}")
        return part in container
    if isinstance(container, dict):
        return isinstance(part, str | Enum) and part in container
    return any(same(each, part) for each in container)


def among(part: object, container: object) -> bool:
    """`part in container`, whose part is computed first."""
    return contains(container, part)


def within(value: object, low: object, high: object, *, below: bool = False) -> bool:
    """Whether a number lies between the ends of a range."""
    return compare(">=", value, low) and compare("<" if below else "<=", value, high)


def matches(text: str, pattern: str) -> bool:
    """Whether the whole text matches."""
    return re.fullmatch(pattern, text) is not None


def truth(value: object) -> bool:
    """A condition."""
    return bool(value)


class _Key:
    """Orders values as the language's `<` does."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __lt__(self, other: _Key) -> bool:
        return compare("<", self.value, other.value)


def _best(symbol: str, found: Sequence[object], keys: Sequence[object]) -> object:
    if not found:
        raise Failure(f"an empty list has no {'largest' if symbol == '>' else 'smallest'} item")
    best = 0
    for index in range(1, len(found)):
        if compare(symbol, keys[index], keys[best]):
            best = index
    return found[best]


def _groups(found: Sequence[object], keys: Sequence[object]) -> Sequence[object]:
    groups: list[tuple[object, list[object]]] = []
    for each, key in zip(found, keys, strict=True):
        group = next((group for known, group in groups if same(known, key)), None)
        if group is None:
            groups.append((key, [each]))
        else:
            group.append(each)
    return groups


def ordered(name: str, value: object, key: Callable[[Any], object] | None = None) -> Any:
    """`max`, `min`, `sort` and `group` of a list, by a key of each item."""
    found = list(items(value))
    keys = found if key is None else [key(each) for each in found]
    if name == "group":
        return _groups(found, keys)
    if name != "sort":
        return _best(">" if name == "max" else "<", found, keys)
    return [found[at] for at in sorted(range(len(found)), key=lambda at: _Key(keys[at]))]


def _extreme(name: str) -> Callable[..., object]:
    return lambda *values: ordered(name, values[0] if len(values) == 1 else list(values))


def _sum(values: object) -> object:
    total: object = 0
    for each in items(values):
        total = calculate("+", total, each)
    return total


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:37] + "…"


def _sound(value: Number) -> Number:
    if (why := number_fault(value)) is not None:
        raise Failure(f"{_shown(value)} is no number of the language: {why}")
    return value


def _int(value: Any) -> Number:
    try:
        return _sound(int(value.strip().replace("_", "x") if isinstance(value, str) else value))
    except (ValueError, OverflowError, TypeError):
        raise Failure(f"{_shown(value)} is no integer") from None


def _decimal(value: Any) -> Number:
    try:
        if isinstance(value, str):
            found = Decimal(value.strip().replace("_", "x"))
        else:
            found = Decimal(repr(value) if isinstance(value, float) else value)
    except (InvalidOperation, TypeError, ValueError):
        raise Failure(f"{_shown(value)} is no decimal number") from None
    if not found.is_finite():
        raise Failure(f"{_shown(value)} is no decimal number")
    return _sound(found)


def _float(value: Any) -> float:
    try:
        found = float(value.replace("_", "x") if isinstance(value, str) else value)
    except (ValueError, OverflowError, TypeError):
        raise Failure(f"{_shown(value)} is no number") from None
    if not math.isfinite(found):
        raise Failure(f"{_shown(value)} is no finite number")
    return found


def _round(value: Any, digits: int | None = None) -> object:
    if isinstance(value, int):
        if digits is None or digits >= 0:
            return value
        return _sound(round(value, max(digits, -NUMBER_DIGITS)))
    if digits is None:
        return int(value.to_integral_value(ROUND_HALF_EVEN)) if isinstance(value, Decimal) else round(value)
    digits = max(-30, min(30, digits))
    if not isinstance(value, Decimal):
        return round(value, digits)
    try:
        return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN, DECIMALS)
    except InvalidOperation:
        return value


def _zip(left: object, right: object) -> list[tuple[object, ...]]:
    return [tuple(pair) for pair in zip(items(left), items(right), strict=False)]


FUNCTIONS: dict[str, Callable[..., object]] = {
    "len": len,
    "trust": lambda value: value,
    "sum": _sum,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "sorted": lambda value: ordered("sort", value),
    "reversed": lambda value: list(items(value))[::-1],
    "str": show,
    "int": _int,
    "decimal": _decimal,
    "float": _float,
    "round": _round,
    "abs": lambda value: absolute(value),
    "any": lambda value: any(items(value)),
    "all": lambda value: all(items(value)),
    "zip": _zip,
    "enumerate": lambda value: [(at, each) for at, each in enumerate(items(value))],
    "keys": lambda value: list(items(value)),
    "values": lambda value: list(value.values()),
}


def call(name: str, *values: object) -> Any:
    """A function of the language."""
    return FUNCTIONS[name](*values)


def _split(text: str, separator: str | None = None) -> list[str]:
    if separator == "":
        raise Failure("the separator of `split` is empty")
    return text.split(separator)


def _title(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" "))


TEXTS: dict[str, Callable[..., object]] = {
    "upper": str.upper,
    "lower": str.lower,
    "title": _title,
    "strip": lambda text: text.strip(),
    "split": _split,
    "join": lambda text, parts: text.join(map(show, items(parts))),
    "replace": lambda text, old, new: text.replace(old, new),
    "starts_with": lambda text, start: text.startswith(start),
    "ends_with": lambda text, end: text.endswith(end),
    "contains": contains,
    "find": lambda text, part: text.find(part),
    "count": lambda text, part: text.count(part),
    "lines": lambda text: text.splitlines(),
    "words": lambda text: text.split(),
}


def _end(name: str, place: int) -> Callable[..., object]:
    def of(value: Sequence[object]) -> object:
        if not value:
            raise Failure(f"an empty list has no {name} item")
        return value[place]

    return of


def _by_id(value: Sequence[object], wanted: object) -> object:
    for each in value:
        if same(attribute(each, "id"), wanted):
            return each
    raise Failure(f"no item has the id {_shown(wanted)}")


LISTS: dict[str, Callable[..., object]] = {
    "max": lambda value: ordered("max", value),
    "min": lambda value: ordered("min", value),
    "sort": lambda value: ordered("sort", value),
    "first": _end("first", 0),
    "last": _end("last", -1),
    "by_id": _by_id,
    "contains": contains,
    "count": lambda value, part: sum(same(each, part) for each in value),
    "join": lambda value, separator: separator.join(map(show, value)),
}
MAPS: dict[str, Callable[..., object]] = {
    "get": lambda value, key, default=None: value[key] if contains(value, key) else default,
    "keys": lambda value: list(value),
    "values": lambda value: list(value.values()),
    "contains": contains,
}
CHOICES: dict[str, Callable[..., object]] = {
    "p": lambda value, option: 1.0 if same(value.top, option) else 0.0,
    "logprob": lambda value, option: 0.0 if same(value.top, option) else -math.inf,
}


def method(value: object, name: str, *more: object) -> Any:
    """A method of the language."""
    for each, known in ((str, TEXTS), (list, LISTS), (tuple, LISTS), (dict, MAPS), (Scored, CHOICES)):
        if isinstance(value, each):
            return known[name](value, *more)
    raise Failure(f"{kind(value)} has no method `{name}`")
