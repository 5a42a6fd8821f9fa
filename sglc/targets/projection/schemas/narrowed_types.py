"""What a condition leaves of a type, where that is a type or a list of values again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from sglc.automata.number.decimal import DECIMAL_PLACES
from sglc.types.arithmetic import is_number
from sglc.types.condition import (
    All,
    Compared,
    Condition,
    Either,
    Subject,
    atoms,
    below,
    conjuncts,
    given_numbers,
    holds,
    known,
    subject,
)
from sglc.types.type import Bool, Constant, Dec, EnumType, Float, Int, Null, Type
from sglc.types.values import EnumValue

ALWAYS: Condition = All(())
NEVER: Condition = Either(())
_SMALLEST = Decimal(1).scaleb(-DECIMAL_PLACES)


def both(condition: Condition, more: Condition | None) -> Condition:
    """Two conditions; one that still waits for values of the run says nothing."""
    if more is None or given_numbers(more):
        return condition
    return more if condition == ALWAYS else All((condition, more))


def conditions_of_fields(condition: Condition) -> Mapping[str, Condition]:
    """The conditions on the fields of a record, by name. Raises ValueError where one speaks of several."""
    found: dict[str, list[Condition]] = {}
    for part in conjuncts(condition):
        subjects = [about for about in map(subject, atoms(part)) if about is not None]
        if not subjects:
            continue
        names = {about.path[:1] for about in subjects}
        if len(names) != 1 or names == {()}:
            raise ValueError("a condition on several fields")
        name = subjects[0].path[0]
        found.setdefault(name, []).append(below(part, name))
    return {name: All(tuple(parts)) for name, parts in found.items()}


def kept_values(type: Type | EnumType, condition: Condition) -> list[bool | str | int | Decimal | None]:
    """The values of a finite type for which a condition holds; members of an enum by their names."""
    match type:
        case Bool():
            return [value for value in (False, True) if holds(condition, value)]
        case Null():
            return [None] if holds(condition, None) else []
        case Constant(value):
            return [value] if holds(condition, value) else []
        case EnumType(name=name, members=members):
            return [member for member in members if holds(condition, EnumValue(name, member))]
    raise AssertionError(f"{type} is not finite")


def number_limits(type: Int | Dec | Float, condition: Condition) -> Int | Dec | Float | None:
    """The type with the bounds that a condition gives it; None where the condition says something else."""
    if isinstance(type, Float):
        return type if condition == ALWAYS else None
    low, high = type.minimum, type.maximum
    step = 1 if isinstance(type, Int) else _SMALLEST
    for part in conjuncts(condition):
        if not (isinstance(part, Compared) and part.subject == Subject() and part.operator != "!="):
            return None
        bound = known(part.bound)
        if not is_number(bound) or isinstance(bound, float):
            return None
        value = Decimal(bound)
        if part.operator in (">", ">=", "=="):
            least = value + step if part.operator == ">" and value % step == 0 else _up(value, step)
            low = least if low is None else max(low, least)
        if part.operator in ("<", "<=", "=="):
            most = value - step if part.operator == "<" and value % step == 0 else _down(value, step)
            high = most if high is None else min(high, most)
    if isinstance(type, Int):
        return replace(type, minimum=_whole(low), maximum=_whole(high))
    bounds = [None if each is None else Decimal(each) for each in (low, high)]
    return replace(type, minimum=bounds[0], maximum=bounds[1])


def _up(value: Decimal, step: int | Decimal) -> Decimal:
    return -((-value) // step) * step


def _down(value: Decimal, step: int | Decimal) -> Decimal:
    found = value // step * step
    return found if found <= value else found - step


def _whole(value: int | Decimal | None) -> int | None:
    return None if value is None else int(value)


def values_of_range(type: Int | Dec | Float, condition: Condition, most: int) -> list[int] | None:
    """The integers of a range for which a condition holds; None where there are more than `most`."""
    if not isinstance(type, Int) or type.minimum is None or type.maximum is None:
        return None
    step = type.multiple_of or 1
    numbers = range(-(-type.minimum // step) * step, type.maximum + 1, step)
    if len(numbers) > most:
        return None
    return [number for number in numbers if holds(condition, number)]
