"""Types of holes that depend on values of the run, with the values put in."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from sglc.automata.term import Language
from sglc.runtime.vm.values import failure
from sglc.types.given import GivenError, bind
from sglc.types.language import language
from sglc.types.type import OneOf, Type, TypeTable

KEPT = 16
"""Bound types that are kept: lists and texts may be large."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound type and its language; `values` are kept so that their identities stay theirs."""

    type: Type
    language: Language
    values: tuple[Any, ...]


class BoundTypes:
    """Bound types by the values that they were made from. Values of the language never change."""

    def __init__(self) -> None:
        self._bound: OrderedDict[tuple[int, ...], Bound] = OrderedDict()

    def get(
        self, index: int, type: Type, values: list[Any], stops: tuple[str, ...], table: TypeTable
    ) -> Bound:
        """The type number `index` with these values; raises the program's own Failure."""
        key = (index, *map(id, values))
        found = self._bound.get(key)
        if found is not None:
            self._bound.move_to_end(key)
            return found
        try:
            bound = bind(type, values)
        except GivenError as fault:
            raise failure(str(fault)) from None
        if isinstance(bound, OneOf):
            _clear_ends(bound, stops)
        found = Bound(bound, language(bound, table, surface="hole"), tuple(values))
        self._bound[key] = found
        if len(self._bound) > KEPT:
            self._bound.popitem(last=False)
        return found


def _clear_ends(type: OneOf, stops: tuple[str, ...]) -> None:
    """Refuse an entry that could never be written, because another one and the stop begin it."""
    words = type.words or frozenset()
    for word in words:
        for stop in stops:
            at = word.find(stop)
            while at >= 0:
                if word[:at] in words:
                    raise failure(
                        f"the entry `{word[:80]}` of a `one of` cannot be told from `{word[:at][:80]}` "
                        f"and the text after the hole"
                    )
                at = word.find(stop, at + 1)
