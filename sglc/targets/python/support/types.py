"""Types: what their values are, from text and JSON to values, and how values are widened."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, NoReturn

from sglc.targets.python.support.values import SHAPES, Failure, Shape, kind, shortened, show, to_json
from sglc.types.arithmetic import number_fault
from sglc.types.equality import equal


class WrongValue(ValueError):
    """A value or text that is not of its type; the message says why."""


@dataclass(frozen=True)
class Str:
    """Texts: lengths in characters, patterns that match all of it, patterns that are found nowhere in it."""

    min_chars: int = 0
    max_chars: int | None = None
    whole: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()


@dataclass(frozen=True)
class Int:
    """Integers; bounds included."""

    minimum: int | None = None
    maximum: int | None = None
    step: int | None = None


@dataclass(frozen=True)
class Dec:
    """Exact decimals; bounds included."""

    minimum: Decimal | None = None
    maximum: Decimal | None = None
    step: Decimal | None = None


@dataclass(frozen=True)
class Float:
    """Finite floats; bounds included."""

    minimum: Decimal | None = None
    maximum: Decimal | None = None


@dataclass(frozen=True)
class Bool:
    """`true` and `false`."""


@dataclass(frozen=True)
class Null:
    """`null`."""


@dataclass(frozen=True)
class Constant:
    """One text, number or boolean."""

    value: object


@dataclass(frozen=True)
class ListOf:
    """Lists; sizes included."""

    item: object
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True)
class MapOf:
    """Maps from texts to values."""

    key: object
    value: object
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True)
class TupleOf:
    """Tuples of exactly these items."""

    items: tuple[object, ...]


@dataclass(frozen=True)
class Maybe:
    """`T?`: the item or null."""

    item: object


@dataclass(frozen=True)
class OneOf:
    """One of some texts."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class SpanOf:
    """A piece of a text, never empty."""

    text: str
    min_chars: int = 1
    max_chars: int | None = None
    until: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnyOf:
    """`A | B`."""

    arms: tuple[object, ...]


@dataclass(frozen=True)
class Named:
    """A declared type."""

    name: str


@dataclass(frozen=True)
class Json:
    """Any JSON value."""


LEVELS = 100
"""Levels of lists and objects inside each other that an answer may have, as values of the language."""
TYPES: dict[str, object] = {}
"""Declared types by name: the class of an enum, the shapes of a record or union, or the type of an alias."""


def declare(name: str, *shapes: Shape) -> None:
    """A record, or a union with its variants."""
    TYPES[name] = shapes
    SHAPES.update({shape.made: shape for shape in shapes})


def fault(value: object, type: object) -> str | None:
    """Why a value is none of the type; None if it is one."""
    match type:
        case Str() | OneOf() | SpanOf():
            return _text_fault(value, type)
        case Int() | Dec() | Float():
            return _number_fault(value, type)
        case Bool():
            return None if isinstance(value, bool) else f"{kind(value)} is no boolean"
        case Null():
            return None if value is None else f"{kind(value)} is not null"
        case Constant(value=wanted):
            return None if equal(value, wanted) else f"it is not {to_json(wanted)}"
        case ListOf():
            if not isinstance(value, list):
                return f"{kind(value)} is no list"
            return _size_fault(value, type) or _parts_fault([(part, type.item) for part in value])
        case MapOf():
            if not isinstance(value, dict):
                return f"{kind(value)} is no map"
            parts = [pair for key, part in value.items() for pair in ((key, type.key), (part, type.value))]
            return _size_fault(value, type) or _parts_fault(parts)
        case TupleOf(items=items):
            if not isinstance(value, tuple) or len(value) != len(items):
                return f"{kind(value)} is no tuple of {len(items)} items"
            return _parts_fault(list(zip(value, items, strict=True)))
        case Maybe(item=item):
            return None if value is None else fault(value, item)
        case AnyOf(arms=arms):
            faults = [fault(value, arm) for arm in arms]
            return None if None in faults else "; ".join(why for why in faults if why)
        case Named(name=name):
            return _named_fault(value, TYPES[name], name)
    return None


