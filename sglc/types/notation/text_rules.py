"""What a `str` or `float` asks of its values, in words that other notations have."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sglc.automata.charset import ALL, PRINTABLE
from sglc.automata.dfa.operations import accepts, all_words
from sglc.automata.number.decimal import whole_digits
from sglc.automata.regex.portable import literal_regex, looks, looks_back_freely, portable_regex
from sglc.types.type import Float, Str

LINE = r"[^\u0000-\u001f\u007f-\u009f]*"
"""The whole of a text without control characters."""


@dataclass(frozen=True, slots=True)
class TextRules:
    """`whole`: each matches the whole text. `banned`: none is found anywhere in it. Lengths in code points.

    `looks`: some of `whole` have look-arounds; `looks_back_freely`: such that Python cannot read.
    """

    min_chars: int
    max_chars: int | None
    whole: tuple[str, ...]
    banned: tuple[str, ...]
    looks: bool = False
    looks_back_freely: bool = False


def text_rules(type: Str) -> TextRules:
    """The rules of a text without a grammar; together they say exactly its values."""
    everything = all_words(PRINTABLE if type.layout == "line" else ALL)
    stops = [stop for stop in type.until if accepts(everything, stop)]
    contained = dict.fromkeys(text for text in (*stops, *type.excludes) if accepts(everything, text))
    # A text ends in no beginning of a stop that the stop behind it would complete too early.
    endings = dict.fromkeys(
        other[:size]
        for other in stops
        for size in range(1, len(other))
        if any(stop.startswith(other[size:]) for stop in stops)
    )
    line = [LINE] if type.layout == "line" else []
    return TextRules(
        type.min_chars,
        type.max_chars,
        (*line, *(portable_regex(pattern) for pattern in type.patterns)),
        (*map(literal_regex, contained), *(f"{literal_regex(ending)}$" for ending in endings)),
        any(map(looks, type.patterns)),
        any(map(looks_back_freely, type.patterns)),
    )


def float_bounds(type: Float) -> tuple[Decimal | None, Decimal | None]:
    """The bounds of a float: where it has one, the other is the largest number that a hole writes."""
    low, high = type.minimum, type.maximum
    if low is None and high is None:
        return None, None
    widest = Decimal(float(10 ** whole_digits(low, high) - 1))
    return -widest if low is None else low, widest if high is None else high
