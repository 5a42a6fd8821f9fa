"""Values: errors, records, the text of values, fields and items.

Texts, numbers, booleans, null, lists, tuples and maps are Python's own. Decimals are `Decimal`. Records are
frozen dataclasses, members of enums are those of `Enum`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from enum import Enum
from typing import Any, NoReturn

from sglc.types.equality import equal


class SglError(Exception):
    """An error of the program or of the language; `values` are its fields in their order."""

    fields: tuple[str, ...] = ("message",)
    called: str = ""
    """The name that the program calls it by; empty for the errors of the language, whose classes have it."""
    partial: str = ""
    """Text that had come of a value that could not be finished."""

    def __init__(self, *values: object) -> None:
        self.values = values
        self.message = ", ".join(map(show, values))
        super().__init__(self.message)

    @property
    def name(self) -> str:
        """The name that the program calls it by."""
        return self.called or type(self).__name__


class Failure(SglError):
    """An index out of range, a division by zero, a value outside of its type."""


class Rejected(SglError):
    """A condition does not hold, or no answer was a value of its type."""


class Truncated(SglError):
    """A budget ran out."""


class Budget(SglError):
    """More rounds, steps or tokens than are allowed."""


class Refused(SglError):
    """The model refused."""


class Unsatisfiable(SglError):
    """No answer is legal."""


class Unsupported(SglError):
    """The model cannot do what is asked."""


class Timeout(SglError):
    """The model took too long."""


class Backend(SglError):
    """The model failed. Who asks it sets why, where it was asked, how often, when it may be asked again."""

    cause: str = "local"
    endpoint: str = ""
    attempts: int = 1
    retry_after: float | None = None


class Cancelled(SglError):
    """The run was cancelled."""


@dataclass(frozen=True)
class Field:
    """A field of a record: its key, the attribute of the class, its type."""

    key: str
    attribute: str
    type: object
    optional: bool = False
    has_default: bool = False
    default: object = None


@dataclass(frozen=True)
class Shape:
    """A record, or the variant `tag` of a union, with the class of its values."""

    name: str
    made: type
    fields: tuple[Field, ...]
    tag: str | None = None


SHOWN = 1_000
"""Characters of a wrong answer, and of what is wrong with it, that a model is shown and errors tell. A model
that does not stop would else make each question longer than the one before."""
SHAPES: dict[type, Shape] = {}
"""What the classes of records and variants stand for."""


@dataclass(frozen=True)
class Scored:
    """What `select` gives: here the answer alone has a probability, which is 1."""

    top: object
    options: tuple[object, ...]


@dataclass
class Branch:
    """One branch of a fork: what it yielded, its holes, its conversation until that is adopted."""

    value: object
    holes: dict[str, object]
    state: Any


def shortened(text: str) -> str:
    """At most `SHOWN` characters of a text, with an ellipsis where it goes on."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def show(value: object) -> str:
    """The text that the value has in a message: raw for scalars, JSON in one spelling for all else."""
    if isinstance(value, str):
        return value
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Scored):
        return show(value.top)
    if isinstance(value, Branch):
        return show(value.value)
    if isinstance(value, SglError):
        return f"{value.name}: {value.message}" if value.message else value.name
    return to_json(value)


def to_json(value: object) -> str:
    """A value as JSON with `, ` and `: ` between its parts; optional fields that are absent are left out."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return spelled(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(to_json, value))}]"
    if isinstance(value, dict):
        return _object(value)
    shape = SHAPES.get(type(value))
    if shape is None:
        return json.dumps(show(value), ensure_ascii=False)
    found = {field.key: (field, getattr(value, field.attribute)) for field in shape.fields}
    shown = {key: part for key, (field, part) in found.items() if part is not None or not field.optional}
    return _object(shown if shape.tag is None else {"type": shape.tag, **shown})


def _object(items: Mapping[str, object]) -> str:
    parts = (f"{json.dumps(show(key), ensure_ascii=False)}: {to_json(item)}" for key, item in items.items())
    return f"{{{', '.join(parts)}}}"


def spelled(value: int | float | Decimal) -> str:
    """A number as it is put into text: decimals with 10 digits after the point at most."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value + 0.0)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -10:
        with localcontext() as context:
            context.prec = 2000
            value = value.quantize(Decimal(1).scaleb(-10), rounding=ROUND_HALF_EVEN).normalize()
            exponent = value.as_tuple().exponent
            value = value.quantize(Decimal(1)) if isinstance(exponent, int) and exponent > 0 else value
    text = format(value, "f")
    return text.removeprefix("-") if value.is_zero() else text


