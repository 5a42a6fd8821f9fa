"""The next items of an array and the next entries of an object, for membership and walks."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.automata.dfa.operations import accepts
from sglc.automata.json.array_states import ArrayStates
from sglc.automata.json.counters import Counts
from sglc.automata.json.object_states import Label, ObjectStates
from sglc.automata.term import Array, Choice, Family, Object, Property, Term


class ItemChoices:
    """The items of an array, by its states (0 the beginning)."""

    def __init__(self, term: Array) -> None:
        counts = Counts(term.counters)
        self.terms: list[list[Term]] = []
        places = []
        for arms in (*term.places, term.rest):
            by_vector = counts.by_vector(arms)
            places.append(list(by_vector))
            self.terms.append([_one_of(terms) for terms in by_vector.values()])
        self.states = ArrayStates(places[:-1], places[-1], term.minimum, term.maximum, term.counters)

    def size(self) -> int:
        """States that are kept."""
        return 0

    def may_end(self, state: int) -> bool:
        """Whether the array may end in a state."""
        return self.states.feasible(state) and self.states.may_end(state)

    def options(self, state: int) -> Iterator[tuple[Term, int]]:
        """(what the next item may be, state behind it)."""
        if not self.states.feasible(state):
            return
        terms = self.terms[self.states.place(state)]
        for option, after in self.states.options(state):
            yield terms[option], after


class KeyChoices:
    """The entries of an object, by its states (0 the beginning)."""

    def __init__(self, term: Object) -> None:
        counts = Counts(term.counters)
        parts: list[Property | Family] = [*term.properties, *term.families]
        self.first_family = len(term.properties)
        labels = []
        self.terms: list[list[Term]] = []
        for index, part in enumerate(parts):
            by_vector = counts.by_vector(part.arms)
            labels.append(Label(tuple(by_vector), 1 if index < self.first_family else None))
            self.terms.append([_one_of(terms) for terms in by_vector.values()])
        self.states = ObjectStates(
            labels,
            self.first_family,
            term.clauses,
            term.counters,
            term.minimum,
            term.maximum,
            term.order == "declared",
        )
        self.numbers = {property.name: index for index, property in enumerate(term.properties)}
        self.families = [family.keys for family in term.families]
        self.distinct = term.distinct
        self.encoding = term.encoding

    def size(self) -> int:
        """States that are kept."""
        return len(self.states.values)

    def may_end(self, state: int) -> bool:
        """Whether the object may end in a state."""
        return self.states.may_end(state)

    def options(self, state: int, key: str, again: bool) -> Iterator[tuple[Term, int]]:
        """(what the value of a key may be, state behind it); `again` where the object has the key already."""
        label = self.numbers.get(key)
        if label is None:
            if again and self.distinct:
                return
            found = [index for index, keys in enumerate(self.families) if accepts(keys, key)]
            if not found:
                return
            label = self.first_family + found[0]
        for option, term in enumerate(self.terms[label]):
            after = self.states.advance(state, label, option)
            if after >= 0:
                yield term, after


def _one_of(terms: list[Term]) -> Term:
    return terms[0] if len(terms) == 1 else Choice(tuple(terms))
