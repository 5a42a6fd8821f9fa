"""Forms: one conjunction of requirements on an object, or on an array.

A schema's objects are a union of `ObjectForm`s, its arrays one of `ArrayForm`s. Forms are closed under
intersection, and the complement of a form is a union of forms; with that, `not`, `oneOf` and `if` are
eliminated (after Baazizi, Colazzo, Ghelli, Sartiani and Scherzinger, "Not elimination and witness generation
for JSON Schema", 2021).

What a value inside must satisfy is a set of *literals*: subschemas that it is of, or is not of. A literal is
twice the number of a node, plus one if negated. The empty set allows everything; {1} (not node 0) nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from sglc.automata.caches import small_cache
from sglc.automata.dfa.operations import accepts
from sglc.automata.term import CharDfa

Literals = frozenset[int]
TRUE: Literals = frozenset()
FALSE: Literals = frozenset({1})

Clause = frozenset[tuple[str, bool]]
"""A disjunction over names of properties that are present (True) or absent (False)."""


class NotRegular(Exception):
    """Keys that are no regular set would have to be told from others; what they satisfy."""

    def __init__(self, keys: Literals) -> None:
        super().__init__(keys)
        self.keys = keys


class Negation(Protocol):
    def __call__(self, these: Literals) -> Literals: ...


def both(left: Literals, right: Literals) -> Literals:
    """The values of both."""
    if not left or left == right:
        return right
    if not right:
        return left
    found = left | right
    if 1 in found or any(literal ^ 1 in left for literal in right):
        return FALSE
    return found


@dataclass(frozen=True, slots=True)
class KeySet:
    """Keys that are among `names` or words of one of `patterns`; if `inverted`, all other keys."""

    names: frozenset[str]
    patterns: tuple[CharDfa, ...] = ()
    inverted: bool = False

    def __contains__(self, name: str) -> bool:
        return (name in self.names or any(accepts(dfa, name) for dfa in self.patterns)) != self.inverted


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What the values under keys must be: by name, by every pattern that matches, else `other`."""

    named: dict[str, Literals]
    patterns: tuple[tuple[CharDfa, Literals], ...] = ()
    other: Literals = TRUE
    declares: bool = False
    """Whether `named` are properties that the schema declares (in this order)."""

    def value(self, name: str) -> Literals:
        """What the value under a key must satisfy."""
        found = self.named.get(name)
        for dfa, literals in self.patterns:
            if accepts(dfa, name):
                found = literals if found is None else both(found, literals)
        return self.other if found is None else found

    def is_about(self, name: str) -> bool:
        """Whether nothing is said of any other key."""
        return not self.patterns and not self.other and self.named.keys() == {name}

    def rest(self) -> KeySet:
        """The keys to which `other` applies."""
        return KeySet(frozenset(self.named), tuple(dfa for dfa, _ in self.patterns), True)


@dataclass(frozen=True, slots=True)
class EntryCount:
    """`low` to `high` entries have a value that does not satisfy all of `parts`."""

    parts: tuple[Entries, ...]
    low: int
    high: int | None

    def allowed(self, name: str) -> Literals:
        """What the value under a key must be for the entry not to be counted."""
        found = TRUE
        for part in self.parts:
            found = both(found, part.value(name))
        return found


@dataclass(frozen=True, slots=True)
class ObjectForm:
    """Objects with `low` to `high` entries that satisfy every one of `parts`, `clauses` and `counts`.

    `seen` are the keys that the schema has evaluated (None: all); it is kept where `unevaluatedProperties`
    asks for it.
    """

    parts: tuple[Entries, ...] = ()
    clauses: frozenset[Clause] = frozenset()
    low: int = 0
    high: int | None = None
    counts: tuple[EntryCount, ...] = ()
    seen: tuple[KeySet, ...] | None = ()
    keys: Literals = TRUE
    """What all keys satisfy, where these strings are no regular set."""
    asked: tuple[str, ...] = field(default=(), compare=False)
    """Names that are required, in the order in which the schema has them."""

    def value(self, name: str) -> Literals:
        """What the value under a key must satisfy, by all parts together."""
        found = TRUE
        for part in self.parts:
            found = both(found, part.value(name))
        return found

    def size(self) -> int:
        """How many parts and clauses there are, and one for the form: what a product copies."""
        return 1 + len(self.parts) + len(self.clauses)

    def required(self) -> list[str]:
        """The keys that must be there, whatever others are."""
        return [name for clause in self.clauses if len(clause) == 1 for name, present in clause if present]

    def closed_names(self) -> frozenset[str] | None:
        """The only names that may occur, if one of the parts lists them."""
        for part in self.parts:
            if part.other == FALSE and not part.patterns:
                return frozenset(part.named)
        return None

    def is_presence(self) -> bool:
        """Whether only clauses are asked."""
        return not (self.parts or self.counts or self.low or self.keys) and self.high is None


