"""Values that nobody knows yet, because the hole that they come from has not been filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sglc.runtime.vm.state.values import BranchValue, Cursor, Filled, Scored
from sglc.types.values import RecordValue


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that depends on holes without a value. `holes` are their names, in the order of the run."""

    holes: tuple[str, ...]


def holes_of(values: Iterable[object]) -> tuple[str, ...]:
    """The holes that values depend on, however deep in them; empty where all of them are known."""
    return tuple(dict.fromkeys(name for value in values for name in _holes(value)))


def _holes(value: object) -> Iterator[str]:
    match value:
        case Unknown(holes):
            yield from holes
        case RecordValue():
            yield from holes_of(value.fields.values())
        case list() | tuple():
            yield from holes_of(value)
        case dict():
            yield from holes_of((*value.keys(), *value.values()))
        case BranchValue():
            yield from holes_of((value.value, *value.holes.values()))
        case Scored():
            yield from holes_of((value.top, *value.options))
        case Filled():
            yield from holes_of((value.value, *value.figures.values()))
        case Cursor():
            yield from holes_of((value.items,))
