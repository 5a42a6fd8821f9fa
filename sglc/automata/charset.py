"""Sets of Unicode code points as sorted tuples of inclusive ranges, surrogates always left out.

`atoms` cuts the code points into the coarsest blocks on which a family of sets agrees; automata work on
block numbers instead of code points and so never walk a large range.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache

from sglc.automata.caches import small_cache

Ranges = tuple[tuple[int, int], ...]
"""Sorted, disjoint, not adjacent (but for the surrogate gap), both ends included."""

LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
_NO_RANGE = (LAST + 1, LAST + 1)
"""Behind all others."""

ALL: Ranges = ((0, 0xD7FF), (0xE000, LAST))
PRINTABLE: Ranges = ((0x20, 0x7E), (0xA0, 0xD7FF), (0xE000, LAST))
"""Everything but Unicode category Cc, which is exactly U+0000-U+001F and U+007F-U+009F."""
LINES: Ranges = ((0x09, 0x0A), *PRINTABLE)
"""What several lines are written with: line feeds, tabs, and everything but control characters."""
DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))


def ranges(parts: Iterable[tuple[int, int]]) -> Ranges:
    """The union of any ranges, in normal form."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(parts):
        if low > high:
            continue
        if out and low <= out[-1][1] + 1:
            if high > out[-1][1]:
                out[-1] = (out[-1][0], high)
        else:
            out.append((low, high))
    if any(low <= _SURROGATES[1] and high >= _SURROGATES[0] for low, high in out):
        return _without_surrogates(out)
    return tuple(out)


def _without_surrogates(parts: list[tuple[int, int]]) -> Ranges:
    first, last = _SURROGATES
    out: list[tuple[int, int]] = []
    for low, high in parts:
        if low < first:
            out.append((low, min(high, first - 1)))
        if high > last:
            out.append((max(low, last + 1), high))
    return tuple(part for part in out if not (first <= part[0] <= last))


def leading_bytes(parts: Iterable[tuple[int, int]]) -> int:
    """The first bytes of characters in UTF-8, as bits of a number."""
    found = 0
    for low, high in parts:
        if high < 0x80:
            found |= (2 << high) - (1 << low)
            continue
        # No surrogate is at an end of a range, but they may lie inside of one.
        first, last = chr(low).encode()[0], chr(high).encode()[0]
        found |= (2 << last) - (1 << first)
    return found


def invert(these: Ranges) -> Ranges:
    """All other characters; no surrogate is one."""
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in these:
        out.append((start, low - 1))
        start = high + 1
    out.append((start, LAST))
    return ranges(out)


def meet(left: Ranges, right: Ranges) -> Ranges:
    """The characters of both sets."""
    if left is right:
        return left
    out: list[tuple[int, int]] = []
    others = iter(right)
    begin, end = next(others, _NO_RANGE)
    for low, high in left:
        while end < low:
            begin, end = next(others, _NO_RANGE)
        while end <= high:
            out.append((begin if begin > low else low, end))
            begin, end = next(others, _NO_RANGE)
        if begin <= high:
            out.append((begin if begin > low else low, high))
    return tuple(out)


def without(these: Ranges, others: Ranges) -> Ranges:
    """The characters of one set that are not in the other."""
    return meet(these, invert(others)) if others else these


def contains(these: Ranges, point: int) -> bool:
    """Whether a code point is in the set, by a binary search."""
    at = bisect_right(these, (point, LAST + 1)) - 1
    return at >= 0 and these[at][1] >= point


def blocks_of(sets: Iterable[Ranges]) -> tuple[list[Ranges], dict[Ranges, list[int]]]:
    """Blocks of code points that lie in the same sets; and, for each set, the blocks it is made of.

    Points in none of the sets are in no block. Linear in the number of ranges but for one sort.
    """
    events: dict[int, int] = {}
    distinct = list(dict.fromkeys(sets))
    for index, these in enumerate(distinct):
        bit = 1 << index
        for low, high in these:
            events[low] = events.get(low, 0) ^ bit
            events[high + 1] = events.get(high + 1, 0) ^ bit
    blocks: dict[int, list[tuple[int, int]]] = {}
    active = 0
    previous = 0
    for point in sorted(events):
        if active:
            blocks.setdefault(active, []).append((previous, point - 1))
        active ^= events[point]
        previous = point
    members: dict[Ranges, list[int]] = {these: [] for these in distinct}
    for number, mask in enumerate(blocks):
        while mask:
            bit = mask & -mask
            members[distinct[bit.bit_length() - 1]].append(number)
            mask ^= bit
    return [ranges(parts) for parts in blocks.values()], members


@cache
def _categories() -> dict[str, Ranges]:
    """Ranges of each general category; one scan of all code points, made only when a pattern asks."""
    category = unicodedata.category
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, category("\0")
    for point in range(1, LAST + 2):
        here = category(chr(point)) if point <= LAST else ""
        if here != current:
            found.setdefault(current, []).append((start, point - 1))
            start, current = point, here
    return {name: ranges(parts) for name, parts in found.items()}


_LONG_NAMES = {
    "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc",
    "enclosingmark": "Me", "number": "N", "decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No",
    "punctuation": "P", "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc", "modifiersymbol": "Sk",
    "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl",
    "paragraphseparator": "Zp", "other": "C", "control": "Cc", "format": "Cf", "privateuse": "Co",
    "unassigned": "Cn", "dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe",
    "connectorpunctuation": "Pc", "otherpunctuation": "Po", "initialpunctuation": "Pi",
    "finalpunctuation": "Pf",
}  # fmt: skip


def general_category(name: str) -> Ranges | None:
    """Code points of a Unicode general category, by short (`Lu`, `L`) or long name; None if unknown."""
    if name == "Any":
        return ALL
    if name == "ASCII":
        return ((0, 0x7F),)
    short = _LONG_NAMES.get(name.replace("_", "").replace(" ", "").lower(), name)
    table = _categories()
    if short in table:
        return table[short]
    if len(short) == 1:
        parts = [part for key, these in table.items() if key[0] == short for part in these]
        return ranges(parts) if parts else None
    return None


@cache
def _case_orbits() -> dict[int, tuple[int, ...]]:
    """For each code point with other case forms, all of them; one-to-one mappings only."""
    group: dict[int, set[int]] = {}
    for first, last in (
        (0x41, 0x2D2D),
        (0xA640, 0xABBF),
        (0xFF21, 0xFF5A),
        (0x10400, 0x10FFF),
        (0x118A0, 0x118DF),
        (0x16E40, 0x16E7F),
        (0x1E900, 0x1E943),
    ):
        for point in range(first, last + 1):
            char = chr(point)
            for other in (char.lower(), char.upper()):
                if other != char and len(other) == 1:
                    merged = group.get(point, {point}) | group.get(ord(other), {ord(other)})
                    for member in merged:
                        group[member] = merged
    return {point: tuple(sorted(members)) for point, members in group.items()}


@small_cache(1024)
def ignoring_case(these: Ranges) -> Ranges:
    """The set with every other case form of its members."""
    return closure(these, _case_orbits())


def closure(these: Ranges, orbits: dict[int, tuple[int, ...]]) -> Ranges:
    """A set with all that its members are folded together with; `orbits` says with what."""
    extra: list[tuple[int, int]] = []
    for low, high in these:
        points = range(low, high + 1) if high - low < len(orbits) else (p for p in orbits if low <= p <= high)
        extra += [(other, other) for point in points for other in orbits.get(point, ())]
    return ranges([*these, *extra])