ANY_OBJECT = ObjectForm()


def clauses_form(clauses: Iterable[Clause]) -> ObjectForm | None:
    """Objects that satisfy all clauses; None where none can."""
    found = simplified(clauses)
    return None if found is None else ObjectForm(clauses=found)


def presence(name: str, present: bool) -> Clause:
    """The clause that a property is there, or that it is not."""
    return frozenset({(name, present)})


def meet_objects(a: ObjectForm, b: ObjectForm) -> ObjectForm | None:
    """The objects of both; None where that is plainly none."""
    if a is ANY_OBJECT or a == ANY_OBJECT:
        return b
    if b is ANY_OBJECT or b == ANY_OBJECT:
        return a
    if a.clauses and b.clauses and a.clauses != b.clauses:
        clauses = simplified(a.clauses | b.clauses)
        if clauses is None:
            return None
    else:
        clauses = a.clauses or b.clauses
    low, high = max(a.low, b.low), _least(a.high, b.high)
    if high is not None and low > high:
        return None
    seen = None if a.seen is None or b.seen is None else tuple(dict.fromkeys(a.seen + b.seen))
    keys = both(a.keys, b.keys)
    parts, counts, asked = _joined(a.parts, b.parts), _joined(a.counts, b.counts), _joined(a.asked, b.asked)
    return ObjectForm(parts, clauses, low, high, counts, seen, keys, asked)


_T = TypeVar("_T")


def _joined(left: tuple[_T, ...], right: tuple[_T, ...]) -> tuple[_T, ...]:
    if not left or not right:
        return left or right
    return tuple(dict.fromkeys(left + right))


def _least(a: int | None, b: int | None) -> int | None:
    return a if b is None else b if a is None else min(a, b)


def simplified(clauses: Iterable[Clause]) -> frozenset[Clause] | None:
    """The same conjunction by unit propagation, without tautologies and without what follows; None if it
    contradicts itself."""
    units: dict[str, bool] = {}
    rest = {clause for clause in clauses if len(clause) != 1}
    fresh = [clause for clause in clauses if len(clause) == 1]
    while fresh:
        for clause in fresh:
            for name, present in clause:
                if units.setdefault(name, present) != present:
                    return None
        fresh = []
        kept = set()
        for clause in rest:
            if any(units.get(name) == present for name, present in clause):
                continue
            left = frozenset(one for one in clause if one[0] not in units)
            if not left:
                return None
            if len(left) == 1:
                fresh.append(left)
            else:
                kept.add(left)
        rest = kept
    if frozenset() in rest:
        return None
    useful = {clause for clause in rest if not any((name, not present) in clause for name, present in clause)}
    if len(useful) > 1:
        useful = {clause for clause in useful if not any(other < clause for other in useful)}
    return frozenset({presence(name, present) for name, present in units.items()} | useful)


def negated_object(form: ObjectForm, negate: Negation) -> Iterator[ObjectForm]:
    """Forms that together hold all objects that are not of the form. Raises NotRegular."""
    if form.keys:
        raise NotRegular(form.keys)
    wrong = list(wrong_values(form, negate))
    if len(wrong) <= FEW_WRONG:
        yield from wrong
    else:
        yield ObjectForm(counts=(EntryCount(form.parts, 1, None),))
    units = [clause for clause in form.clauses if len(clause) == 1]
    if units:
        yield ObjectForm(
            clauses=frozenset({frozenset((name, not present) for unit in units for name, present in unit)})
        )
    for clause in form.clauses:
        if len(clause) > 1:
            yield ObjectForm(clauses=frozenset(presence(name, not present) for name, present in clause))
    if form.low:
        yield ObjectForm(high=form.low - 1)
    if form.high is not None:
        yield ObjectForm(low=form.high + 1)
    for count in form.counts:
        if count.low == 1:
            yield ObjectForm(parts=count.parts)
        elif count.low:
            yield ObjectForm(counts=(replace(count, low=0, high=count.low - 1),))
        if count.high is not None:
            yield ObjectForm(counts=(replace(count, low=count.high + 1, high=None),))


