"""Clauses over presence: unit propagation, and all solutions as few sets.

A clause is a pair of bit sets: one of the first is there, or one of the second is not. Solutions are searched
by splitting on the literals of a shortest clause (Davis, Logemann and Loveland 1962).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sglc.automata import work

Clauses = tuple[tuple[int, int], ...]
Residue = tuple[int, int, Clauses]
"""(what may be there or not, what must be there, clauses about the former)."""


class TooManySteps(Exception):
    """A search passes its limit."""


def bits_of(bits: int) -> Iterator[int]:
    """The elements of a bit set, ascending."""
    while bits:
        bit = bits & -bits
        yield bit.bit_length() - 1
        bits ^= bit


def bit_set(numbers: Sequence[int]) -> int:
    """A set of numbers in order as bits."""
    if not numbers:
        return 0
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return (1 << len(numbers)) - 1 << numbers[0]
    marks = bytearray(b"0") * (numbers[-1] + 1)
    for number in numbers:
        marks[-1 - number] = 0x31
    return int(marks, 2)


def without(clauses: Clauses, present: int, absent: int) -> Clauses:
    """The clauses when some are there and others are not; an empty one is a contradiction."""
    return tuple(
        [
            (positive & ~absent, negative & ~present)
            for positive, negative in clauses
            if not positive & present and not negative & absent
        ]
    )


def propagate(free: int, must: int, clauses: Clauses) -> Residue | None:
    """Unit propagation: what a clause leaves no choice about is decided; None if clauses contradict.

    What is decided counts for the next clause at once, and every second look goes the other way round, so
    that a chain of implications is followed in one or two.
    """
    present, absent = must, 0
    rest: Sequence[tuple[int, int]] = clauses
    backwards = False
    while True:
        work.spend(1 + len(rest) // 2)
        kept: list[tuple[int, int]] = []
        decided = False
        for positive, negative in rest:
            if positive & present or negative & absent:
                continue
            positive &= ~absent
            negative &= ~present
            both = positive | negative
            if not both:
                return None
            if both & (both - 1):
                kept.append((positive, negative))
            else:
                present |= positive
                absent |= negative
                decided = True
        if not decided:
            break
        kept.reverse()
        backwards = not backwards
        rest = kept
    if backwards:
        kept.reverse()
    return free & ~(present & ~must | absent), present, tuple(kept)


def solutions(residue: Residue, fits: Callable[[int, int], bool], most_steps: int) -> Iterator[Residue]:
    """Disjoint sets of solutions: (what may be there or not, what is there, no clauses); others are absent.

    Only parts of the search that fit are looked at: `fits(free, must)`. Raises TooManySteps.
    """
    stack = [residue]
    steps = 0
    while stack:
        free, must, clauses = here = stack.pop()
        steps += 1 + len(clauses)
        work.spend(1 + len(clauses))
        if steps > most_steps:
            raise TooManySteps
        if not fits(free, must):
            continue
        if not clauses:
            yield here
            continue
        positive, negative = min(clauses, key=lambda c: (c[0] | c[1]).bit_count())
        branches = []
        # A literal holds, and those before it do not.
        while negative or positive:
            if negative:
                bit = negative & -negative
                negative ^= bit
                holds = propagate(free & ~bit, must, without(clauses, 0, bit))
                clauses = without(clauses, bit, 0)
                must |= bit
            else:
                bit = positive & -positive
                positive ^= bit
                holds = propagate(free & ~bit, must | bit, without(clauses, bit, 0))
                clauses = without(clauses, 0, bit)
            if holds is not None:
                branches.append(holds)
            free &= ~bit
        stack += reversed(branches)
