"""Divisibility of a decimal digit string, as a minimal automaton that reads it from the left.

Two digit strings are the same to a divisor n when the same suffixes complete both to a multiple of n. For
each length k there is at most one suffix below n that does, so the list of these suffixes up to the length
of n tells the classes apart (Myhill-Nerode): 10**6 has 7 classes, though a million remainders.
"""

from __future__ import annotations

from dataclasses import dataclass

from sglc.automata import work
from sglc.automata.caches import small_cache
from sglc.automata.dfa.numbering import Numbering

MAX_CLASSES = 5_000
"""Most classes that a divisor may have; the automaton of a prime p has p of them."""


class NumberError(ValueError):
    """A set of numbers that no automaton is made for."""


@dataclass(frozen=True, slots=True)
class Divisor:
    """Classes of digit strings; class 0 is that of the empty string, and of all multiples that it equals."""

    number: int
    following: tuple[tuple[int, ...], ...]
    """Class and digit to class."""
    zeros: tuple[int | None, ...]
    """How many zeros, at least, make a multiple of a string of the class; None if no number of zeros does."""


@small_cache(256)
def divisor(number: int) -> Divisor:
    """Raises NumberError where there are more than MAX_CLASSES classes."""
    longest = len(str(number))
    powers = [10**size for size in range(longest + 1)]

    def kind(remainder: int) -> tuple[int, ...]:
        suffixes = (-remainder * power % number for power in powers)
        return tuple(suffix if suffix < power else -1 for suffix, power in zip(suffixes, powers, strict=True))

    beyond = NumberError(f"multiples of {number} need more than {MAX_CLASSES} states")
    numbers = Numbering(kind(0), limit=MAX_CLASSES, beyond=beyond)
    members = [0]
    """A remainder of each class."""
    following: list[tuple[int, ...]] = []
    for remainder in members:
        row = []
        work.spend(20 + 2 * len(powers))
        for digit in range(10):
            target = (remainder * 10 + digit) % number
            row.append(numbers[kind(target)])
            if len(numbers) > len(members):
                members.append(target)
        following.append(tuple(row))
    return Divisor(number, tuple(following), tuple(_zeros(member, number) for member in members))


def _zeros(remainder: int, number: int) -> int | None:
    # A number has at most as many factors 2 (or 5) as binary digits; more zeros than that cannot help.
    for count in range(number.bit_length() + 1):
        if remainder % number == 0:
            return count
        remainder = remainder * 10 % number
    return None
