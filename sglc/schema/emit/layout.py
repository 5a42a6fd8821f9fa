"""From forms to layouts: which keys and items there are one by one, and what may stand at each of them.

A layout is an `Object` or `Array` term whose values are still sets of literals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from sglc.automata.dfa import operations as automata
from sglc.automata.dfa.product import divided
from sglc.automata.term import CharDfa, Counter
from sglc.schema.algebra import forms as f
from sglc.schema.algebra import numbers, strings
from sglc.schema.algebra.algebra import Algebra
from sglc.schema.core import graph as g
from sglc.schema.core.errors import SchemaTooLarge, UnsupportedSchema

Arms = list[tuple[f.Literals, tuple[int, ...]]]
"""(what the value satisfies, counters that go up) for each way to fill a place."""


@dataclass(slots=True, eq=False)
class ObjectLayout:
    names: dict[str, Arms]
    families: list[tuple[CharDfa, Arms]]
    clauses: frozenset[f.Clause]
    low: int
    high: int | None
    counters: tuple[Counter, ...]
    distinct: bool = False
    known: tuple[str, ...] = ()
    """All names that are told apart from the keys of families."""
    keys: f.Literals = f.TRUE
    """What the keys of the one family satisfy too, where these strings are no regular set."""

    def forbidden(self) -> list[str]:
        """Names that must not occur although a family has such keys."""
        return [
            name
            for name in self.known
            if name not in self.names and any(automata.accepts(keys, name) for keys, _ in self.families)
        ]

    def values(self) -> Iterator[f.Literals]:
        """What the values of the object satisfy, each way to fill each place."""
        for arms in (*self.names.values(), *(arms for _, arms in self.families)):
            for value, _ in arms:
                yield value


@dataclass(slots=True, eq=False)
class ArrayLayout:
    places: list[Arms]
    rest: Arms
    low: int
    high: int | None
    counters: tuple[Counter, ...]
    distinct: str | None = None
    """The path of a `uniqueItems` that is left to masks: values are compared as they are written."""

    def values(self) -> Iterator[f.Literals]:
        """What the items of the array satisfy, each way to fill each place."""
        for arms in (*self.places, self.rest):
            for value, _ in arms:
                yield value


_Family = tuple[CharDfa, f.Literals, frozenset[CharDfa]]
"""Keys, what their values must be, the patterns that they match."""


@dataclass(slots=True, eq=False)
class TextsLayout:
    """An array of different strings: `words` each at most once, and any of `texts`."""

    words: list[str]
    texts: CharDfa
    low: int
    high: int | None

    def values(self) -> Iterator[f.Literals]:
        """Nothing: the items are strings, which refer to no rule."""
        return iter(())


Count = tuple[int, f.Literals, int | None]
"""A counter that may matter to a place: its index, what is counted, its maximum."""


class Layouts:
    """Raises UnsupportedSchema for `uniqueItems` of items that are not finitely many."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.limits = algebra.limits
        self._partitions: dict[tuple[CharDfa, ...], list[tuple[CharDfa, frozenset[CharDfa]]]] = {}

    # Objects

    def object(self, form: f.ObjectForm) -> ObjectLayout | None:
        """The layout of a form, None if it is plainly empty."""
        known: dict[str, None] = {}
        for part in form.parts:
            if part.declares:
                known.update(dict.fromkeys(part.named))
        if form.asked:
            in_clauses = {name for clause in form.clauses for name, _ in clause}
            known.update(dict.fromkeys(name for name in form.asked if name in in_clauses))
        for clause in sorted(form.clauses, key=sorted):
            known.update(dict.fromkeys(name for name, _ in sorted(clause)))
        for part in (*form.parts, *(part for count in form.counts for part in count.parts)):
            known.update(dict.fromkeys(part.named))
        values = {name: form.value(name) for name in known}
        values = {name: value for name, value in values.items() if not self.algebra.is_empty(value)}
        families = self._families(form)
        if form.keys:
            allowed = self.algebra.scalars.of(self.algebra.scalars.string, form.keys)
            values = {name: value for name, value in values.items() if strings.contains(allowed, name)}
            self._check_keys(form, known, families)
        settled, values = self._settle_counts(form, values, families)
        if settled is None:
            return None
        form = settled
        names: dict[str, Arms]
        if form.counts:
            names = {
                name: self.arms(value, self._counts([count.allowed(name) for count in form.counts], form))
                for name, value in values.items()
            }
            names = {name: arms for name, arms in names.items() if arms}
        else:
            names = {name: [(value, ())] for name, value in values.items()}
        shown: list[tuple[CharDfa, Arms]] = []
        for keys, value, inside in families:
            inner = [_inside(count.parts, inside) for count in form.counts]
            arms = self.arms(value, self._counts(inner, form))
            if not automata.is_endless(keys):
                keys = strings.minus_words(keys, frozenset(known))
            words = strings.few_words(keys)
            if words is not None:
                names.update(dict.fromkeys(words, arms))
            elif keys.edges and arms:
                shown.append((keys, arms))
        counters = tuple(Counter(count.low, count.high) for count in form.counts)
        layout = ObjectLayout(names, shown, form.clauses, form.low, form.high, counters)
        layout.known = tuple(known)
        layout.keys = form.keys if shown else f.TRUE
        layout.distinct = bool(shown) and self._needs_distinct(form)
        return layout

    def _check_keys(self, form: f.ObjectForm, known: dict[str, None], families: list[_Family]) -> None:
        """Keys that are no regular set are neither told apart nor compared."""
        if families and (known or len(families) > 1 or form.counts or form.low > 1):
            raise keys_unsupported(self.algebra, form.keys)

    def _counts(self, allowed: list[f.Literals], form: f.ObjectForm) -> list[Count]:
        """The counts that matter where a count does not count what is `allowed`."""
        return [
            (index, self.algebra.literals.negate(these), count.high)
            for index, (these, count) in enumerate(zip(allowed, form.counts, strict=True))
            if these
        ]

    def _settle_counts(
        self, form: f.ObjectForm, values: dict[str, f.Literals], families: list[_Family]
    ) -> tuple[f.ObjectForm | None, dict[str, f.Literals]]:
        """Without the counts that are only about which properties are there."""
        kept = []
        clauses = set(form.clauses)
        for count in form.counts:
            always = []
            sometimes = []
            for name, value in values.items():
                wrong = self.algebra.literals.negate(count.allowed(name))
                counted = f.both(value, wrong)
                if counted == value:
                    always.append(name)
                elif not self.algebra.is_empty(counted):
                    sometimes.append((name, counted))
            loose = any(
                not self.algebra.is_empty(
                    f.both(value, self.algebra.literals.negate(_inside(count.parts, inside)))
                )
                for _, value, inside in families
            )
            if count.low != 1 or count.high is not None or loose or len(sometimes) > (0 if always else 1):
                kept.append(count)
            elif sometimes:
                ((name, counted),) = sometimes
                values = {**values, name: counted}
                clauses.add(frozenset({(name, True)}))
            else:
                clauses.add(frozenset((name, True) for name in always))
        if len(kept) == len(form.counts):
            return form, values
        simple = f.simplified(clauses)
        if simple is None:
            return None, values
        return replace(form, clauses=simple, counts=tuple(kept)), values

    def _needs_distinct(self, form: f.ObjectForm) -> bool:
        """Whether a key that occurs twice could pass for two entries, or hide one that is needed."""
        return form.low - len(form.required()) > 1 or any(count.low for count in form.counts)

    def _families(self, form: f.ObjectForm) -> list[_Family]:
        parts = (*form.parts, *(part for count in form.counts for part in count.parts))
        patterns = dict.fromkeys(dfa for part in parts for dfa, _ in part.patterns)
        found: list[_Family] = []
        for keys, inside in self._partition(tuple(patterns)):
            value = _inside(form.parts, inside)
            if not self.algebra.is_empty(value):
                found.append((keys, value, inside))
        return found

    def _partition(self, patterns: tuple[CharDfa, ...]) -> list[tuple[CharDfa, frozenset[CharDfa]]]:
        """All strings cut into (strings, patterns that they match)."""
        found = self._partitions.get(patterns)
        if found is None:
            try:
                cut = divided(patterns, self.limits.key_states)
            except automata.TooLarge:
                raise SchemaTooLarge("the patterns of keys overlap in too many ways", "#") from None
            found = [(keys, frozenset(patterns[index] for index in inside)) for keys, inside in cut]
            self._partitions[patterns] = found
        return found

    # Arrays

    def arrays(self, form: f.ArrayForm) -> Iterator[ArrayLayout | TextsLayout]:
        """The layouts of a form: one, or for items that must repeat one for each value."""
        if form.unique is not None and (form.high is None or form.high > 1):
            texts = self._texts(form)
            if texts is None:
                yield from self._different(form)
            else:
                yield texts
        elif form.repeated is not None:
            yield from self._repeated(form)
        else:
            width, counters = self._array_frame(form)
            places = [self._place(form, index) for index in range(width)]
            yield ArrayLayout(places, self._place(form, form.width()), form.low, form.high, counters)

    def _array_frame(self, form: f.ArrayForm) -> tuple[int, tuple[Counter, ...]]:
        width = form.width()
        if form.high is not None:
            width = min(width, form.high)
        return width, tuple(Counter(count.low, count.high) for count in form.counts)

    def _place(self, form: f.ArrayForm, index: int) -> Arms:
        counts = [
            (number, count.value, count.high)
            for number, count in enumerate(form.counts)
            if index >= count.start
        ]
        return self.arms(form.value(index), counts)

    def _texts(self, form: f.ArrayForm) -> TextsLayout | None:
        """The layout of different strings, None if the items are anything else, or told apart by place."""
        value = form.value(0)
        if form.width() or form.counts or not value or self.algebra.literals.mask(value) != g.STRING:
            return None
        texts = self.algebra.scalars.of(self.algebra.scalars.string, value)
        if any(one.format is not None for one in texts):
            return None
        finite = [one for one in texts if one.words is not None]
        others = tuple(one for one in texts if one.words is None)
        words = sorted(word for one in finite for word in one.words or ())
        dfa = strings.key_automaton(others, self.limits.states)
        if dfa is None:
            path = form.unique or "#"
            raise UnsupportedSchema("uniqueItems", path, "the strings are too long to be told apart")
        few = strings.few_words(dfa)
        if few is not None:
            words, dfa = sorted({*words, *few}), automata.NONE
        elif words:
            dfa = strings.minus_words(dfa, frozenset(words))
        return TextsLayout(words, dfa, form.low, form.high)

    def _different(self, form: f.ArrayForm) -> Iterator[ArrayLayout]:
        """A counter for each value that may occur, with maximum 1."""
        assert form.unique is not None
        path = form.unique
        width, counters = self._array_frame(form)
        places = [self._place(form, index) for index in range(width)]
        rest = self._place(form, form.width())
        repeats = form.high is None or form.high > width
        if repeats and (form.high is None or form.high > width + 1):
            groups = [*places, rest, rest]
        else:
            groups = [*places, rest] if repeats else places
        wholes = [self.algebra.literals.either(value for value, _ in arms) for arms in groups]
        shared: set[int] = set()
        for a in range(len(groups)):
            for b in range(a):
                if not self.algebra.is_empty(f.both(wholes[a], wholes[b])):
                    shared |= {a, b}
        number: dict[g.Value, int] = {}

        def split(index: int, arms: Arms) -> Arms:
            if index not in shared:
                return arms
            out: Arms = []
            for value, counts in arms:
                for one in self.domain(value, path, "uniqueItems"):
                    counter = number.setdefault(one, len(counters) + len(number))
                    out.append((self.algebra.literals.constant(one), (*counts, counter)))
            return out

        try:
            split_places = [split(index, arms) for index, arms in enumerate(places)]
            split_rest = split(width, rest) if repeats else rest
        except UnsupportedSchema:
            if form.counts:
                raise
            yield ArrayLayout(places, rest, form.low, form.high, (), path)
            return
        if len(number) > self.limits.domain:
            reason = f"more than {self.limits.domain} values would have to be told apart"
            raise UnsupportedSchema("uniqueItems", form.unique, reason)
        more = (*counters, *(Counter(0, 1) for _ in number))
        yield ArrayLayout(split_places, split_rest, form.low, form.high, more)

    def _repeated(self, form: f.ArrayForm) -> Iterator[ArrayLayout]:
        """One layout for each value that may occur twice."""
        assert form.repeated is not None
        width, counters = self._array_frame(form)
        places = [self._place(form, index) for index in range(width)]
        rest = self._place(form, form.width())
        values: dict[g.Value, None] = {}
        for arms in (*places, rest):
            for value, _ in arms:
                values.update(dict.fromkeys(self.domain(value, form.repeated, "uniqueItems")))
        index = len(counters)
        for one in values:
            constant = self.algebra.literals.constant(one)

            def mark(arms: Arms, constant: f.Literals = constant) -> Arms:
                marked = [
                    (f.both(value, constant), (*counts, index))
                    for value, counts in arms
                    if not self.algebra.is_empty(f.both(value, constant))
                ]
                return [*marked, *arms]

            more = (*counters, Counter(2, None))
            yield ArrayLayout([mark(arms) for arms in places], mark(rest), form.low, form.high, more)

    # Arms

    def arms(self, value: f.Literals, counts: list[Count]) -> Arms:
        """The ways to fill a place. What a maximum counts is kept apart from the rest; what only
        minima count may be passed over, unless there are so many that they would overlap in many ways.
        """
        if self.algebra.is_empty(value):
            return []
        found: Arms = [(value, ())]
        apart = len(counts) > _FEW_COUNTS
        for index, counted, high in counts:
            split: Arms = []
            for these, before in found:
                yes = f.both(these, counted)
                if yes == these:
                    split.append((these, (*before, index)))
                    continue
                if self.algebra.is_empty(yes):
                    split.append((these, before))
                    continue
                split.append((yes, (*before, index)))
                no = (
                    f.both(these, self.algebra.literals.negate(counted))
                    if apart or high is not None
                    else these
                )
                if no == these or not self.algebra.is_empty(no):
                    split.append((no, before))
            found = split
            if len(found) > self.limits.arms:
                path = self.algebra.literals.path(counts[0][1])
                raise SchemaTooLarge(f"more than {self.limits.arms} kinds of values are told apart", path)
        return found

    # Finite sets of values

    def domain(self, these: f.Literals, path: str, keyword: str) -> list[g.Value]:
        """All values that satisfy the literals; UnsupportedSchema if they are not few."""
        found = self.values(these, 4 * self.limits.domain)
        if found is None:
            raise UnsupportedSchema(keyword, path, "the values are not finitely many, or too many")
        return found

    def values(self, these: f.Literals, limit: int) -> list[g.Value] | None:
        """All values that satisfy the literals, None if they are more than `limit` or not known."""
        if not these:
            return None
        algebra = self.algebra
        mask = algebra.literals.mask(these)
        found: dict[g.Value, None] = {}
        if mask & (g.NULL | g.BOOL):
            constants = algebra.scalars.of(algebra.scalars.constant, these)
            for one in sorted(constants, key=str):
                found[None if one is None else ("bool", one)] = None
        if mask & g.STRING:
            for part in algebra.scalars.of(algebra.scalars.string, these):
                words = strings.all_words(part, limit)
                if words is None:
                    return None
                found.update(dict.fromkeys(sorted(words)))
        if mask & g.NUMBER:
            some = numbers.values(algebra.scalars.of(algebra.scalars.number, these), limit)
            if some is None:
                return None
            found.update(dict.fromkeys(some))
        if mask & g.ARRAY:
            for array in algebra.arrays(these):
                more = self._array_values(array, limit)
                if more is None:
                    return None
                found.update(dict.fromkeys(more))
        if mask & g.OBJECT:
            for entry in algebra.objects(these):
                more = self._object_values(entry, limit)
                if more is None:
                    return None
                found.update(dict.fromkeys(more))
        return None if len(found) > limit else list(found)

    def _array_values(self, form: f.ArrayForm, limit: int) -> list[g.Value] | None:
        if form.high is None or form.high > 8 or form.counts or form.unique or form.repeated:
            return None
        found: list[g.Value] = []
        for size in range(form.low, form.high + 1):
            places = [self.values(form.value(index), limit) for index in range(size)]
            if any(place is None for place in places):
                return None
            for items in product(*(place or () for place in places)):
                found.append(("array", items))
                if len(found) > limit:
                    return None
        return found

    def _object_values(self, form: f.ObjectForm, limit: int) -> list[g.Value] | None:
        layout = self.object(form)
        if layout is None:
            return []
        if layout.families or form.counts or len(layout.names) > 8:
            return None
        choices: list[list[tuple[str, g.Value] | None]] = []
        required = form.required()
        for name, arms in layout.names.items():
            inner = self.values(arms[0][0], limit) if arms else []
            if inner is None:
                return None
            options: list[tuple[str, g.Value] | None] = [(name, value) for value in inner]
            choices.append(options if name in required else [*options, None])
        found: list[g.Value] = []
        for entries in product(*choices):
            pairs = tuple(sorted((pair for pair in entries if pair is not None), key=lambda pair: pair[0]))
            present = {name for name, _ in pairs}
            if all(any((name in present) == flag for name, flag in clause) for clause in form.clauses) and (
                form.low <= len(pairs) and (form.high is None or len(pairs) <= form.high)
            ):
                found.append(("object", pairs))
            if len(found) > limit:
                return None
        return found


def keys_unsupported(algebra: Algebra, keys: f.Literals) -> UnsupportedSchema:
    """The refusal of names by a format that is a grammar beside what tells keys apart."""
    reason = "its names are no regular set, so no other keyword may tell keys apart, count or compare them"
    return UnsupportedSchema("propertyNames", algebra.literals.path(keys), reason)


def _inside(parts: tuple[f.Entries, ...], patterns: frozenset[CharDfa]) -> f.Literals:
    """What the values must be under keys that match these patterns and no others, and have no name."""
    value = f.TRUE
    for part in parts:
        matching = [these for dfa, these in part.patterns if dfa in patterns]
        for these in matching or (part.other,):
            value = f.both(value, these)
    return value


_FEW_COUNTS = 2
"""Counts whose items may overlap; with more, what counts is told apart from what does not."""