FEW_WRONG = 3
"""Up to so many wrong values are told apart; beyond, they are counted together."""


def wrong_values(form: ObjectForm, negate: Negation) -> Iterator[ObjectForm]:
    """For each key (or kind of keys) with a requirement, the objects that break it."""
    for part in form.parts:
        for name, value in part.named.items():
            if value:
                yield wrong_value(name, negate(value))
        yield from wrong_others(part)


def wrong_others(part: Entries) -> Iterator[ObjectForm]:
    """The same for the keys that are not known by name."""
    for dfa, value in part.patterns:
        if value:
            yield at_least_one(only(KeySet(frozenset(), (dfa,)), value))
    if part.other:
        yield at_least_one(only(part.rest(), part.other))


@small_cache(4096)
def wrong_value(name: str, value: Literals) -> ObjectForm:
    """The property is there, and its value satisfies `value`."""
    parts = (Entries({name: value}),) if value else ()
    return ObjectForm(parts=parts, clauses=frozenset({presence(name, True)}))


def at_least_one(entries: Entries) -> ObjectForm:
    """Some entry is not as it should be."""
    return ObjectForm(counts=(EntryCount((entries,), 1, None),))


def only(keys: KeySet, value: Literals) -> Entries:
    """Every value under one of the keys satisfies `value`."""
    if keys.inverted:
        return Entries(dict.fromkeys(keys.names, TRUE), tuple((dfa, TRUE) for dfa in keys.patterns), value)
    return Entries(dict.fromkeys(keys.names, value), tuple((dfa, value) for dfa in keys.patterns))


def implies(strong: ObjectForm, weak: ObjectForm) -> bool:
    """Whether plainly every object of one form is of the other."""
    return (
        weak.low <= strong.low
        and (weak.high is None or (strong.high is not None and strong.high <= weak.high))
        and all(part in strong.parts for part in weak.parts)
        and all(count in strong.counts for count in weak.counts)
        and all(any(other <= clause for other in strong.clauses) for clause in weak.clauses)
        and weak.seen == strong.seen
        and weak.keys <= strong.keys
    )


def absorbed(forms: Iterable[ObjectForm]) -> list[ObjectForm]:
    """The same union without forms that plainly lie in others."""
    kept: list[ObjectForm] = []
    for form in forms:
        if not any(implies(form, other) for other in kept):
            kept = [other for other in kept if not implies(other, form)]
            kept.append(form)
    return kept


def merged(forms: Iterable[ObjectForm]) -> list[ObjectForm]:
    """The same union with fewer forms: one without a property, and one with it that is the same otherwise
    but for what the property's value must be, are one form with that requirement."""
    found = {_key(form): form for form in forms}
    waiting = list(found.values())
    while waiting:
        form = waiting.pop()
        if found.get(_key(form)) is not form:
            continue
        for unit in form.clauses:
            if len(unit) > 1:
                continue
            ((name, present),) = unit
            if not present:
                continue
            rest = replace(form, clauses=form.clauses - {unit})
            about = [part for part in form.parts if part.is_about(name)]
            if about:
                rest = replace(rest, parts=tuple(part for part in form.parts if part not in about))
            other = _key(replace(rest, clauses=rest.clauses | {presence(name, False)}))
            if other in found:
                del found[_key(form)], found[other]
                joined = replace(rest, parts=rest.parts + tuple(about))
                found[_key(joined)] = joined
                waiting.append(joined)
                break
    return list(found.values())


def _key(form: ObjectForm) -> tuple[Hashable, ...]:
    """Equal for forms that differ in the order of their parts only."""
    counts = frozenset(form.counts)
    return (frozenset(form.parts), form.clauses, form.low, form.high, counts, form.seen, form.keys)


# Arrays


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Item i satisfies `prefix[i]`, further ones `rest`."""

    prefix: tuple[Literals, ...]
    rest: Literals

    def value(self, index: int) -> Literals:
        """What the item at an index must satisfy."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, slots=True)
