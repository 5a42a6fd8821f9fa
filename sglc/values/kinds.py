"""Kinds of values, what messages call them, and how an operation says that it has no result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import ClassVar, TypeGuard, TypeVar

from sglc.types.values import EnumValue, RecordValue, Value

TEXT_LIMIT = 4_000_000
"""Most characters of one text that a program may build."""
ITEMS_LIMIT = 1_000_000
"""Most items of one list, map or range."""


class ValueFault(Exception):
    """An operation has no result: an index out of range, a division by zero. Carries a sentence.

    The machine raises it as the error `Failure` of the language, at the place of the instruction. The
    compiler leaves such an operation where it is.
    """


KIND_FAULTS = (TypeError, AttributeError, KeyError, ValueError, IndexError, RecursionError)
"""What Python raises where an operation meets a value of a kind that it is not made for."""


class MachineValue(ABC):
    """A value that exists only while a program runs. It says itself how the operations here see it."""

    __slots__ = ()
    called: ClassVar[str]
    """What messages call it."""
    methods: ClassVar[Mapping[str, Callable[[list[object]], object]]] = {}
    """Its methods by name; the value itself is the first argument."""

    @abstractmethod
    def shown(self) -> object:
        """The value whose text stands for it."""

    @abstractmethod
    def attribute(self, name: str) -> object:
        """A field. Raises KeyError where it has none of that name."""


K = TypeVar("K")


def as_kind(value: object, wanted: type[K]) -> K:
    """A value of which an operation takes for granted that it is of a kind. Raises TypeError if it is not.

    Only a file that no compiler wrote leads here. The machine reports the error as a fault of the program.
    """
    if isinstance(value, wanted):
        return value
    raise wrong_kind(value)


def wrong_kind(value: object) -> TypeError:
    """What an operation raises that cannot work on a value of this kind. See `as_kind`."""
    return TypeError(f"{kind(value)} cannot stand here")


def is_value(value: object) -> TypeGuard[Value]:
    """Whether a value is one of the language, and none that exists only while a program runs."""
    return value is None or isinstance(
        value, str | int | Decimal | float | EnumValue | RecordValue | list | tuple | dict
    )


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
    return value.called if isinstance(value, MachineValue) else "an iterator"
