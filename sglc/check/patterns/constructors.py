"""The ways a value of a type can look, as far as patterns tell them apart.

Members, variants, literals and records are listed by the type; numbers and texts have no list: the numbers
are cut where a pattern begins or ends, of texts the literals that patterns name are told from the rest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import lru_cache
from math import ceil, floor
from typing import Any

from sglc.automata.analysis.emptiness import few_words
from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import Language, Text
from sglc.automata.work import OutOfWork, WorkAccount, charged
from sglc.check.core.result import ExpressionType
from sglc.check.patterns.case_forms import Constructed, Form, NumberRange, OfType
from sglc.check.types.kinds import Table, expand
from sglc.immutable import value
from sglc.types.language.membership import constant_notation
from sglc.types.language.scalars import str_dfa
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    Int,
    Json,
    LanguageError,
    Named,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    UnionType,
)

DIGITS = 100
"""Digits of a decimal in a witness: more than bounds and literals have together."""

MOST_TEXTS = 100
"""Texts of a pattern that a match may list one by one. With more of them a case for the rest is due, as with
any text: a reader does not see either that so many literals are all there."""
TEXT_WORK = 200_000
"""Units of work for finding them: some 0.1 s."""

Number = int | Decimal


@value
class Constructor:
    """One way a value can look: its parts' types, and how it is written in a witness."""

    key: object
    types: tuple[ExpressionType, ...]
    names: tuple[str, ...] | None
    text: str
    kind: object = None
    """Name of the declared type, else the class of the type that it belongs to."""

    def write(self, parts: Sequence[str]) -> str:
        """A pattern of it as a program writes it, its parts being written already."""
        if self.names is None:
            return self.text if not parts else "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
        said = [f"{n} = {p}" for n, p in zip(self.names, parts, strict=True) if p != "_"]
        return f"{self.text}({', '.join(said)})" if said else self.text


