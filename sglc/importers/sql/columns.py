"""The type of a column with what its CHECKs ask."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import lcm

from sglc.automata.analysis.emptiness import is_empty
from sglc.automata.regex.compile import RegexError
from sglc.importers.core.bounds import beyond
from sglc.importers.core.constants import one_of_constants
from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.checks import Bound, Limits, Value
from sglc.lalr.parse import ParseNode
from sglc.types.equality import equal
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    Float,
    Int,
    Json,
    Named,
    Str,
    Type,
    TypeTable,
    matching,
)


def narrowed(type: Type, limits: Limits, table: TypeTable, node: ParseNode) -> Type:
    """The values of a type within the limits of its column. Raises SourceFault, also where there is none."""
    within = _within(type, limits, node)
    if limits.allowed is None:
        return _without(within, limits, table, node)
    at = limits.allowed_at or node
    excluded = [value for value, _ in limits.excluded]
    values = [
        value
        for value in limits.allowed
        if _is_value(value, within, table) and not any(equal(value, one) for one in excluded)
    ]
    if not values:
        raise SourceFault(at.start, at.end, f"no value of column {limits.name} is allowed")
    if isinstance(within, Bool) and set(values) == {True, False}:
        return within
    return one_of_constants(values, at.start, at.end)


def _is_value(value: Value, type: Type, table: TypeTable) -> bool:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        if isinstance(type, Dec):
            return is_member(Decimal(value), type, table)
        if isinstance(type, Float):
            return is_member(float(value), type, table)
        if isinstance(value, Decimal) and value == int(value):
            value = int(value)
    return is_member(value, type, table)


def _within(type: Type, limits: Limits, node: ParseNode) -> Type:
    """Bounds, lengths and patterns."""
    match type:
        case Int():
            found: Type = _integers(type, limits)
        case Dec() | Float():
            found = _fractions(type, limits)
        case Str():
            low, high = max(type.min_chars, limits.min_chars), limits.max_chars
            if type.max_chars is not None:
                high = type.max_chars if high is None else min(high, type.max_chars)
            if high is not None and low > high:
                raise SourceFault(node.start, node.end, f"no text of column {limits.name} is allowed")
            return _texts(replace(type, min_chars=low, max_chars=high), limits, node)
        case Bool() | Named() | Json() | Constant() | Alternatives():
            odd = limits.patterns or limits.min_chars or limits.max_chars is not None
            if odd:
                raise SourceFault(
                    node.start, node.end, f"column {limits.name} has lengths or patterns to keep"
                )
            return type
        case _:
            return type
    if isinstance(found, Int | Dec | Float) and None not in (found.minimum, found.maximum):
        if found.minimum > found.maximum:  # type: ignore[operator]
            raise SourceFault(node.start, node.end, f"no number of column {limits.name} is allowed")
    return found


def _texts(type: Str, limits: Limits, node: ParseNode) -> Str:
    """Texts that match the patterns too."""
    if not limits.patterns:
        return type
    found = matching(*limits.patterns, of=type)
    try:
        empty = is_empty(language(found, {}))
    except RegexError as fault:
        raise SourceFault(
            node.start, node.end, f"a pattern of column {limits.name}: {fault.reason}"
        ) from None
    if empty:
        raise SourceFault(node.start, node.end, f"no text of column {limits.name} is allowed")
    return found


def _integers(type: Int, limits: Limits) -> Int:
    low, high, step = type.minimum, type.maximum, type.multiple_of
    for bound in limits.least:
        least = int(bound.number.to_integral_value(ROUND_CEILING))
        if bound.strict and least == bound.number:
            least += 1
        low = least if low is None else max(low, least)
    for bound in limits.most:
        most = int(bound.number.to_integral_value(ROUND_FLOOR))
        if bound.strict and most == bound.number:
            most -= 1
        high = most if high is None else min(high, most)
    for number, _ in limits.steps:
        step = number if step is None else lcm(step, number)
    return Int(low, high, step)


def _fractions(type: Dec | Float, limits: Limits) -> Dec | Float:
    for _, node in limits.steps:
        raise SourceFault(node.start, node.end, "only integers have a remainder that a type can ask for")
    low, high = type.minimum, type.maximum
    for bound in limits.least:
        least = _inside(type, bound, 1)
        low = least if low is None else max(low, least)
    for bound in limits.most:
        most = _inside(type, bound, -1)
        high = most if high is None else min(high, most)
    return replace(type, minimum=low, maximum=high)


def _inside(type: Dec | Float, bound: Bound, way: int) -> Decimal:
    """The nearest number that a bound allows."""
    return beyond(type, bound.number, way) if bound.strict else bound.number


def _without(type: Type, limits: Limits, table: TypeTable, node: ParseNode) -> Type:
    """The type without some single values, where there is a way to say it."""
    for value, at in limits.excluded:
        match type:
            case Str() if value == "":
                type = replace(type, min_chars=max(1, type.min_chars))
            case Int() if isinstance(value, int | Decimal) and not isinstance(value, bool):
                if not _is_value(value, type, table):
                    continue
                below, above = replace(type, maximum=int(value) - 1), replace(type, minimum=int(value) + 1)
                if type.minimum is not None and below.maximum < type.minimum:  # type: ignore[operator]
                    type = above
                elif type.maximum is not None and above.minimum > type.maximum:  # type: ignore[operator]
                    type = below
                else:
                    type = Alternatives((below, above))
            case Alternatives(arms) if all(isinstance(arm, Constant) for arm in arms):
                rest = [arm for arm in arms if isinstance(arm, Constant) and not equal(arm.value, value)]
                if not rest:
                    raise SourceFault(at.start, at.end, f"no value of column {limits.name} is allowed")
                type = rest[0] if len(rest) == 1 else Alternatives(tuple(rest))
            case _:
                raise SourceFault(
                    at.start,
                    at.end,
                    "a type cannot leave out single values of this column",
                    "say which values are allowed",
                )
    return type
