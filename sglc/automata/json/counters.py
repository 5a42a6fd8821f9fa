"""Vectors of counters, clamped to what decides whether all of them can be satisfied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sglc.automata.term import Arm, Counter, Term

Vector = tuple[int, ...]
"""One number for each counter that decides anything."""


class TooComplex(ValueError):
    """A search for a way to complete an array or object would pass its limit of steps."""


MOST_STEPS = 100_000
"""Steps of one search."""


class Counts:
    """The arithmetic of some counters. A counter without maximum stops counting at its minimum."""

    def __init__(self, counters: Sequence[Counter]) -> None:
        self.kept = [index for index, c in enumerate(counters) if c.minimum > 0 or c.maximum is not None]
        self.least = tuple(max(counters[index].minimum, 0) for index in self.kept)
        self.most = tuple(counters[index].maximum for index in self.kept)
        self.zero: Vector = (0,) * len(self.kept)
        self.possible = all(b is None or a <= b for a, b in zip(self.least, self.most, strict=True))

    def vector(self, counts: Iterable[int]) -> Vector:
        """How much an arm with these counters (by index, perhaps repeated) adds."""
        counts = tuple(counts)
        return tuple([counts.count(index) for index in self.kept])

    def by_vector(self, arms: Iterable[Arm]) -> dict[Vector, list[Term]]:
        """The terms of arms, by what they add."""
        found: dict[Vector, list[Term]] = {}
        for arm in arms:
            found.setdefault(self.vector(arm.counts), []).append(arm.term)
        return found

    def add(self, done: Vector, more: Vector) -> Vector | None:
        """The sum, or None where it passes a maximum."""
        if not done:
            return done
        out = []
        for a, b, least, most in zip(done, more, self.least, self.most, strict=True):
            a += b
            if most is None:
                a = min(a, least)
            elif a > most:
                return None
            out.append(a)
        return tuple(out)

    def met(self, done: Vector) -> bool:
        """Whether all minima are reached."""
        for a, least in zip(done, self.least, strict=True):
            if a < least:
                return False
        return True

    def gain(self, done: Vector, more: Vector) -> int:
        """How much nearer to the minima an addition leads."""
        return sum([min(b, max(least - a, 0)) for a, b, least in zip(done, more, self.least, strict=True)])


NO_COUNTS = Counts(())
