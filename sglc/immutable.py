"""Classes of immutable data that are cheap to define and to make, for trees and operations.

    @value                          @node
    class Load:                     class TypeName:
        result: Temp                    name: str
        slot: Slot                      span: Span

Type checkers take both for frozen dataclasses and refuse assignments to their fields. At run time they are
dataclasses with slots that nothing guards: a frozen dataclass takes twice as long to define, which a short
run of the compiler feels, and sets each field by a call when an instance is made.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(frozen_default=True)
def value(cls: type[Class]) -> type[Class]:
    """An immutable dataclass; instances are equal, and hash alike, where their fields do."""
    return dataclass(slots=True, unsafe_hash=True, repr=False)(_shown(cls))


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[Class]) -> type[Class]:
    """An immutable dataclass; an instance is equal to itself alone."""
    return dataclass(slots=True, eq=False, repr=False)(_shown(cls))


def _shown(cls: type[Class]) -> type[Class]:
    """The class with the usual text of dataclasses, by one function for all classes."""
    if "__repr__" not in vars(cls):
        cls.__repr__ = _text_of  # type: ignore[method-assign]
    return cls


@recursive_repr()
def _text_of(one: Any) -> str:
    shown = [f"{each.name}={getattr(one, each.name)!r}" for each in fields(one) if each.repr]
    return f"{type(one).__qualname__}({', '.join(shown)})"
