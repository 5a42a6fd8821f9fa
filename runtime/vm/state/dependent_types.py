"""Types and conditions of holes that depend on values of the run, with the values put in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sglc.automata.analysis.ambiguity import junction_conflict
from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import Language
from sglc.bytecode.code import HoleSpec
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.values import failure
from sglc.types.condition import Condition, show_condition
from sglc.types.condition import bind as bind_condition
from sglc.types.dependent import bind, given_types, why_empty
from sglc.types.json_text import json_text
from sglc.types.language.language import language
from sglc.types.language.membership import MemberError, check_member
from sglc.types.language.narrowing import narrowed_language
from sglc.types.type import AliasType, Applied, LanguageError, OneOf, Str, Type, TypeTable, declaration_of
from sglc.types.values import GivenError, NothingLeft, RecordValue, Value

KEPT = 16
"""Bound types that are kept: lists and texts may be large."""


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A bound type and the language that the hole's condition leaves of it. It equals no other one.

    `values` are kept, so that no other value gets the identity of one of them.
    """

    type: Type
    condition: Condition | None
    language: Language
    values: tuple[Value, ...]

    def why_empty(self) -> str:
        """Why it has no value, as far as it is known."""
        if self.condition is None:
            return why_empty(self.type)
        return f"none meets `{show_condition(self.condition)}`"


class BoundTypes:
    """Bound types by the values that they were made from. Values of the language never change."""

    def __init__(self) -> None:
        self._bound: OrderedDict[tuple[object, ...], Bound] = OrderedDict()
        """Those of holes."""
        self._types: OrderedDict[tuple[object, ...], tuple[Type, tuple[Value, ...]]] = OrderedDict()
        """Those that values are held against, with the values that they were made from."""

    def get(self, index: int, hole: HoleSpec, type: Type, values: list[Value], table: TypeTable) -> Bound:
        """The type of hole number `index` with these values; raises the program's own Failure."""
        key = (index, *map(_key, values))
        found = self._bound.get(key)
        if found is not None:
            self._bound.move_to_end(key)
            return found
        try:
            condition = None if hole.condition is None else bind_condition(hole.condition, values)
            bound = bind(type, values)
            whole = _behind(bound)
            if isinstance(whole, OneOf):
                _clear_ends(whole, hole.stops)
            legal = language(bound, table, surface="hole")
            if any(isinstance(part, Str) for part in given_types(type)):
                _clear_end(type, values, table, hole.stops)
            if condition is not None:
                legal = narrowed_language(bound, table, condition)
        except NothingLeft as fault:
            raise SglError("Unsatisfiable", f"no value of hole `{hole.name}` is legal: {fault}") from None
        except (GivenError, LanguageError, TooLarge) as fault:
            raise failure(f"hole `{hole.name}`: {fault}") from None
        found = Bound(bound, condition, legal, tuple(values))
        self._bound[key] = found
        if len(self._bound) > KEPT:
            self._bound.popitem(last=False)
        return found

    def hold(self, value: object, index: int, type: Type, values: Sequence[Any], table: TypeTable) -> None:
        """Raises the program's own Failure unless a value is one of type number `index` with these values."""
        key = (index, *map(_key, values))
        known = self._types.get(key)
        try:
            if known is None:
                known = self._types[key] = bind(type, values), tuple(values)
                if len(self._types) > KEPT:
                    self._types.popitem(last=False)
            else:
                self._types.move_to_end(key)
            check_member(value, known[0], table)
        except MemberError as fault:
            raise failure(f"a value is outside of its type: {fault}") from None
        except NothingLeft as fault:
            raise failure(f"a value is outside of its type, which has none: {fault}") from None
        except (GivenError, LanguageError, TooLarge) as fault:
            raise failure(f"a value cannot be held against its type: {fault}") from None


def _behind(type: Type) -> Type:
    """What aliases with values stand for."""
    while isinstance(type, Applied) and isinstance(declared := declaration_of(type), AliasType):
        type = declared.type
    return type


def _key(value: object) -> object:
    """Short values by what they are, others by their identity."""
    if isinstance(value, int | Decimal) or (isinstance(value, str) and len(value) <= 80):
        return type(value), value
    return id(value)


def _clear_end(type: Type, values: list[Value], table: TypeTable, stops: tuple[str, ...]) -> None:
    """Refuse values with which a grammar can contain the text after the hole."""
    for stop in stops:
        if stop == "\n" and not any(map(_has_line_break, values)):
            continue  # asked of the grammar when the program was compiled
        witness = junction_conflict(language(bind(type, values, stop), table, surface="hole"), stop)
        if witness is not None:
            raise GivenError(f"the text after it can also be part of its value: {json_text(witness[:80])}")


def _has_line_break(value: object) -> bool:
    match value:
        case str():
            return "\n" in value
        case list():
            return any(map(_has_line_break, value))
        case RecordValue():
            return any(map(_has_line_break, value.fields.values()))
    return False


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