def _text_fault(value: object, type: Str | OneOf | SpanOf) -> str | None:
    if not isinstance(value, str):
        return f"{kind(value)} is no text"
    if isinstance(type, OneOf):
        return None if value in type.words else f"{shortened(to_json(value))} is not one of the texts"
    if isinstance(type, SpanOf) and (value not in type.text or any(stop in value for stop in type.until)):
        return f"{shortened(to_json(value))} is no piece of the text"
    if len(value) < type.min_chars:
        return f"{shortened(to_json(value))} has fewer than {type.min_chars} characters"
    if type.max_chars is not None and len(value) > type.max_chars:
        return f"{shortened(to_json(value))} has more than {type.max_chars} characters"
    if isinstance(type, SpanOf):
        return None
    if any(re.fullmatch(pattern, value) is None for pattern in type.whole):
        return f"{shortened(to_json(value))} does not match its pattern"
    if any(re.search(pattern, value) for pattern in type.banned):
        return f"{shortened(to_json(value))} holds what it must not"
    return None


def _number_fault(value: Any, type: Int | Dec | Float) -> str | None:
    wanted: Any = {Int: int, Dec: Decimal, Float: float}[type.__class__]
    if isinstance(value, bool) or not isinstance(value, wanted):
        return f"{kind(value)} is none of this type"
    if (why := number_fault(value)) is not None:
        return why
    if type.minimum is not None and value < type.minimum:
        return f"{shortened(show(value))} is less than {type.minimum}"
    if type.maximum is not None and value > type.maximum:
        return f"{shortened(show(value))} is more than {type.maximum}"
    if not isinstance(type, Float) and type.step is not None and value % type.step != 0:
        return f"{shortened(show(value))} is no multiple of {type.step}"
    return None


def _size_fault(value: Sized, type: ListOf | MapOf) -> str | None:
    if len(value) < type.minimum:
        return f"it has fewer than {type.minimum} items"
    return (
        f"it has more than {type.maximum} items"
        if type.maximum is not None and len(value) > type.maximum
        else None
    )


def _parts_fault(parts: Sequence[tuple[object, object]]) -> str | None:
    return next((why for part, type in parts if (why := fault(part, type)) is not None), None)


def _named_fault(value: object, declared: object, name: str) -> str | None:
    if isinstance(declared, tuple):
        shape = next((each for each in declared if each.made is value.__class__), None)
        if shape is None:
            return f"{kind(value)} is no {name}"
        for each in shape.fields:
            part = getattr(value, each.attribute)
            if not (part is None and each.optional) and (why := fault(part, each.type)) is not None:
                return f"{each.key}: {why}"
        return None
    if isinstance(declared, type):
        return None if isinstance(value, declared) else f"{kind(value)} is no {name}"
    return fault(value, declared)


def widened(value: object, type: object) -> object:
    """The value as the type has it: integers as decimals or floats where these are due, inside too."""
    if isinstance(value, bool) or value is None:
        return value
    match type:
        case AnyOf(arms=arms):
            if fault(value, type) is None:
                return value
            found = (widened(value, arm) for arm in arms)
            return next((each for each in found if fault(each, type) is None), value)
        case Dec() if isinstance(value, int):
            return Decimal(value)
        case Float() if isinstance(value, int | Decimal):
            return float(value)
        case ListOf(item=item) if isinstance(value, list):
            return [widened(part, item) for part in value]
        case MapOf() if isinstance(value, dict):
            return {widened(key, type.key): widened(part, type.value) for key, part in value.items()}
        case TupleOf(items=items) if isinstance(value, tuple | list) and len(items) == len(value):
            return tuple(widened(part, item) for part, item in zip(value, items, strict=True))
        case Maybe(item=item):
            return widened(value, item)
        case Named(name=name):
            return _named_widened(value, type, TYPES[name])
    return value


def _named_widened(value: object, type: Named, declared: object) -> object:
    if not isinstance(declared, tuple | TYPE):
        return widened(value, declared)
    if isinstance(value, str | dict) and not isinstance(value, Enum):
        try:
            return from_data(value, type)
        except WrongValue:
            return value
    shape = SHAPES.get(value.__class__)
    if shape is None or not isinstance(declared, tuple) or shape not in declared:
        return value
    return shape.made(*(widened(getattr(value, each.attribute), each.type) for each in shape.fields))


TYPE = type


def check(value: object, type: object) -> Any:
    """The value, widened where the type is a wider number. Raises Failure if it is none of the type."""
    found = widened(value, type)
    why = fault(found, type)
    if why is not None:
        raise Failure(f"a value is outside of its type: {why}")
    return found


# -- from text to values ---------------------------------------------------------------------------------