@value
class NumberArm:
    """Numbers of one arm: `step` is None where they lie densely."""

    low: Number | None
    high: Number | None
    step: int | None
    kind: object

    def holds(self, number: Number) -> bool:
        """Whether a number is one of the arm."""
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            return False
        return self.step is None or (int(number) == number and int(number) % self.step == 0)

    def between(self, low: Number | None, high: Number | None) -> Number | None:
        """A number of the arm that lies strictly between two others; None if there is none."""
        if self.low is not None and (low is None or low < self.low):
            if (high is None or self.low < high) and self.holds(self.low):
                return self.low
            low = self.low
        if self.high is not None and (high is None or high > self.high):
            if (low is None or low < self.high) and self.holds(self.high):
                return self.high
            high = self.high
        if low is None or high is None:
            return _beyond(low, high, self.step)
        if low >= high:
            return None
        if self.step is None:
            with localcontext(prec=DIGITS):
                return (Decimal(low) + Decimal(high)) / 2
        found = (floor(low) // self.step + 1) * self.step
        return found if found < high else None


def _beyond(low: Number | None, high: Number | None, step: int | None) -> Number:
    """A number below `high` or above `low`, of which one is None; a multiple of the step."""
    if step is None:
        return high - 1 if high is not None else Decimal(0) if low is None else low + 1
    if high is not None:
        return (ceil(high) - 1) // step * step
    return 0 if low is None else (floor(low) // step + 1) * step


def exact(key: object) -> tuple[object, object]:
    """A key of its own for every value, as `sglc.types.equality` has it: true is not 1, and 1 is 1.0."""
    kind: object = key.__class__
    return ("number" if kind in (int, Decimal) else kind), key


@dataclass(slots=True)
class Looks:
    """How the values of one type can look."""

    listed: dict[tuple[object, object], Constructor] = field(default_factory=dict)
    of_kind: dict[object, list[tuple[object, object]]] = field(default_factory=dict)
    numbers: list[NumberArm] = field(default_factory=list)
    texts: object = None
    """The class of the type of texts, if there is one."""
    json: bool = False

    def add(self, constructor: Constructor) -> None:
        """Note a constructor, unless an equal one is noted."""
        key = exact(constructor.key)
        if key not in self.listed:
            self.listed[key] = constructor
            self.of_kind.setdefault(constructor.kind, []).append(key)


def looks(type: ExpressionType, table: Table) -> Looks:
    """What the values of a type look like: the constructors that can be listed, and the numbers, texts and
    JSON besides."""
    found = Looks()
    waiting = [type]
    while waiting:
        plain = expand(waiting.pop(), table)
        if isinstance(plain, Optional):
            found.add(Constructor(None, (), None, "null", Null))
            waiting.append(plain.item)
        elif isinstance(plain, Alternatives):
            waiting.extend(reversed(plain.arms))
        else:
            _add(found, plain, table)
    return found


def _add(found: Looks, plain: ExpressionType, table: Table) -> None:
    kind = plain.__class__
    match plain:
        case Bool():
            found.add(Constructor(True, (), None, "true", kind))
            found.add(Constructor(False, (), None, "false", kind))
        case Null():
            found.add(Constructor(None, (), None, "null", kind))
        case Constant(value):
            found.add(Constructor(value, (), None, constant_notation(value), kind))
        case TupleOf(items):
            found.add(Constructor(TupleOf, items, None, "_", kind))
        case Int(low, high, step):
            found.numbers.append(NumberArm(low, high, step or 1, kind))
        case Dec(low, high) | Float(low, high):
            found.numbers.append(NumberArm(low, high, None, kind))
        case Str():
            words = few_texts(plain)
            if words is None:
                found.texts = kind
            for word in words or ():
                found.add(Constructor(word, (), None, constant_notation(word), kind))
        case OneOf() | SpanOf():
            found.texts = kind
        case Json():
            found.json = True
        case Named(name):
            for constructor in _declared(name, table):
                found.add(constructor)
        case _:
            found.add(Constructor(plain, (), None, "_", kind))


@lru_cache(maxsize=256)
def few_texts(type: Str) -> tuple[str, ...] | None:
    """All texts of a type with a pattern, the shortest first, where they are at most `MOST_TEXTS` and found
    within `TEXT_WORK`; else None."""
    if not type.patterns or type.grammar or type.given:
        return None
    try:
        with charged(WorkAccount(TEXT_WORK)):
            texts = Language(Text(str_dfa(type), "raw", type.min_chars, type.max_chars))
            words = few_words(texts, MOST_TEXTS)
    except (OutOfWork, TooLarge, LanguageError):
        return None
    return None if words is None else tuple(word.decode() for word in words)


def _declared(name: str, table: Table) -> Iterator[Constructor]:
    declared = table.get(name)
    match declared:
        case EnumType(_, members):
            for member in members:
                yield Constructor((name, member), (), None, member, name)
        case UnionType(_, variants):
            for variant in variants:
                yield _record((name, variant.name), variant, name)
        case RecordType():
            yield _record(RecordKey(name), declared, name)


@value
class RecordKey:
    """The key of a record's one constructor, apart from the text that is spelled like its name."""

    name: str


def _record(key: object, record: RecordType, kind: str) -> Constructor:
    types = tuple(
        Optional(field.type) if field.optional and not field.has_default else field.type
        for field in record.fields
    )
    return Constructor(key, types, tuple(f.name for f in record.fields), record.name.rsplit(".", 1)[-1], kind)


# -- one column ------------------------------------------------------------------------------------

Slot = tuple[object, object]
"""Which constructor, in one column: an exact key, or a piece of the numbers, or the rest of the texts."""
Place = tuple[Slot, tuple[Form, ...]]
"""A constructor that a form matches, with the forms of its parts (none where any parts do)."""

REST: Slot = ("rest", None)


class Column:
    """The constructors that the forms of one column tell apart. No form is an AnyOf."""

    def __init__(self, looks: Looks, forms: Sequence[Form]) -> None:
        self.looks = looks
        self._ends = _ends(forms)
        self._ranges = any(isinstance(form, NumberRange) for form in forms)
        self._named = {
            exact(form.key): None
            for form in forms
            if isinstance(form, Constructed) and exact(form.key) not in looks.listed
        }

    def places(self, form: Form) -> Iterator[Place]:
        """The constructors that a form matches; never asked of WILD."""
        match form:
            case Constructed(key, parts):
                slot = exact(key)
                if slot in self.looks.listed:
                    yield slot, parts
                elif self._is_open(slot):
                    yield slot, parts
                if slot[0] == "number":
                    yield from self._pieces(NumberRange(key, key), None)  # type: ignore[arg-type]
            case NumberRange():
                for slot in self.looks.of_kind.get(Constant, ()):
                    number: Any = slot[1]
                    if slot[0] == "number" and _within(number, form):
                        yield slot, ()
                yield from self._pieces(form, None)
            case OfType(kind):
                for slot in self.looks.of_kind.get(kind, ()):
                    yield slot, ()
                yield from self._pieces(NumberRange(None, None), kind)
                if kind is self.looks.texts or (kind is Json and self.looks.json):
                    for slot in self._named:
                        if self._is_open(slot):
                            yield slot, ()
                    yield REST, ()

    def _is_open(self, slot: Slot) -> bool:
        """Whether a literal is one of those that no list holds."""
        if self.looks.json:
            return slot[0] in (str, "number", bool, None.__class__)
        return slot[0] is str and self.looks.texts is not None

    def _pieces(self, span: NumberRange, kind: object) -> Iterator[Place]:
        """The pieces of the numbers of a span: places with odd numbers are the ends themselves."""
        ends = self._ends
        first = 0 if span.low is None else 2 * bisect_left(ends, span.low) + 1
        last = 2 * len(ends) if span.high is None else 2 * bisect_left(ends, span.high) + (not span.below)
        for which, arm in enumerate(self.looks.numbers):
            if kind is None or kind is arm.kind:
                for place in range(first, last + 1):
                    if self._piece(arm, place) is not None:
                        yield ("piece", (which, place)), ()

    def _piece(self, arm: NumberArm, place: int) -> Number | None:
        """A number of an arm in one piece; None if there is none."""
        ends, index = self._ends, place // 2
        if place % 2:
            return ends[index] if arm.holds(ends[index]) else None
        return arm.between(ends[index - 1] if index else None, ends[index] if index < len(ends) else None)

    def constructor(self, slot: Slot) -> Constructor:
        """The constructor of a slot; a number, text or JSON value has no parts."""
        known = self.looks.listed.get(slot)
        if known is not None:
            return known
        if slot[0] == "piece":
            piece: Any = slot[1]
            which, place = piece
            arm = self.looks.numbers[which]
            number = self._piece(arm, place)
            assert number is not None
            some = place % 2 or arm.step is not None or self._ranges
            return Constructor(slot, (), None, _written(number) if some else "_")
        value: Any = slot[1]
        text = "_" if slot == REST else "null" if value is None else constant_notation(value)
        return Constructor(slot, (), None, text)

    def left_out(self, taken: set[Slot]) -> Constructor | None:
        """The first constructor that is not among those; None if all are."""
        for slot, constructor in self.looks.listed.items():
            if slot not in taken:
                return constructor
        for which, arm in enumerate(self.looks.numbers):
            for place in range(2 * len(self._ends) + 1):
                slot = ("piece", (which, place))
                if slot not in taken and self._piece(arm, place) is not None:
                    return self.constructor(slot)
        if (self.looks.texts is not None or self.looks.json) and REST not in taken:
            return self.constructor(REST)
        return None


def _ends(forms: Sequence[Form]) -> list[Number]:
    """The numbers that forms name or begin or end with, in order."""
    found: set[Number] = set()
    for form in forms:
        if isinstance(form, Constructed):
            if isinstance(form.key, int | Decimal) and not isinstance(form.key, bool):
                found.add(form.key)
        elif isinstance(form, NumberRange):
            found.update(end for end in (form.low, form.high) if end is not None)
    return sorted(found)


def _within(number: Number, span: NumberRange) -> bool:
    if span.low is not None and number < span.low:
        return False
    return span.high is None or number < span.high or (number == span.high and not span.below)


def _written(number: Number) -> str:
    return format(number, "f") if isinstance(number, Decimal) else str(number)
