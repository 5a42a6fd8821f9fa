"""Values that exist only while a program runs, and how values look as text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from sglc.runtime.errors import SglError
from sglc.types.equality import equal
from sglc.types.number_text import decimal_text, number_text
from sglc.types.type import TAG, RecordType, TypeTable, UnionType
from sglc.types.values import EnumValue, RecordValue, Value

if TYPE_CHECKING:
    from sglc.runtime.decoding.conversation import Conversation

TEXT_LIMIT = 4_000_000
"""Most characters of one text that a program may build."""
ITEMS_LIMIT = 1_000_000
"""Most items of one list, map or range."""


@dataclass(slots=True)
class Cursor:
    """A place in a sequence that is being iterated over."""

    items: Sequence[object]
    index: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """What `select` gives: the options with their probabilities, which sum to 1."""

    top: object
    options: tuple[object, ...]
    probabilities: tuple[float, ...]

    def p(self, option: object) -> float:
        """Probability of an option; 0 of what was none."""
        for known, probability in zip(self.options, self.probabilities, strict=True):
            if equal(known, option):
                return probability
        return 0.0

    def logprob(self, option: object) -> float:
        """Natural logarithm of an option's probability; -inf for what was none, or has none."""
        p = self.p(option)
        return math.log(p) if p > 0 else -math.inf

    @property
    def margin(self) -> float:
        """Probability of the top option less that of the best other one."""
        others = [p for o, p in zip(self.options, self.probabilities, strict=True) if not equal(o, self.top)]
        return self.p(self.top) - max(others, default=0.0)


@dataclass(slots=True)
class BranchValue:
    """One branch of a fork: its yielded value, its holes, and its conversation until one is adopted."""

    index: int
    value: object
    holes: Mapping[str, object]
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """An error that was caught; `raised` is what a bare `raise` raises again, with its place."""

    name: str
    message: str
    fields: Mapping[str, object]
    raised: SglError = field(compare=False, repr=False)


K = TypeVar("K")


def as_kind(value: object, wanted: type[K]) -> K:
    """A value of which an instruction takes for granted that it is of a kind. Raises TypeError if it is not.

    Only a file that no compiler wrote leads here. The machine reports the error as a fault of the program.
    """
    if isinstance(value, wanted):
        return value
    raise wrong_kind(value)


def is_value(value: object) -> TypeGuard[Value]:
    """Whether a value is one of the language, and none that exists only while a program runs."""
    return value is None or isinstance(
        value, str | int | Decimal | float | EnumValue | RecordValue | list | tuple | dict
    )


def as_value(value: object) -> Value:
    """A value that may become part of a type; a range is the list of its numbers. Raises Failure."""
    if isinstance(value, range):
        return list(value)
    if is_value(value):
        return value
    raise failure(f"a type cannot depend on {kind(value)}")


def wrong_kind(value: object) -> TypeError:
    """What an instruction raises that cannot work on a value of this kind. See `as_kind`."""
    return TypeError(f"{kind(value)} cannot stand here")


def failure(message: str) -> SglError:
    """A fault at run time: an index out of range, a division by zero."""
    return SglError("Failure", message)


def spelled(value: int | float | Decimal) -> str:
    """A number as it is put into text: decimals with 10 digits after the point at most."""
    try:
        return decimal_text(value) if isinstance(value, Decimal) else number_text(value)
    except ValueError:
        raise failure(f"{value} is not a number that can be written") from None


def display(value: object, table: TypeTable) -> str:
    """The text that `${value}` writes: raw for scalars, JSON in its one spelling for everything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, EnumValue):
        return value.name
    if isinstance(value, Scored):
        return display(value.top, table)
    if isinstance(value, BranchValue):
        return display(value.value, table)
    if isinstance(value, ErrorValue):
        return f"{value.name}: {value.message}" if value.message else value.name
    return json_text(value, table)


def json_text(value: object, table: TypeTable) -> str:
    """A value as JSON with `, ` and `: ` between its parts; absent optional fields are left out."""
    writer = _Writer(table)
    try:
        writer.write(value)
    except RecursionError:
        raise failure("a value is nested too deeply to be written") from None
    return "".join(writer.parts)


class _Writer:
    """Writes JSON up to a length. Values may share parts, so a text may be far larger than its value."""

    def __init__(self, table: TypeTable) -> None:
        self.parts: list[str] = []
        self._table = table
        self._room = TEXT_LIMIT

    def put(self, text: str) -> None:
        self._room -= len(text)
        if self._room < 0:
            raise failure(f"a text grew beyond {TEXT_LIMIT} characters")
        self.parts.append(text)

    def write(self, value: object) -> None:
        if value is None:
            self.put("null")
        elif isinstance(value, bool):
            self.put("true" if value else "false")
        elif isinstance(value, int | float | Decimal):
            self.put(spelled(value))
        elif isinstance(value, str):
            self.put(json.dumps(value, ensure_ascii=False))
        elif isinstance(value, EnumValue):
            self.put(json.dumps(value.name, ensure_ascii=False))
        elif isinstance(value, RecordValue):
            optional = _absent_fields(value, self._table)
            shown = {n: item for n, item in value.fields.items() if not (item is None and n in optional)}
            self._object(shown if value.variant is None else {TAG: value.variant, **shown})
        elif isinstance(value, dict):
            self._object(value)
        elif isinstance(value, list | tuple | range):
            self.put("[")
            for index, item in enumerate(value):
                if index:
                    self.put(", ")
                self.write(item)
            self.put("]")
        else:
            self.put(json.dumps(display(value, self._table), ensure_ascii=False))

    def _object(self, items: Mapping[str, object]) -> None:
        self.put("{")
        for index, (name, item) in enumerate(items.items()):
            if index:
                self.put(", ")
            self.put(json.dumps(str(name), ensure_ascii=False) + ": ")
            self.write(item)
        self.put("}")


def declaration_of(value: RecordValue, table: TypeTable) -> RecordType | None:
    """The record or variant that a value is of."""
    declared = table.get(value.type)
    if isinstance(declared, RecordType):
        return declared
    if isinstance(declared, UnionType):
        return declared.variant(value.variant)
    return None


def _absent_fields(value: RecordValue, table: TypeTable) -> frozenset[str]:
    declared = declaration_of(value, table)
    return frozenset(f.name for f in declared.fields if f.optional) if declared is not None else frozenset()


def kind(value: object) -> str:
    """What a value is called in messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int):
        return "an integer"
    if isinstance(value, Decimal):
        return "a decimal"
    if isinstance(value, float):
        return "a float"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, EnumValue):
        return f"a member of {value.enum}"
    if isinstance(value, RecordValue):
        return f"a {value.variant or value.type}"
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list | range):
        return "a list"
    if isinstance(value, tuple):
        return "a tuple"
    if isinstance(value, BranchValue):
        return "a branch"
    return "an error" if isinstance(value, ErrorValue) else "a scored choice"
