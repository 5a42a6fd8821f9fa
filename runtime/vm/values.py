"""Values that exist only while a program runs, and how values look as text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sglc.runtime.errors import SglError
from sglc.types.number_text import number_text
from sglc.types.type import TAG, RecordType, TypeTable, UnionType
from sglc.types.values import EnumValue, RecordValue

if TYPE_CHECKING:
    from sglc.runtime.conversation import Conversation

TEXT_LIMIT = 16_000_000
"""Most characters of one text that a program may build."""
ITEMS_LIMIT = 1_000_000
"""Most items of one list or map."""


@dataclass(slots=True)
class Cursor:
    """A place in a sequence that is being iterated over."""

    items: Any
    index: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """What `select` gives: the options with their probabilities, which sum to 1."""

    top: Any
    options: tuple[Any, ...]
    probabilities: tuple[float, ...]

    def p(self, option: Any) -> float:
        """Probability of an option; 0 of what was none."""
        for known, probability in zip(self.options, self.probabilities, strict=True):
            if known == option:
                return probability
        return 0.0

    def logprob(self, option: Any) -> float:
        p = self.p(option)
        return math.log(p) if p > 0 else -math.inf

    @property
    def margin(self) -> float:
        """Probability of the top option less that of the best other one."""
        others = [p for o, p in zip(self.options, self.probabilities, strict=True) if o != self.top]
        return self.p(self.top) - max(others, default=0.0)


@dataclass(slots=True)
class BranchValue:
    """One branch of a fork: its yielded value, its holes, and its conversation until one is adopted."""

    index: int
    value: Any
    holes: Mapping[str, Any]
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """An error that was caught."""

    name: str
    message: str
    fields: Mapping[str, Any] = field(default_factory=dict)


def failure(message: str) -> SglError:
    """A fault at run time: an index out of range, a division by zero."""
    return SglError("Failure", message)


def spelled(value: int | float | Decimal) -> str:
    """A number in the language's own spelling."""
    try:
        return number_text(value)
    except ValueError:
        raise failure(f"{value} is not a number that can be written") from None


def display(value: Any, table: TypeTable) -> str:
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


def json_text(value: Any, table: TypeTable) -> str:
    """A value as JSON with `, ` and `: ` between its parts; absent optional fields are left out."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return spelled(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, EnumValue):
        return json.dumps(value.name, ensure_ascii=False)
    if isinstance(value, RecordValue):
        optional = _absent_fields(value, table)
        parts = [] if value.variant is None else [f'"{TAG}": {json.dumps(value.variant)}']
        parts += [
            f"{json.dumps(name, ensure_ascii=False)}: {json_text(item, table)}"
            for name, item in value.fields.items()
            if not (item is None and name in optional)
        ]
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(
                f"{json.dumps(str(key), ensure_ascii=False)}: {json_text(item, table)}"
                for key, item in value.items()
            )
            + "}"
        )
    if isinstance(value, list | tuple | range):
        return "[" + ", ".join(json_text(item, table) for item in value) + "]"
    return json.dumps(display(value, table), ensure_ascii=False)


def declaration_of(value: RecordValue, table: TypeTable) -> RecordType | None:
    """The record or variant that a value is of."""
    declared = table.get(value.type)
    if isinstance(declared, RecordType):
        return declared
    if isinstance(declared, UnionType):
        return next((v for v in declared.variants if v.name == value.variant), None)
    return None


def _absent_fields(value: RecordValue, table: TypeTable) -> frozenset[str]:
    declared = declaration_of(value, table)
    return frozenset(f.name for f in declared.fields if f.optional) if declared is not None else frozenset()


def kind(value: Any) -> str:
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
