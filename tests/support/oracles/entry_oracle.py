"""What arrays and objects mean, as processes: states, and steps that read one item or entry each.

States keep everything that was read and matters: nothing is clever here. Whether a state can still end is
found by trying all steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from sglc.automata.dfa import operations as dfa
from sglc.automata.term import Arm, Array, Bytes, Counter, Object, Term, Text


@dataclass(frozen=True)
class Step:
    """`before`, then `key`, then `after`; the key as it was read decides about the state behind."""

    before: tuple[Term, ...]
    key: Term
    after: tuple[Term, ...]
    following: Callable[[str], Hashable]


NO_KEY = Bytes(b"")


def process_of(term: Array | Object) -> Process:
    return ArrayProcess(term) if isinstance(term, Array) else ObjectProcess(term)


class Process(ABC):
    """States from `start`, and the steps from each, which are the same objects each time."""

    start: Hashable

    def __init__(self) -> None:
        self._steps: dict[Hashable, list[Step]] = {}

    def steps(self, state: Hashable) -> list[Step]:
        if state not in self._steps:
            self._steps[state] = list(self.steps_from(state))
        return self._steps[state]

    @abstractmethod
    def steps_from(self, state: Any) -> Iterator[Step]: ...

    @abstractmethod
    def done(self, state: Any) -> bool:
        """Whether a word may end in the state."""

    @abstractmethod
    def enough(self, count: int) -> int:
        """Steps behind which there are enough words, if there are: others can only be left out."""


def _counted(counters: tuple[Counter, ...], done: tuple[int, ...], arm: Arm) -> tuple[int, ...] | None:
    """The counters behind an arm; None where one passes its maximum. Beyond a minimum is as good as at it."""
    out = list(done)
    for index in arm.counts:
        out[index] += 1
    for index, counter in enumerate(counters):
        if counter.maximum is None:
            out[index] = min(out[index], max(counter.minimum, 0))
        elif out[index] > counter.maximum:
            return None
    return tuple(out)


def _met(counters: tuple[Counter, ...], done: tuple[int, ...]) -> bool:
    return all(
        count >= counter.minimum and (counter.maximum is None or count <= counter.maximum)
        for counter, count in zip(counters, done, strict=True)
    )


class ArrayProcess(Process):
    """State: items (no more than matter) and counters."""

    def __init__(self, term: Array) -> None:
        super().__init__()
        self.term = term
        self.start = (0, (0,) * len(term.counters))

    def done(self, state: tuple[int, tuple[int, ...]]) -> bool:
        term, (items, done) = self.term, state
        fits = items >= term.minimum and (term.maximum is None or items <= term.maximum)
        return fits and _met(term.counters, done)

    def steps_from(self, state: tuple[int, tuple[int, ...]]) -> Iterator[Step]:
        term, (items, done) = self.term, state
        if term.maximum is not None and items >= term.maximum:
            return
        for arm in term.places[items] if items < len(term.places) else term.rest:
            after = _counted(term.counters, done, arm)
            if after is not None:
                number = items + 1
                if term.maximum is None:
                    number = min(number, max(len(term.places), term.minimum, 1))
                reached = (number, after)
                yield Step((term.comma,) if items else (), NO_KEY, (arm.term,), lambda _, r=reached: r)

    def enough(self, count: int) -> int:
        """Steps behind which there are enough words, if there are: others can only be left out."""
        term = self.term
        return len(term.places) + max(term.minimum, 0) + sum(max(c.minimum, 0) for c in term.counters) + count


class ObjectProcess(Process):
    """State: properties seen, entries of families, their keys where they must differ, counters."""

    def __init__(self, term: Object) -> None:
        super().__init__()
        self.term = term
        self.start = (frozenset(), 0, frozenset(), (0,) * len(term.counters))

    def done(self, state: tuple) -> bool:
        term, (seen, others, _, done) = self.term, state
        entries = len(seen) + others
        if entries < term.minimum or (term.maximum is not None and entries > term.maximum):
            return False
        clauses = all(any((index in seen) == there for index, there in clause) for clause in term.clauses)
        return clauses and _met(term.counters, done)

    def steps_from(self, state: tuple) -> Iterator[Step]:
        term, (seen, others, used, done) = self.term, state
        entries = len(seen) + others
        if term.maximum is not None and entries >= term.maximum:
            return
        before = (term.comma, Bytes(b'"')) if entries else (Bytes(b'"'),)
        for index, known in enumerate(term.properties):
            late = term.order == "declared" and (others or any(other > index for other in seen))
            if index in seen or late:
                continue
            for arm in known.arms:
                after = _counted(term.counters, done, arm)
                if after is not None:
                    reached = (seen | {index}, others, used, after)
                    name = Text(dfa.literal(known.name), term.encoding)
                    rest = (Bytes(b'"'), term.colon, arm.term)
                    yield Step(before, name, rest, lambda _, r=reached: r)
        for family in term.families:
            keys = dfa.difference(family.keys, dfa.words([*used, *(known.name for known in term.properties)]))
            number = others + 1
            if term.maximum is None:
                number = min(number, max(term.minimum, 1))
            for arm in family.arms:
                after = _counted(term.counters, done, arm)
                if after is not None:

                    def following(key: str, n: int = number, a: tuple[int, ...] = after) -> Hashable:
                        return seen, n, used | {key} if term.distinct else used, a

                    yield Step(
                        before, Text(keys, term.encoding), (Bytes(b'"'), term.colon, arm.term), following
                    )

    def enough(self, count: int) -> int:
        term = self.term
        needed = max(term.minimum, 0) + sum(max(c.minimum, 0) for c in term.counters)
        return len(term.properties) + needed + count