class ItemCount:
    """`low` to `high` of the items from number `start` on satisfy `value`."""

    start: int
    value: Literals
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """Arrays of `low` to `high` items that satisfy every one of `parts` and `counts`.

    `unique`: the path of a `uniqueItems` that asks for different items; `repeated`: of one that must fail.
    `seen`: how many items the schema has evaluated (None: all), `marks`: what else it has evaluated.
    """

    parts: tuple[Places, ...] = ()
    low: int = 0
    high: int | None = None
    counts: tuple[ItemCount, ...] = ()
    unique: str | None = None
    repeated: str | None = None
    seen: int | None = 0
    marks: tuple[Literals, ...] = ()

    def value(self, index: int) -> Literals:
        """What the item at an index must satisfy, by all parts together."""
        found = TRUE
        for part in self.parts:
            found = both(found, part.value(index))
        return found

    def width(self) -> int:
        """From this place on, all places are alike."""
        starts = [count.start for count in self.counts]
        return max([0, *(len(part.prefix) for part in self.parts), *starts])


ANY_ARRAY = ArrayForm()


def places_form(prefix: tuple[Literals, ...], rest: Literals) -> ArrayForm:
    """Arrays whose items satisfy these, no longer than they may be."""
    for index, value in enumerate(prefix):
        if value == FALSE:
            prefix, rest = prefix[:index], FALSE
            break
    high = len(prefix) if rest == FALSE else None
    while prefix and prefix[-1] == rest:
        prefix = prefix[:-1]
    if rest == FALSE:
        rest = TRUE
        while prefix and not prefix[-1]:
            prefix = prefix[:-1]
    return ArrayForm(parts=(Places(prefix, rest),) if prefix or rest else (), high=high)


def meet_arrays(a: ArrayForm, b: ArrayForm) -> ArrayForm | None:
    """The arrays of both; None where that is plainly none."""
    if a == ANY_ARRAY:
        return b
    if b == ANY_ARRAY:
        return a
    low, high = max(a.low, b.low), _least(a.high, b.high)
    if high is not None and low > high:
        return None
    if (a.unique or b.unique) and (a.repeated or b.repeated):
        return None
    return ArrayForm(
        _joined(a.parts, b.parts),
        low,
        high,
        _joined(a.counts, b.counts),
        a.unique or b.unique,
        a.repeated or b.repeated,
        None if a.seen is None or b.seen is None else max(a.seen, b.seen),
        _joined(a.marks, b.marks),
    )


def negated_array(form: ArrayForm, negate: Negation) -> Iterator[ArrayForm]:
    """Forms that together hold all arrays that are not of the form."""
    for part in form.parts:
        for index, value in enumerate(part.prefix):
            if value:
                places = Places((TRUE,) * index + (negate(value),), TRUE)
                yield ArrayForm(parts=(places,), low=index + 1)
        if part.rest:
            yield ArrayForm(counts=(ItemCount(len(part.prefix), negate(part.rest), 1, None),))
    if form.low:
        yield ArrayForm(high=form.low - 1)
    if form.high is not None:
        yield ArrayForm(low=form.high + 1)
    for count in form.counts:
        if count.low == 1:
            yield ArrayForm(parts=(Places((TRUE,) * count.start, negate(count.value)),))
        elif count.low:
            yield ArrayForm(counts=(replace(count, low=0, high=count.low - 1),))
        if count.high is not None:
            yield ArrayForm(counts=(replace(count, low=count.high + 1, high=None),))
    if form.unique:
        yield ArrayForm(repeated=form.unique, low=2)
    if form.repeated:
        yield ArrayForm(unique=form.repeated)


_Form = TypeVar("_Form", bound=ObjectForm | ArrayForm)


def marks(form: ObjectForm | ArrayForm) -> Hashable:
    """What the schema has evaluated."""
    seen = frozenset(form.seen) if isinstance(form.seen, tuple) else form.seen
    return (seen, frozenset(form.marks)) if isinstance(form, ArrayForm) else seen


def unmarked(form: _Form) -> _Form:
    """The same, with nothing evaluated."""
    if isinstance(form, ObjectForm):
        return form if form.seen == () else replace(form, seen=())
    return form if form.seen == 0 and not form.marks else replace(form, seen=0, marks=())
