"""Is every value met by a case, and is every case met by a value?

The usefulness algorithm of Maranget ("Warnings for pattern matching", JFP 17, 2007): a row of patterns is
useful below earlier rows if some value matches it and none of them. With a wildcard as the row, the value
found is the missing case. Integers are cut into the intervals that the patterns name; texts and decimals into
the literals that occur and the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from sglc.check.relations import Table, expand
from sglc.check.result import ExpressionType
from sglc.types.equality import equal, key_of
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    Int,
    Json,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    UnionType,
)

MAX_STEPS = 100_000
LOWEST, HIGHEST = -(10**18) + 1, 10**18 - 1
"""Integers of 18 digits: what `int` holds where nothing else is said."""


class TooComplex(Exception):
    """The search was given up; a wildcard case always helps."""


@dataclass(frozen=True, slots=True)
class Wild:
    """Any value."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A constructor with patterns for its parts. `key` is a member, variant, literal or type."""

    key: object
    parts: tuple[Form, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers from `low` to `high`, both included."""

    low: object
    high: object


@dataclass(frozen=True, slots=True)
class AnyOf:
    forms: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class OfType:
    """Every value of one arm of `A | B`; `kind` as in Constructor."""

    kind: object


Form = Wild | Shape | Span | AnyOf | OfType
WILD = Wild()


@dataclass(frozen=True, slots=True)
class Constructor:
    """One way a value can look: its parts' types, and how it is written in a witness."""

    key: object
    types: tuple[ExpressionType, ...]
    names: tuple[str, ...] | None
    text: str
    interval: tuple[int, int] | None = None
    kind: object = None
    """Name of the declared type, else the class of the type that it belongs to."""

    def write(self, parts: Sequence[str]) -> str:
        if self.names is None:
            return self.text if not parts else "(" + ", ".join(parts) + ")"
        said = [f"{n} = {p}" for n, p in zip(self.names, parts, strict=True) if p != "_"]
        return f"{self.text}({', '.join(said)})" if said else self.text


class Cases:
    """Decides usefulness over one table of declared types."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.steps = 0

    def missing(self, forms: Sequence[Form], type: ExpressionType) -> str | None:
        """A value that no form matches, in the language's notation; None if there is none."""
        self.steps = 0
        found = self._useful([[form] for form in forms], [WILD], [type])
        return None if found is None else found[0]

    def reachable(self, before: Sequence[Form], form: Form, type: ExpressionType) -> bool:
        """Whether some value gets past the forms before and matches this one."""
        self.steps = 0
        return self._useful([[earlier] for earlier in before], [form], [type]) is not None

    def _useful(
        self, rows: list[list[Form]], query: list[Form], types: list[ExpressionType]
    ) -> list[str] | None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooComplex
        if not types:
            return None if rows else []
        head = query[0]
        if isinstance(head, AnyOf):
            for form in head.forms:
                found = self._useful(rows, [form, *query[1:]], types)
                if found is not None:
                    return found
            return None
        if isinstance(head, Wild) and all(isinstance(row[0], Wild) for row in rows):
            found = self._useful([row[1:] for row in rows], query[1:], types[1:])
            return None if found is None else ["_", *found]
        flat = list(_flatten(rows))
        for constructor in self._constructors(types[0], [row[0] for row in flat] + [head]):
            below = _specialise(head, constructor)
            if below is None:
                continue
            kept = []
            for row in flat:
                parts = _specialise(row[0], constructor)
                if parts is not None:
                    kept.append([*parts, *row[1:]])
            found = self._useful(kept, [*below, *query[1:]], [*constructor.types, *types[1:]])
            if found is not None:
                width = len(constructor.types)
                return [constructor.write(found[:width]), *found[width:]]
        return None

    def _constructors(self, type: ExpressionType, forms: list[Form]) -> Iterator[Constructor]:
        plain = expand(type, self.table)
        if isinstance(plain, Optional):
            yield Constructor(None, (), None, "null", kind=Null)
            yield from self._constructors(plain.item, forms)
        elif isinstance(plain, Alternatives):
            for arm in plain.arms:
                yield from self._constructors(arm, forms)
        else:
            kind = plain.name if isinstance(plain, Named) else plain.__class__
            for constructor in self._plain(plain, forms):
                yield replace(constructor, kind=kind)

    def _plain(self, plain: ExpressionType, forms: list[Form]) -> Iterator[Constructor]:
        match plain:
            case Bool():
                yield Constructor(True, (), None, "true")
                yield Constructor(False, (), None, "false")
            case Null():
                yield Constructor(None, (), None, "null")
            case Constant(value):
                yield Constructor(value, (), None, _literal(value))
            case TupleOf(items):
                yield Constructor("tuple", items, None, "_")
            case Int(minimum, maximum):
                low = LOWEST if minimum is None else minimum
                high = HIGHEST if maximum is None else maximum
                yield from _intervals(low, high, forms)
            case Str() | Dec() | Float():
                yield from _open(forms, isinstance(plain, Str))
            case Json():
                yield from _of_any_kind(forms)
            case Named(name):
                yield from self._declared(name)
            case _:
                yield Constructor(plain, (), None, "_")

    def _declared(self, name: str) -> Iterator[Constructor]:
        declared = self.table.get(name)
        match declared:
            case EnumType(_, members):
                for member in members:
                    yield Constructor((name, member), (), None, member)
            case UnionType(_, variants):
                for variant in variants:
                    yield _record((name, variant.name), variant)
            case RecordType():
                yield _record(name, declared)


def _record(key: object, record: RecordType) -> Constructor:
    types = tuple(
        Optional(field.type) if field.optional and not field.has_default else field.type
        for field in record.fields
    )
    return Constructor(key, types, tuple(f.name for f in record.fields), record.name.rsplit(".", 1)[-1])


def _flatten(rows: list[list[Form]]) -> Iterator[list[Form]]:
    for row in rows:
        if isinstance(row[0], AnyOf):
            yield from _flatten([[form, *row[1:]] for form in row[0].forms])
        else:
            yield row


def _intervals(low: int, high: int, forms: list[Form]) -> Iterator[Constructor]:
    """The integers from low to high, cut wherever a pattern begins or ends."""
    cuts = {low, high + 1}
    for form in forms:
        for part in form.forms if isinstance(form, AnyOf) else (form,):
            if isinstance(part, Shape) and isinstance(part.key, int) and not isinstance(part.key, bool):
                cuts.update((part.key, part.key + 1))
            elif isinstance(part, Span):
                if isinstance(part.low, int):
                    cuts.add(part.low)
                if isinstance(part.high, int):
                    cuts.add(part.high + 1)
    ordered = sorted(cut for cut in cuts if low <= cut <= high + 1)
    for start, end in pairwise(ordered):
        near = start if start > LOWEST else end - 1
        yield Constructor("int", (), None, str(near), (start, end - 1))


def _open(forms: list[Form], text: bool) -> Iterator[Constructor]:
    """The literals that occur, then anything else."""
    seen: list[object] = []
    for form in forms:
        for part in form.forms if isinstance(form, AnyOf) else (form,):
            if isinstance(part, Shape) and part.key not in seen and part.key is not None:
                if isinstance(part.key, str) == text and not isinstance(part.key, tuple | bool):
                    seen.append(part.key)
    for value in seen:
        yield Constructor(value, (), None, _literal(value))
    yield Constructor(_REST, (), None, "_")


def _of_any_kind(forms: list[Form]) -> Iterator[Constructor]:
    """The literals that occur, of whatever kind, then anything else."""
    seen: dict[object, str | int | Decimal | None] = {}
    for form in forms:
        for part in form.forms if isinstance(form, AnyOf) else (form,):
            if isinstance(part, Shape) and (part.key is None or isinstance(part.key, str | int | Decimal)):
                seen.setdefault(key_of(part.key), part.key)
    for value in seen.values():
        yield Constructor(value, (), None, "null" if value is None else _literal(value))
    yield Constructor(_REST, (), None, "_")


_REST = object()


def _specialise(form: Form, constructor: Constructor) -> list[Form] | None:
    """Patterns for the parts of a constructor; None where the form does not match it."""
    if isinstance(form, Wild):
        return [WILD] * len(constructor.types)
    if isinstance(form, OfType):
        return [WILD] * len(constructor.types) if form.kind == constructor.kind else None
    if isinstance(form, Span):
        if constructor.interval is None:
            return None
        start, end = constructor.interval
        inside = (form.low is None or form.low <= start) and (form.high is None or end <= form.high)  # type: ignore[operator]
        return [] if inside else None
    assert isinstance(form, Shape)
    if constructor.interval is not None:
        start, end = constructor.interval
        return [] if start == end and equal(form.key, start) else None
    if form.key is not constructor.key and not equal(form.key, constructor.key):
        return None
    return list(form.parts) if form.parts else [WILD] * len(constructor.types)


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