def _float_text(value: float) -> str:
    """The shortest spelling, with an exponent of two digits at most."""
    text = repr(value if value else 0.0)
    digits, _, exponent = text.partition("e")
    if not exponent:
        return text
    return f"{digits}e{'-' if exponent[0] == '-' else '+'}{exponent.lstrip('+-0').zfill(2)}"


def concat(*parts: object) -> str:
    """The texts of values, joined."""
    return "".join(map(show, parts))


def kind(value: object) -> str:
    """What a value is called in messages."""
    names: tuple[tuple[type, str], ...] = (
        (bool, "a boolean"), (int, "an integer"), (Decimal, "a decimal"), (float, "a float"), (str, "a text"),
        (dict, "a map"), (list, "a list"), (tuple, "a tuple"), (Branch, "a branch"), (SglError, "an error"),
        (Scored, "a scored choice"), (Enum, f"a member of {type(value).__name__}"),
    )  # fmt: skip
    if value is None:
        return "null"
    return next((name for each, name in names if isinstance(value, each)), f"a {type(value).__name__}")


def same(left: object, right: object) -> bool:
    """`left == right` of the language."""
    try:
        return equal(left, right)
    except RecursionError:
        raise Failure("values are nested too deeply to be compared") from None


def attribute(value: object, name: str) -> Any:
    """`value.name` of a record, branch, error, scored choice or member."""
    shape = SHAPES.get(type(value))
    if shape is not None:
        found = next((each.attribute for each in shape.fields if each.key == name), None)
        if found is not None:
            return getattr(value, found)
    elif isinstance(value, Branch):
        if name in value.holes:
            return value.holes[name]
        if name == "value":
            return value.value
    elif isinstance(value, Scored):
        if name in ("top", "margin"):
            return value.top if name == "top" else 1.0
    elif isinstance(value, SglError):
        if name in value.fields:
            return value.values[value.fields.index(name)]
        if name in ("name", "message", "partial", "cause", "endpoint", "attempts", "retry_after"):
            return getattr(value, name)
    elif isinstance(value, Enum) and name == "name":
        return value.value
    raise Failure(f"{kind(value)} has no field `{name}`")


def item(value: object, index: Any) -> Any:
    """`value[index]`; a negative index counts from the end."""
    if isinstance(value, dict):
        if index in value:
            return value[index]
        raise Failure(f"the map has no entry `{show(index)}`")
    if not isinstance(value, list | tuple | str):
        return attribute(value, index)
    if -len(value) <= index < len(value):
        return value[index]
    raise Failure(f"index {index} is outside of {kind(value)} of length {len(value)}")


def piece(value: Any, start: int | None, stop: int | None) -> Any:
    """`value[start:stop]`; ends beyond the value are cut."""
    return value[start:stop]


def with_item(value: Any, index: Any, new: object) -> Any:
    """A copy of a list or map with one item set."""
    if isinstance(value, dict):
        return {**value, index: new}
    item(value, index)
    changed = list(value)
    changed[index] = new
    return changed


def with_field(value: Any, name: str, new: object) -> Any:
    """A copy of a record with one field set."""
    shape = SHAPES[type(value)]
    found = next(each.attribute for each in shape.fields if each.key == name)
    return replace(value, **{found: new})


def items(value: Any) -> Sequence[Any]:
    """What a loop goes over: items, characters, or the keys of a map."""
    return list(value)


def numbers(start: int, stop: int, *, below: bool = False) -> list[int]:
    """`start..stop`, or with `below` `start..<stop`."""
    if stop - start >= 1_000_000:
        raise Failure("a range has at most 1000000 items")
    return list(range(start, stop if below else stop + 1))


def bound(value: object) -> bool:
    """True: for a name that a pattern binds."""
    return True


def either(value: Callable[[], object], fallback: Callable[[], object], restore: Callable[[], None]) -> Any:
    """`value else fallback`: what happens when computing the value fails."""
    try:
        return value()
    except SglError:
        restore()
        return fallback()


def throw(error: SglError) -> NoReturn:
    """Raise an error where an expression is due."""
    raise error