def read(text: str, type: object) -> object:
    """The value that an answer stands for. Raises WrongValue."""
    match type:
        case Str() | OneOf() | SpanOf():
            return text
        case Maybe(item=item):
            return None if text == "null" else read(text, item)
        case AnyOf(arms=arms):
            return _first(arms, lambda arm: read(text, arm))
        case Constant(value=str() as wanted):
            return wanted if text == wanted else _wrong(text)
        case Named(name=name) if not isinstance(TYPES[name], tuple):
            declared = TYPES[name]
            if not isinstance(declared, TYPE):
                return read(text, declared)
            return _member(text, declared)
        case Dec():
            return _decimal_of(text) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else _wrong(text)
    return from_data(_data(text), type)


def _data(text: str) -> object:
    """The data of a JSON text, within the limits of the language. Raises WrongValue."""
    try:
        data = json.loads(
            text,
            parse_float=_decimal_of,
            parse_int=_integer_of,
            parse_constant=_wrong,
            object_pairs_hook=_pairs,
        )
    except RecursionError:
        raise WrongValue(f"it has more than {LEVELS} levels") from None
    except WrongValue:
        raise
    except ValueError as error:
        raise WrongValue(f"it is no JSON: {error}") from None
    level = [data]
    for _ in range(LEVELS):
        level = [part for each in level for part in _inside(each)]
    if level:
        raise WrongValue(f"it has more than {LEVELS} levels")
    return data


def _inside(data: object) -> Iterable[object]:
    return data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()


def _decimal_of(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except ArithmeticError:
        raise WrongValue("it has a power that no number has") from None
    if (why := number_fault(number)) is not None:  # `1e999999999` is a short text, and fills the memory
        raise WrongValue(why)
    return number


def _integer_of(text: str) -> int:
    return int(_decimal_of(text))


def _wrong(text: str) -> NoReturn:
    raise WrongValue(f"{shortened(to_json(text))} is none of its values")


def _pairs(found: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in found}) != len(found):
        raise WrongValue("a key stands twice")
    return dict(found)


def _member(text: object, declared: Callable[[object], object]) -> object:
    try:
        return declared(text)
    except ValueError:
        return _wrong(str(text))


def _first(arms: Sequence[object], value_of: Callable[[object], object]) -> object:
    """The value of the first arm that has one."""
    faults = []
    for arm in arms:
        try:
            value = value_of(arm)
        except WrongValue as error:
            faults.append(str(error))
            continue
        if (why := fault(value, arm)) is None:
            return value
        faults.append(why)
    raise WrongValue("; ".join(faults))


def from_data(data: object, type: object) -> object:
    """The value of plain JSON data. Raises WrongValue."""
    match type:
        case Maybe(item=item):
            return None if data is None else from_data(data, item)
        case AnyOf(arms=arms):
            return _first(arms, lambda arm: from_data(data, arm))
        case Dec() if isinstance(data, int) and not isinstance(data, bool):
            return Decimal(data)
        case Float() if isinstance(data, int | Decimal) and not isinstance(data, bool):
            return float(Decimal(data))
        case ListOf(item=item) if isinstance(data, list):
            return [from_data(part, item) for part in data]
        case MapOf() if isinstance(data, dict):
            return {from_data(key, type.key): from_data(part, type.value) for key, part in data.items()}
        case TupleOf(items=items) if isinstance(data, list) and len(items) == len(data):
            return tuple(from_data(part, item) for part, item in zip(data, items, strict=True))
        case Named(name=name):
            declared = TYPES[name]
            if isinstance(declared, tuple):
                return _record(data, declared, name)
            return _member(data, declared) if isinstance(declared, TYPE) else from_data(data, declared)
    return data


def _record(data: object, shapes: tuple[Shape, ...], name: str) -> object:
    if not isinstance(data, dict):
        raise WrongValue(f"{kind(data)} is no {name}")
    shape = next((each for each in shapes if each.tag is None or data.get("type") == each.tag), None)
    if shape is None:
        raise WrongValue(f"`type` names no variant of {name}")
    known = {each.key for each in shape.fields} | ({"type"} if shape.tag is not None else set())
    if extra := set(data) - known:
        raise WrongValue(f"{name} has no field {', '.join(sorted(extra))}")
    values = []
    for each in shape.fields:
        if each.key in data:
            values.append(from_data(data[each.key], each.type))
        elif each.optional or each.has_default:
            values.append(each.default)
        else:
            raise WrongValue(f"{name} lacks its field {each.key}")
    return shape.made(*values)
