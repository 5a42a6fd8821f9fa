"""Whether every value of one type is a value of another: proved, refuted by a value, or not known.

Records and unions are compared part by part, texts by the difference of their automata, numbers by their
bounds. A refutation is a value that was looked up in both types, and "included" follows from rules alone; all
else is "not known". Types that contain themselves are compared once and taken as included inside of that
(Amadio and Cardelli, "Subtyping recursive types", 1993).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any, Literal

from sglc.automata.dfa.operations import TooLarge, difference, shortest_word
from sglc.automata.dfa.operations import is_empty as no_word
from sglc.automata.work import OutOfWork, WorkAccount, charged
from sglc.compatibility.values import WORK, Plain, Typed, holds, is_empty, samples
from sglc.types import condition
from sglc.types import type as t
from sglc.types.arithmetic import NUMBER_DIGITS
from sglc.types.language.scalars import str_dfa
from sglc.types.type import LanguageError

Conditions = Mapping[Any, str]
"""What values are held against, and how it is shown."""
Verdict = Literal["included", "broken", "unknown"]

MOST_LISTED = 1000
"""Values of a finite type that are looked up one by one."""
MOST_SAMPLES = 12
"""Shortest values of a type that are tried where no rule finds a difference."""


@dataclass(frozen=True, slots=True)
class Found:
    """A verdict; of "broken" the value that shows it, of "unknown" why."""

    verdict: Verdict
    value: Plain = None
    reason: str = ""


INCLUDED = Found("included")


def included(narrow: Typed, wide: Typed, *, given: bool = False) -> Found:
    """Whether every value of `narrow` is one of `wide`. Of values that are `given` (arguments) fields with a
    default may be left out."""
    return _Comparison(given).included(narrow, wide)


@dataclass(slots=True)
class _Comparison:
    given: bool
    assumed: set[tuple[t.Type, t.Type]] = field(default_factory=set)

    def included(self, a: Typed, b: Typed) -> Found:
        held, asked = a.conditions(), b.conditions()
        if held or asked:
            decided = self._by_values(a, held, b, asked)
            if decided is not None:
                return decided
        found = self._bare(a.opened(), b.opened())
        if found.verdict == "included":
            more = {each: text for each, text in asked.items() if each not in held}
            return _asked(a, held, more) if more else found
        if found.verdict == "broken" and held and not _meets(found.value, held):
            return Found("unknown", reason=f"{next(iter(held.values()))} is asked of values in a run")
        return found

    def _by_values(self, a: Typed, held: Conditions, b: Typed, asked: Conditions) -> Found | None:
        """The answer of a type with few values, whose conditions are data; None where it has none."""
        values = _listed(a.opened())
        if values is None or not _are_data((*held, *asked)) or b.opened().is_conditioned():
            return None
        for value in values:
            if _meets(value, held) and not (holds(value, b, given=self.given) and _meets(value, asked)):
                return Found("broken", value)
        return INCLUDED

    def _bare(self, a: Typed, b: Typed) -> Found:
        """The same of types whose own conditions are not looked at."""
        pair = (a.type, b.type)
        if pair in self.assumed:
            return INCLUDED
        before = set(self.assumed)
        if isinstance(a.type, t.Named) or isinstance(b.type, t.Named):
            self.assumed.add(pair)
        found = self._by_rules(a, b)
        if found.verdict == "included":
            return found
        # What was taken as included inside of a comparison that failed is not known.
        self.assumed = before
        if a.is_conditioned():  # a value of the bare type may be none of this one
            return Found("unknown", reason=found.reason or "values are held against conditions in a run")
        if found.verdict == "broken" and self._refutes(found.value, a, b):
            return self._shorter(found, a, b)
        return self._tried(a, b, found.reason)

    def _refutes(self, value: Plain, a: Typed, b: Typed) -> bool:
        return holds(value, a, given=self.given) and not holds(value, b, given=self.given)

    def _shorter(self, found: Found, a: Typed, b: Typed) -> Found:
        """The shortest of a few values that refute."""
        tried = [found.value, *(value for value in samples(a, 3) if self._refutes(value, a, b))]
        return Found("broken", min(tried, key=lambda value: len(str(value))))

    def _tried(self, a: Typed, b: Typed, reason: str) -> Found:
        """The answer where no rule has one: some value may refute, or there is none at all."""
        for value in samples(a, MOST_SAMPLES):
            if self._refutes(value, a, b):
                return Found("broken", value)
        if is_empty(a):
            return INCLUDED
        return Found("unknown", reason=reason or "the two kinds of types are not compared")

    # -- rules -------------------------------------------------------------------------------------

    def _in_form(self, a: Typed, b: Typed) -> Found:
        """Types that have a form: it leaves out values that it cannot hold, and no other."""
        one = a.at(a.type.item) if isinstance(a.type, t.InForm) else a
        if not isinstance(b.type, t.InForm):
            return self.included(one, b)
        found = self.included(one, b.at(b.type.item))
        if found.verdict != "included" or b.type.form == "json":
            return found
        if isinstance(a.type, t.InForm) and a.type.form == b.type.form:
            return found
        return Found("unknown", reason=f"not every value may have a text as {b.type.form}")

    def _by_rules(self, a: Typed, b: Typed) -> Found:
        if isinstance(a.type, t.InForm) or isinstance(b.type, t.InForm):
            return self._in_form(a, b)
        values = _listed(a)
        if values is not None and not b.is_conditioned():
            return self._of_values(values, b)
        match a.type:
            case t.Optional(item):
                return self._all([(a.at(item), b), (a.at(t.Null()), b)])
            case t.Alternatives(arms):
                return self._all([(a.at(arm), b) for arm in arms])
        match b.type:
            case t.Optional(item):
                return self.included(a, b.at(item))
            case t.Alternatives(arms):
                return self._in_union(a, b, arms)
        if isinstance(b.type, t.Json) and not b.type.schema:
            return INCLUDED
        return self._same_kind(a, b)

    def _of_values(self, values: Iterable[Plain], b: Typed) -> Found:
        for value in values:
            if not holds(value, b, given=self.given):
                return Found("broken", value)
        return INCLUDED

    def _all(self, pairs: list[tuple[Typed, Typed]]) -> Found:
        answer = INCLUDED
        for one, other in pairs:
            found = self.included(one, other)
            if found.verdict == "broken":
                return found
            if found.verdict == "unknown":
                answer = found
        return answer

    def _in_union(self, a: Typed, b: Typed, arms: tuple[t.Type, ...]) -> Found:
        answer = Found("unknown", reason="its values may be those of several arms together")
        for arm in arms:
            found = self.included(a, b.at(arm))
            if found.verdict == "included":
                return found
            if found.verdict == "broken" and not holds(found.value, b, given=self.given):
                answer = found
        return answer

    def _same_kind(self, a: Typed, b: Typed) -> Found:
        match a.type, b.type:
            case t.Str(), t.Str():
                return _texts(a.type, b.type)
            case ((t.Int() | t.Dec() | t.Float()), (t.Int() | t.Dec() | t.Float())):
                return _numbers(a.type, b.type)
            case t.Json(), t.Json():
                equal = a.type == b.type
                return INCLUDED if equal else Found("unknown", reason="schemas of JSON are not compared")
            case t.ListOf(), t.ListOf():
                return self._lists(a, b)
            case t.TupleOf(items), t.TupleOf(others) if len(items) == len(others):
                return self._parts(a, [(x, y) for x, y in zip(items, others, strict=True)], b)
            case t.TupleOf(items), t.ListOf(item):
                return self._parts(a, [(x, item) for x in items], b)
            case t.MapOf(), t.MapOf():
                return self._maps(a, b)
        one, other = a.declared(), b.declared()
        match one, other:
            case t.RecordType(), t.RecordType():
                return self._records(a, one, b, other, "")
            case t.UnionType(), t.UnionType():
                return self._unions(a, one, b, other)
        return Found("unknown")

    def _lists(self, a: Typed, b: Typed) -> Found:
        one, other = a.type, b.type
        assert isinstance(one, t.ListOf)
        assert isinstance(other, t.ListOf)
        sizes = _wrong_size(one, other)
        if sizes is not None:
            return self._filled(a.at(one.item), sizes)
        if one.maximum == 0:
            return INCLUDED
        found = self.included(a.at(one.item), b.at(other.item))
        if found.verdict == "broken":
            rest = samples(a.at(one.item), 1)
            return Found("broken", [found.value, *(rest * (max(one.minimum, 1) - 1))])
        return found

    def _filled(self, item: Typed, size: int) -> Found:
        """A list of a size that is refused, where it can be shown."""
        some = samples(item, 1)
        if size > MOST_LISTED or not (some or size == 0):
            return Found("unknown", reason="the number of items differs, and no list of them can be shown")
        return Found("broken", list(some) * size)

    def _maps(self, a: Typed, b: Typed) -> Found:
        one, other = a.type, b.type
        assert isinstance(one, t.MapOf)
        assert isinstance(other, t.MapOf)
        if _wrong_size(one, other) is not None:
            return Found("unknown", reason="the number of entries differs")
        if one.maximum == 0:
            return INCLUDED
        keys = self.included(a.at(one.key), b.at(other.key))
        found = keys if keys.verdict != "included" else self.included(a.at(one.value), b.at(other.value))
        if found.verdict == "broken":
            some = samples(a.at(one.value if keys.verdict == "broken" else one.key), 1)
            if not some:
                return Found("unknown", reason="no entry can be shown")
            pair = (found.value, some[0]) if keys.verdict == "broken" else (some[0], found.value)
            return Found("broken", {pair[0]: pair[1]})
        return found

    def _parts(self, a: Typed, pairs: list[tuple[t.Type, t.Type]], b: Typed) -> Found:
        """A tuple against the types that its parts are to have."""
        if isinstance(b.type, t.ListOf):
            most = b.type.maximum
            if len(pairs) < b.type.minimum or (most is not None and len(pairs) > most):
                return Found("unknown", reason="the number of items differs")
        answer = INCLUDED
        for place, (one, other) in enumerate(pairs):
            found = self.included(a.at(one), b.at(other))
            if found.verdict == "broken":
                whole = samples(a, 1)
                if not whole:
                    return Found("unknown", reason="no value can be shown")
                return Found("broken", [*whole[0][:place], found.value, *whole[0][place + 1 :]])
            answer = found if found.verdict == "unknown" else answer
        return answer

    def _unions(self, a: Typed, one: t.UnionType, b: Typed, other: t.UnionType) -> Found:
        answer = INCLUDED
        for variant in one.variants:
            known = other.variant(variant.name)
            if known is None:
                value = _record_sample(a, variant)
                if value is None:
                    if any(is_empty(a.at(f.type)) for f in variant.fields if not f.optional):
                        continue
                    return Found("unknown", reason=f"variant `{variant.name}` is new, and has no short value")
                return Found("broken", {t.TAG: variant.name, **value})
            found = self._records(a, variant, b, known, variant.name)
            if found.verdict == "broken":
                return found
            answer = found if found.verdict == "unknown" else answer
        return answer

    def _records(self, a: Typed, one: t.RecordType, b: Typed, other: t.RecordType, tag: str) -> Found:
        fields = {each.name: each for each in other.fields}
        answer = INCLUDED
        for each in one.fields:
            known = fields.get(each.name)
            if known is None:
                found = Found("broken", (samples(a.at(each.type), 1) or (None,))[0])
            else:
                found = self.included(a.at(each.type), b.at(known.type))
            if found.verdict == "broken":
                if not each.optional and is_empty(a.at(each.type)):
                    return INCLUDED  # no value at all
                whole = _record_sample(a, one)
                if whole is None:
                    return Found("unknown", reason=f"field `{each.name}` differs, and no value can be shown")
                return Found("broken", _tagged(tag, {**whole, each.name: found.value}))
            answer = found if found.verdict == "unknown" else answer
        own = {each.name: each for each in one.fields}
        for each in other.fields:
            mine = own.get(each.name)
            absent = mine is None or mine.optional or (self.given and mine.has_default)
            if absent and not (each.optional or (self.given and each.has_default)):
                whole = _record_sample(a, one)
                if whole is None:
                    return Found("unknown", reason=f"field `{each.name}` may be left out")
                whole.pop(each.name, None)
                return Found("broken", _tagged(tag, whole))
        return answer


def _asked(a: Typed, held: Conditions, more: Conditions) -> Found:
    """Whether the values of a type, of which `held` holds, meet `more` conditions: one may show that they do
    not."""
    wanted = [each for each in more if _is_data(each)]
    sure = _are_data(held) and not a.opened().is_conditioned()
    for value in samples(a, MOST_SAMPLES) if sure else ():
        if _is_scalar(value) and _meets(value, held) and not _meets(value, wanted):
            return Found("broken", value)
    return Found("unknown", reason=f"{next(iter(more.values()))} is asked of values in a run")


def _meets(value: Plain, conditions: Iterable[Any]) -> bool:
    """Whether it is known that all conditions hold of a value."""
    return all(_is_data(each) and _is_scalar(value) and condition.holds(each, value) for each in conditions)


def _are_data(conditions: Iterable[object]) -> bool:
    return all(map(_is_data, conditions))


def _is_data(each: object) -> bool:
    return isinstance(each, condition.CLASSES)


def _is_scalar(value: Plain) -> bool:
    return isinstance(value, str | int | Decimal)


def _tagged(tag: str, value: dict[str, Plain]) -> Plain:
    return {t.TAG: tag, **value} if tag else value


def _record_sample(typed: Typed, record: t.RecordType) -> dict[str, Plain] | None:
    """A short value of a record, without fields that may be left out; None where there is none at hand."""
    value: dict[str, Plain] = {}
    for each in record.fields:
        if each.optional:
            continue
        some = samples(typed.at(each.type), 1)
        if not some:
            return None
        value[each.name] = some[0]
    return value


def _wrong_size(one: t.ListOf | t.MapOf, other: t.ListOf | t.MapOf) -> int | None:
    """A size that the one has and the other has not."""
    if one.minimum < other.minimum:
        return one.minimum
    if other.maximum is not None and (one.maximum is None or one.maximum > other.maximum):
        return max(one.minimum, other.maximum + 1)
    return None


def _listed(typed: Typed) -> list[Plain] | None:
    """All values of a type that has few scalar ones by declaration; None for others."""
    match typed.type:
        case t.Bool():
            return [False, True]
        case t.Null():
            return [None]
        case t.Constant(value):
            return [value]
        case t.Int(low, high, step) if low is not None and high is not None and high - low < MOST_LISTED:
            return [number for number in range(low, high + 1) if not step or number % step == 0]
    declared = typed.declared()
    return list(declared.members) if isinstance(declared, t.EnumType) else None


# -- texts and numbers -----------------------------------------------------------------------------


def _texts(a: t.Str, b: t.Str) -> Found:
    if a == b or b in (t.Str(), t.Str(layout="lines"), t.Str(layout="free")):
        return INCLUDED
    if a.grammar or b.grammar or a.given or b.given:
        return Found("unknown", reason="texts of grammars are not compared with others")
    try:
        with charged(WorkAccount(WORK)):
            words = str_dfa(a)
            outside = difference(words, str_dfa(b))
            found = None if no_word(outside) else shortest_word(outside, a.min_chars, a.max_chars)
            if found is None and a.min_chars < b.min_chars:
                most = b.min_chars - 1 if a.max_chars is None else min(a.max_chars, b.min_chars - 1)
                found = shortest_word(words, a.min_chars, most)
            if found is None and b.max_chars is not None:
                found = shortest_word(words, max(a.min_chars, b.max_chars + 1), a.max_chars)
    except (OutOfWork, TooLarge, LanguageError):
        return Found("unknown", reason="their automata are too large to be compared")
    return INCLUDED if found is None else Found("broken", found)


def _is_exact(type: t.Int) -> bool:
    """Whether floats hold every integer of a type (up to 2**53, IEEE 754)."""
    return all(end is not None and abs(end) <= 2**53 for end in (type.minimum, type.maximum))


_RANKS = {t.Int: 0, t.Dec: 1, t.Float: 2}


def _numbers(a: t.Int | t.Dec | t.Float, b: t.Int | t.Dec | t.Float) -> Found:
    with localcontext(prec=2 * NUMBER_DIGITS):  # bounds are exact
        return _by_bounds(a, b)


def _by_bounds(a: t.Int | t.Dec | t.Float, b: t.Int | t.Dec | t.Float) -> Found:
    low = b.minimum is None or (a.minimum is not None and a.minimum >= b.minimum)
    high = b.maximum is None or (a.maximum is not None and a.maximum <= b.maximum)
    one, other = getattr(a, "multiple_of", None), getattr(b, "multiple_of", None)
    steps = other is None or (isinstance(a, t.Int) and Decimal(1) % other == 0)
    if one is not None and other is not None:
        steps = steps or Decimal(one) % Decimal(other) == 0
    if low and high and steps and _RANKS[a.__class__] <= _RANKS[b.__class__]:
        exact = not isinstance(b, t.Float) or (isinstance(a, t.Int) and _is_exact(a))
        if exact or a.__class__ is b.__class__:
            return INCLUDED
        return Found("unknown", reason="floats do not hold every number of so many digits")
    typed, wanted = Typed(a, {}), Typed(b, {})
    ends = [end for end in (a.minimum, a.maximum, b.minimum, b.maximum) if end is not None]
    near: list[int | Decimal] = [0, 1, -1, 2, -2, Decimal("0.5"), Decimal("-0.5")]
    for end in ends:
        near += [end, end + 1, end - 1, Decimal(end) + Decimal("0.1"), Decimal(end) - Decimal("0.1")]
    if one is not None:
        near += [
            one,
            -one,
            *(Decimal(end) // Decimal(one) * one + one * k for end in ends for k in (-1, 0, 1, 2)),
        ]
    if isinstance(a, t.Int):
        near = [int(number) for number in near if number == int(number)]
    for number in sorted(near, key=lambda number: (len(str(number)), number < 0)):
        if holds(number, typed) and not holds(number, wanted):
            return Found("broken", number)
    return Found("unknown", reason="bounds and steps of numbers differ")
