"""Smaller values than a value: what a failing test is tried with again. The least come first.

A number goes towards 0, a text and a list lose parts, an enum goes to an earlier member, a field to its
absence. Values need not be legal where they stand: who asks judges them. Each chain of them ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import EnumType, Type, TypeTable
from sglc.types.values import EnumValue, RecordValue

Item = TypeVar("Item")

STEPS = 12
"""Numbers up to 12 are tried as they are, and a number less each of 1 to 12: bounds and small multiples are
met that halves leap over."""
SPELLED = 16
"""Most characters of a text that are tried as `a`, one by one: longer texts are made shorter first."""


def smaller_texts(text: str, value: object, type: Type, table: TypeTable) -> Iterator[str]:
    """The texts of smaller values of a type than the one of a text."""
    seen = {text}
    for each in smaller(value, table):
        try:
            written = print_value(each, type, table)
        except (PrintError, TypeError, ValueError, KeyError):
            continue  # a part that its type does not have
        if written not in seen:
            seen.add(written)
            yield written


def smaller(value: object, table: TypeTable) -> Iterator[object]:
    """Values of the same kind that are less, the least first."""
    match value:
        case bool():
            if value:
                yield False
        case int():
            yield from _integers(value)
        case Decimal():
            yield from _decimals(value)
        case float():
            yield from (each for each in (0.0, float(int(value)), value / 2) if abs(each) < abs(value))
        case str():
            yield from _texts(value)
        case EnumValue():
            yield from _members(value, table)
        case list():
            yield from _without(value)
            yield from (list(each) for each in _inside(value, table))
        case tuple():
            yield from (tuple(each) for each in _inside(value, table))
        case RecordValue():
            for name, part in value.fields.items():
                for each in _fields(part, table):
                    yield replace(value, fields={**value.fields, name: each})
        case Mapping():
            yield from (dict(each) for each in _without(list(value.items())))
            for name, part in value.items():
                yield from ({**value, name: each} for each in smaller(part, table))


def _integers(value: int) -> Iterator[int]:
    sign, size = (-1, -value) if value < 0 else (1, value)
    if value < 0:
        yield size
    yield from (sign * each for each in range(min(STEPS + 1, size)))
    step = size // 2
    while step:
        yield sign * (size - step)
        step //= 2
    yield from (sign * (size - step) for step in range(2, min(STEPS, size) + 1))


def _decimals(value: Decimal) -> Iterator[Decimal]:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        return
    unit = Decimal(1).scaleb(exponent)
    whole = Decimal(int(value))
    if whole != value:
        yield whole
    yield from (each * unit for each in _integers(int(value / unit)))


def _texts(value: str) -> Iterator[str]:
    yield from ("".join(each) for each in _without(list(value)))
    if set(value) - {"a"}:
        yield "a" * len(value)
    if len(value) > SPELLED:
        return
    for at, character in enumerate(value):
        if character != "a":
            yield value[:at] + "a" + value[at + 1 :]


def _members(value: EnumValue, table: TypeTable) -> Iterator[EnumValue]:
    declared = table.get(value.enum)
    if isinstance(declared, EnumType) and value.name in declared.members:
        for name in declared.members[: declared.members.index(value.name)]:
            yield EnumValue(value.enum, name)


def _fields(part: object, table: TypeTable) -> Iterator[object]:
    if part is not None:
        yield None
    yield from smaller(part, table)


def _without(items: list[Item]) -> Iterator[list[Item]]:
    """The items without all of them, without each half, each quarter, and so on to each one."""
    size = len(items)
    while size:
        for at in range(0, len(items), size):
            yield items[:at] + items[at + size :]
        size //= 2


def _inside(items: list[object] | tuple[object, ...], table: TypeTable) -> Iterator[list[object]]:
    for at, item in enumerate(items):
        for each in smaller(item, table):
            yield [*items[:at], each, *items[at + 1 :]]
