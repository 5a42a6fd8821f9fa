"""The states between the entries of an `Object` term, with exact lookahead.

A state holds what decides about the entries to come: the properties seen (in declared order: the last one,
and the clauses that hold already), and the numbers of entries, counters and keys as far as they matter. A
state offers only the labels (properties and families) and options after which the object can be completed.

Whether it can is a satisfiability problem: clauses over presence, bounds on the number of entries and
counters. Unit propagation decides the usual cases. The rest is searched (`unit_propagation.solutions`), with
counts by dynamic programming. Work is limited. Of interchangeable labels only one is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sglc.automata import work
from sglc.automata.caches import small_cache
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.json.counters import MOST_STEPS, NO_COUNTS, Counts, TooComplex, Vector
from sglc.automata.json.unit_propagation import Clauses, Residue, TooManySteps, bit_set, propagate, solutions
from sglc.automata.term import Counter

Outcome = tuple[tuple[int, bool, bool], ...]
"""What a label leads to: (option, whether the object may end behind it, whether it may go on), one each."""
Profile = tuple[tuple[Outcome, int], ...]
"""The labels that may come next, as bit sets by what they lead to."""

_MOST_COUNTED = 200
"""Solutions of the clauses whose counts are looked at."""

_State = tuple[int, int, int, Vector, tuple[int, ...]]
"""(seen or position, clauses that hold in declared order, entries, counters, keys taken of each family)."""


@dataclass(frozen=True, slots=True)
class Label:
    """A property or a family: its options as vectors of counters; `capacity` is how many keys it has."""

    options: tuple[Vector, ...]
    capacity: int | None = 1


@small_cache(4096)
def label_of(options: tuple[Vector, ...], capacity: int | None = 1) -> Label:
    """A label; mostly it has been made before."""
    return Label(options, capacity)


def _same(labels: Sequence[Label]) -> list[Sequence[int]]:
    """The numbers of labels that are the same object, in order; mostly all are."""
    if len(set(map(id, labels))) == 1:
        return [range(len(labels))]
    found: dict[int, list[int]] = {}
    for number, label in enumerate(labels):
        found.setdefault(id(label), []).append(number)
    return list(found.values())


def _is_usable(label: Label) -> bool:
    return bool(label.options) and label.capacity != 0


class ObjectStates:
    """States are numbers, 0 the beginning; labels are numbers too, properties first, then families."""

    def __init__(
        self,
        labels: Sequence[Label],
        properties: int,
        clauses: Iterable[Iterable[tuple[int, bool]]],
        counters: Sequence[Counter],
        minimum: int,
        maximum: int | None,
        declared: bool,
        error: type[Exception] = TooComplex,
    ) -> None:
        self.labels = labels
        self.properties = properties
        self.counts = Counts(counters) if counters else NO_COUNTS
        self.declared = declared
        self.error = error
        same = _same(labels[:properties])
        self.usable = 0
        for some in same:
            if _is_usable(labels[some[0]]):
                self.usable |= bit_set(some)
        self.families = tuple([n for n in range(properties, len(labels)) if _is_usable(labels[n])])
        self._limited = tuple([label for label in self.families if labels[label].capacity is not None])
        self._taken = {label: place for place, label in enumerate(self._limited)}
        self._unlimited = len(self._limited) < len(self.families)
        room = self.usable.bit_count() + sum(labels[label].capacity or 0 for label in self._limited)
        if maximum is not None and not self._unlimited and maximum >= room:
            maximum = None
        self.minimum = max(minimum, 0)
        self.maximum = maximum
        self._possible = self.counts.possible and (maximum is None or self.minimum <= maximum)
        self._required = 0
        self._forbidden = 0
        self._clauses: Clauses = ()
        self._set_clauses(clauses)
        by_options: dict[tuple[Vector, ...], int] = {}
        for some in same:
            label = labels[some[0]]
            if _is_usable(label):
                by_options[label.options] = by_options.get(label.options, 0) | bit_set(some)
        self._alike = tuple(by_options.values())
        begin: _State = (0, 0, 0, self.counts.zero, (0,) * len(self._limited))
        self._numbers = Numbering(begin)
        self.values = self._numbers.order
        self._residues: dict[int, Residue | None] = {}
        self._feasible: dict[int, bool] = {}
        self._ends: dict[int, bool] = {}
        self._goes: dict[int, bool] = {}
        self._advanced: dict[tuple[int, int, int], int] = {}
        self._profiles: dict[int, Profile] = {}

    def _set_clauses(self, clauses: Iterable[Iterable[tuple[int, bool]]]) -> None:
        kept: dict[tuple[int, int], None] = {}
        for clause in clauses:
            positive = negative = 0
            for index, present in clause:
                if present:
                    positive |= 1 << index
                else:
                    negative |= 1 << index
            if positive & negative or negative & ~self.usable:
                continue
            positive &= self.usable
            both = positive | negative
            if not both:
                self._possible = False
            elif both & (both - 1):
                kept[positive, negative] = None
            else:
                self._required |= positive
                self._forbidden |= negative
        if self._required & self._forbidden:
            self._possible = False
        self._clauses = tuple(kept)

    # States

    def advance(self, state: int, label: int, option: int) -> int:
        """The state behind an entry, or -1 if it breaks something already; perhaps it cannot be completed."""
        key = (state, label, option)
        found = self._advanced.get(key)
        if found is None:
            found = self._advanced[key] = self._advance(state, label, option)
        return found

    def _advance(self, state: int, label: int, option: int) -> int:
        seen, held, entries, counts, taken = self.values[state]
        if self.maximum is not None:
            if entries >= self.maximum:
                return -1
            entries += 1
        else:
            entries = min(entries + 1, self.minimum)
        sum_of = self.counts.add(counts, self.labels[label].options[option])
        if sum_of is None:
            return -1
        if label >= self.properties:
            place = self._taken.get(label)
            if place is not None:
                if taken[place] >= (self.labels[label].capacity or 0):
                    return -1
                taken = (*taken[:place], taken[place] + 1, *taken[place + 1 :])
            if self.declared:
                seen, held = self._pass(seen, held, self.properties, 0)
        else:
            bit = 1 << label
            if bit & self._forbidden:
                return -1
            if self.declared:
                if label < seen:
                    return -1
                seen, held = self._pass(seen, held, label, bit)
            elif seen & bit:
                return -1
            else:
                seen |= bit
        return -1 if seen < 0 else self._numbers[seen, held, entries, sum_of, taken]

    def _pass(self, position: int, held: int, label: int, bit: int) -> tuple[int, int]:
        """In declared order: the properties before `label` are left out and it is there (`bit`, if not 0)."""
        absent = (1 << label) - (1 << position)
        if absent & self._required:
            return -1, 0
        decided = (1 << label) - 1 | bit
        for index, (positive, negative) in enumerate(self._clauses):
            if not held >> index & 1:
                if positive & bit or negative & absent:
                    held |= 1 << index
                elif not (positive | negative) & ~decided:
                    return -1, 0
        return label + (1 if bit else 0), held

    def may_end(self, state: int) -> bool:
        """Whether the object may end here: nothing that is required is missing."""
        found = self._ends.get(state)
        if found is None:
            found = self._ends[state] = self._may_end(state)
        return found

    def _may_end(self, state: int) -> bool:
        seen, held, entries, counts, _ = self.values[state]
        if not self._possible or entries < self.minimum or not self.counts.met(counts):
            return False
        if self.declared:
            absent = (1 << self.properties) - (1 << seen)
            return not absent & self._required and all(
                held >> index & 1 or negative & absent for index, (_, negative) in enumerate(self._clauses)
            )
        return not self._required & ~seen and all(
            positive & seen or negative & ~seen for positive, negative in self._clauses
        )

    # Completion

    def residue(self, state: int) -> Residue | None:
        """What is still open in a state after unit propagation; None where the clauses contradict it."""
        if state not in self._residues:
            self._residues[state] = self._find_residue(state)
        return self._residues[state]

    def _find_residue(self, state: int) -> Residue | None:
        if not self._possible:
            return None
        seen, held, _, _, _ = self.values[state]
        free = self.usable & ~self._forbidden
        if self.declared:
            free &= -1 << seen
            must = self._required & -1 << seen
        else:
            free &= ~seen
            must = self._required & ~seen
        if must & ~free:
            return None
        clauses = []
        for index, (positive, negative) in enumerate(self._clauses):
            if self.declared:
                if held >> index & 1:
                    continue
                negative &= -1 << seen
            else:
                if positive & seen:
                    continue
                negative &= ~seen
            # What is not free any more will be absent.
            if not negative & ~free:
                clauses.append((positive & free, negative))
        return propagate(free & ~must, must, tuple(clauses))

    def feasible(self, state: int) -> bool:
        """Whether an object in this state can be completed."""
        found = self._feasible.get(state)
        if found is None:
            found = self._feasible[state] = self._is_feasible(state)
        return found

    def _is_feasible(self, state: int) -> bool:
        residue = self.residue(state)
        if residue is None:
            return False
        if not self.counts.zero and self._guess(state, residue):
            return True
        for number, (free, must, _) in enumerate(self.models(state, residue)):
            if not self.counts.zero or self._reaches(state, free, must):
                return True
            if number > _MOST_COUNTED:
                raise self.error("the clauses and counts of an object are too complex")
        return False

    def _guess(self, state: int, residue: Residue) -> bool:
        """Whether a simple attempt completes an object without counters: add what a broken clause asks for.

        For clauses like "this one needs that one" the attempt is the least solution.
        """
        free, must, clauses = residue
        entries, room = self.values[state][2], self.room(state)
        involved = 0
        added = 0
        for _ in range(len(clauses) + 1):
            broken = False
            for positive, negative in clauses:
                involved |= positive | negative
                if not positive & added and not negative & ~added:
                    if not positive:
                        return False
                    added |= positive & -positive
                    broken = True
            if not broken:
                break
        else:
            return False
        number = must.bit_count() + added.bit_count()
        if self.maximum is not None and entries + number > self.maximum:
            return False
        missing = self.minimum - entries - number
        return missing <= 0 or room is None or (free & ~involved).bit_count() + room >= missing

    def room(self, state: int) -> int | None:
        """How many keys of families are left, None without limit."""
        if self._unlimited:
            return None
        taken = self.values[state][4]
        return sum((self.labels[f].capacity or 0) - n for f, n in zip(self._limited, taken, strict=True))

    def models(
        self, state: int, residue: Residue, wanted: Callable[[int], bool] = lambda must: True
    ) -> Iterator[Residue]:
        """Sets of solutions of the clauses that leave room for a right number of entries (`solutions`).

        Only those are looked at of which what must be there is `wanted`.
        """
        entries = self.values[state][2]
        most = None if self.maximum is None else self.maximum - entries
        room = self.room(state)
        least = None if room is None else max(self.minimum - entries, 0) - room

        def fits(free: int, must: int) -> bool:
            if most is not None and must.bit_count() > most:
                return False
            if least is not None and (free | must).bit_count() < least:
                return False
            return wanted(must)

        try:
            yield from solutions(residue, fits, MOST_STEPS)
        except TooManySteps:
            raise self.error("the clauses of an object are too complex") from None

    def _reaches(self, state: int, free: int, must: int) -> bool:
        """Whether options of these properties and families can meet counters and numbers."""
        _, _, entries, counts, taken = self.values[state]
        reached: set[tuple[int, Vector]] = {(entries, counts)}
        steps = 0
        for alike in self._alike:
            some = must & alike
            options = self.labels[(alike & -alike).bit_length() - 1].options
            for _ in range(some.bit_count()):
                reached = {new for at in reached for o in options if (new := self.plus(at, o)) is not None}
                steps += len(reached)
            for _ in range((free & alike).bit_count()):
                longer = reached | {
                    new for at in reached for o in options if (new := self.plus(at, o)) is not None
                }
                steps += len(longer)
                if len(longer) == len(reached):
                    break
                reached = longer
            work.spend(len(reached))
            if steps > MOST_STEPS:
                raise self.error("the counts of an object are too complex")
        for label in self.families:
            left = self.labels[label].capacity
            if left is not None:
                left -= taken[self._taken[label]]
            fresh = reached
            while fresh and (left is None or left > 0):
                fresh = {
                    new
                    for at in fresh
                    for o in self.labels[label].options
                    if (new := self.plus(at, o)) is not None and new not in reached
                }
                reached = reached | fresh
                steps += len(fresh) + 1
                work.spend(len(fresh) + 1)
                left = None if left is None else left - 1
                if steps > MOST_STEPS:
                    raise self.error("the counts of an object are too complex")
        return any(entries >= self.minimum and self.counts.met(counts) for entries, counts in reached)

    def plus(self, at: tuple[int, Vector], option: Vector) -> tuple[int, Vector] | None:
        """The number of entries and the counters after one more entry; None above a maximum."""
        entries, counts = at
        if self.maximum is None:
            entries = min(entries + 1, self.minimum)
        elif entries < self.maximum:
            entries += 1
        else:
            return None
        sum_of = self.counts.add(counts, option)
        return None if sum_of is None else (entries, sum_of)

    # What may come next

    def profile(self, state: int) -> Profile:
        """All labels that may come next, with what they lead to."""
        found = self._profiles.get(state)
        if found is None:
            by_outcome: dict[Outcome, int] = {}
            for outcome, bits in self._outcomes(state):
                if outcome:
                    by_outcome[outcome] = by_outcome.get(outcome, 0) | bits
            found = self._profiles[state] = tuple(by_outcome.items())
        return found

    def goes_on(self, state: int) -> bool:
        """Whether another entry may follow."""
        found = self._goes.get(state)
        if found is None:
            found = self._goes[state] = any(
                (after := self.advance(state, label, option)) >= 0 and self.feasible(after)
                for bits in self._classes(state)
                for label in ((bits & -bits).bit_length() - 1,)
                for option in range(len(self.labels[label].options))
            )
        return found

    def _outcomes(self, state: int) -> Iterator[tuple[Outcome, int]]:
        residue = self.residue(state)
        if residue is not None and self.declared and not self.counts.zero and not residue[2]:
            yield from self._in_order(state, residue[0], residue[1])
            if not residue[1]:
                for label in self.families:
                    yield self._outcome(state, label), 1 << label
            return
        for bits in self._classes(state):
            yield self._outcome(state, (bits & -bits).bit_length() - 1), bits

    def _outcome(self, state: int, label: int) -> Outcome:
        out = []
        for option in range(len(self.labels[label].options)):
            after = self.advance(state, label, option)
            if after >= 0 and self.feasible(after):
                out.append((option, self.may_end(after), self.goes_on(after)))
        return tuple(out)

    def _classes(self, state: int) -> Iterator[int]:
        """Bit sets of labels that may come next if any of their set may; they lead to the same."""
        residue = self.residue(state)
        if residue is None:
            return
        free, must, clauses = residue
        if self.declared:
            rest = free | must
            if must:
                first = must & -must
                rest &= (first << 1) - 1
            while rest:
                bit = rest & -rest
                yield bit
                rest ^= bit
            if must:
                return
        else:
            involved = 0
            for positive, negative in clauses:
                involved |= positive | negative
            for alike in self._alike:
                if must & alike:
                    yield must & alike
                if free & alike & ~involved:
                    yield free & alike & ~involved
            rest = free & involved
            while rest:
                bit = rest & -rest
                yield bit
                rest ^= bit
        for label in self.families:
            yield 1 << label

    def _in_order(self, state: int, free: int, must: int) -> Iterator[tuple[Outcome, int]]:
        """The properties that may come next in declared order without counters or open clauses, at once."""
        entries = self.values[state][2]
        most = None if self.maximum is None else self.maximum - entries
        number = must.bit_count()
        if (most is not None and number > most) or most == 0:
            return
        every = free | must
        first = must & -must
        able = every & ((first << 1) - 1) if must else every
        if most is not None and number == most:
            able &= must
        room = self.room(state)
        if room is not None:
            # Behind it there must be enough for the minimum.
            for _ in range(max(self.minimum - entries, 0) - 1 - room):
                every &= ~(1 << every.bit_length() >> 1)
            able &= every
            every = free | must
        ending = able if not number else able & must if number == 1 else 0
        if entries + 1 < self.minimum:
            ending = 0
        going = able
        if most == 1:
            going = 0
        elif room == 0:
            going &= ~(1 << every.bit_length() >> 1)
        for end, go, bits in (
            (True, True, ending & going),
            (True, False, ending & ~going),
            (False, True, able & ~ending & going),
        ):
            if bits:
                yield ((0, end, go),), bits
