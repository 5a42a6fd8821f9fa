"""When two values of the language are equal: the one notion behind `==`, `in`, `match`, `count` and masks.

Booleans and numbers are different values, although Python takes True for 1. Numbers are equal by their exact
value, of whatever kind they are: 1 and 1.0 are, a decimal 0.1 and the float nearest to it are not. Texts are
equal by their characters, lists, tuples, maps and records by their parts, members by enum and name; a list
and a tuple are never equal. Ranges are the lists of their numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal

from sglc.types.values import EnumValue

_ALONE = (str, EnumValue)
"""Kinds of values that Python finds equal to their own kind only."""


def equal(left: object, right: object) -> bool:
    """Raises RecursionError for values that are nested hundreds deep."""
    if isinstance(left, _ALONE) or isinstance(right, _ALONE) or left is None or right is None:
        return bool(left == right)
    return key_of(left) == key_of(right)


def key_of(value: object) -> Hashable:
    """What equal values have in common and others have not; it can be kept in a set."""
    match value:
        case bool():
            return ("bool", value)
        case str() | int() | Decimal() | float() | None | EnumValue():
            return value
        case list() | range():
            return ("list", *map(key_of, value))
        case tuple():
            return ("tuple", *map(key_of, value))
        case Mapping():
            return ("map", frozenset((key_of(key), key_of(item)) for key, item in value.items()))
    if is_dataclass(value) and not isinstance(value, type):
        parts = (key_of(getattr(value, part.name)) for part in fields(value) if part.compare)
        return (value.__class__.__name__, *parts)
    return ("other", id(value))


def position(items: Sequence[object], item: object, start: int = 0) -> int:
    """Place of the first item from `start` on that equals one; -1 if there is none."""
    if isinstance(items, range) and (isinstance(item, bool) or not isinstance(item, int | float | Decimal)):
        return -1
    if isinstance(item, str | int | float | Decimal | EnumValue) or item is None:
        # Python's own search is fast, and finds no fewer than are equal.
        while True:
            try:
                start = items.index(item, start) if isinstance(items, list) else _index(items, item, start)
            except ValueError:
                return -1
            if equal(items[start], item):
                return start
            start += 1
    key = key_of(item)
    return next((at for at in range(start, len(items)) if key_of(items[at]) == key), -1)


def _index(items: Sequence[object], item: object, start: int) -> int:
    """`index` of a tuple or range, of which a range knows no `start`."""
    return items[start:].index(item) + start
