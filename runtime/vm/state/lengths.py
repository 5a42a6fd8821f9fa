"""How long the texts of a hole can be, and which length a random one gets."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sglc.automata.analysis.emptiness import few_words
from sglc.automata.analysis.most_bytes import most_bytes
from sglc.automata.term import Language

LONGEST = 63
"""Bytes of the longest values that are drawn where there is no longest one: a line of text. Where
the least text is longer than half of that, up to twice its length is drawn."""
FEW = 256
"""Most texts of a hole that are drawn from as a list."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the texts of a language can be: all of them where they are few, and the most bytes (None where
    there is no bound)."""

    words: tuple[bytes, ...] | None = None
    most: int | None = None

    @classmethod
    def of(cls, language: Language) -> Lengths:
        """The lengths of a language's texts."""
        return cls(few_words(language, FEW), most_bytes(language))


def length_class(size: int) -> int:
    """The class of a length in bytes: 0, 1, 2 to 3, 4 to 7, 8 to 15, and so on."""
    return size.bit_length()


def aimed_length(least: int, most: int | None, random: Random, longest: int = LONGEST) -> int:
    """A random length between two: each class is as likely as any other, and each length within a class."""
    ceiling = max(longest, 2 * least)
    most = max(least, ceiling if most is None else min(most, ceiling))
    chosen = random.randint(length_class(least), length_class(most))
    low, high = (1 << chosen) >> 1, (1 << chosen) - 1
    return random.randint(max(low, least), min(high, most))
