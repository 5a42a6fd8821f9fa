"""Sets of numbers: closed under intersection, union and complement.

A set is a union of `NumberPart`s; enumerations stay plain sets of values. Draft 4 tells `1.0` from `1` by
its spelling, so a part may also ask for one kind of spelling.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sglc.automata.caches import remembered
from sglc.automata.dfa import operations as automata
from sglc.automata.dfa.nfa_union import concatenate
from sglc.automata.dfa.product import united
from sglc.automata.number.number_set import NumberSet
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import CharDfa
from sglc.schema.algebra.unions import Unions

EVERY_NUMBER = NumberSet()


@dataclass(frozen=True, slots=True)
class NumberPart:
    """Members of `within` that are among `values` (None: any). `plain`: spelled with digits alone (True), or
    with a point or an exponent (False)."""

    within: NumberSet = EVERY_NUMBER
    values: frozenset[Decimal] | None = None
    plain: bool | None = None


ALL = NumberPart()
Numbers = tuple[NumberPart, ...]
EVERY: Numbers = (ALL,)
_PLAIN = compile_regex("-?(0|[1-9][0-9]*)")


def finite(values: Iterable[Decimal]) -> Numbers:
    """Just these values, however they are spelled."""
    found = frozenset(values)
    return (NumberPart(values=found),) if found else ()


def of_set(numbers: NumberSet) -> Numbers:
    """The members of a set, however they are spelled."""
    return () if numbers.is_empty() else (NumberPart(numbers),)


def _tidy(parts: list[NumberPart]) -> Numbers:
    values: set[Decimal] = set()
    others: dict[NumberPart, None] = {}
    for part in parts:
        if part.values is not None and part.plain is None:
            values |= part.values
        else:
            others[part] = None
    if ALL in others:
        return EVERY
    found = list(others)
    if values:
        found.append(NumberPart(values=frozenset(values)))
    return tuple(found)


def _meet(a: NumberPart, b: NumberPart) -> NumberPart | None:
    if a.plain is not None and b.plain is not None and a.plain != b.plain:
        return None
    plain = b.plain if a.plain is None else a.plain
    if a.values is not None or b.values is not None:
        first, other = (a, b) if a.values is not None else (b, a)
        assert first.values is not None
        kept = frozenset(
            value
            for value in first.values
            if other.within.contains(value) and (other.values is None or value in other.values)
        )
        return NumberPart(values=kept, plain=plain) if kept else None
    within = a.within.intersect(b.within)
    return None if within.is_empty() else NumberPart(within, None, plain)


def _complement(one: NumberPart) -> Numbers:
    parts: list[NumberPart] = []
    if one.plain is not None:
        parts.append(NumberPart(plain=not one.plain))
    if one.values is None:
        parts += [NumberPart(rest) for rest in one.within.complement()]
    else:
        parts.append(NumberPart(NumberSet(excluded=tuple(sorted(one.values)))))
    return _tidy(parts)


_UNIONS = Unions(EVERY, _meet, _complement, _tidy)
meet, join, complement, subtract = _UNIONS.meet, _UNIONS.join, _UNIONS.complement, _UNIONS.subtract


def contains(these: Numbers, value: Decimal, plain: bool) -> bool:
    """Whether a value is a member when it is spelled with digits alone (`plain`) or otherwise."""
    return any(
        one.within.contains(value)
        and (one.values is None or value in one.values)
        and (one.plain is None or one.plain == plain)
        for one in these
    )


def values(these: Numbers, limit: int) -> list[Decimal] | None:
    """All members, None if they are more than `limit`."""
    found: dict[Decimal, None] = {}
    for one in these:
        some = list(one.values) if one.values is not None else one.within.values(limit)
        if some is None:
            return None
        found.update(dict.fromkeys(some))
    return None if len(found) > limit else sorted(found)


def automaton(
    these: Numbers, spelling: Literal["canonical", "any"], written: Mapping[Decimal, set[str]]
) -> CharDfa:
    """The spellings of all members; `written` are those in which the schema itself has some values."""
    parts = []
    for one in these:
        own = [text for value in one.values or () if value in written for text in written[value]]
        parts.append(_automaton(one, spelling, frozenset(own)))
    return united(parts)


@remembered
def _automaton(one: NumberPart, spelling: Literal["canonical", "any"], written: frozenset[str]) -> CharDfa:
    if one.plain and one.values is None:
        return automata.intersect(one.within.text("plain"), _PLAIN)
    dfa = one.within.text(spelling) if one.values is None else _spellings(one.values, spelling, written)
    if one.plain is None:
        return dfa
    return automata.intersect(dfa, _PLAIN) if one.plain else automata.difference(dfa, _PLAIN)


def _spellings(
    values: frozenset[Decimal], spelling: Literal["canonical", "any"], written: frozenset[str]
) -> CharDfa:
    """Each value in full, as json.dumps writes it if that has an exponent, and as it is `written`; in the
    spelling `any` with more zeros behind its point, and zero with a minus, too."""
    whole: set[str] = set()
    broken: set[str] = set()
    for value in values:
        if value == value.to_integral_value():
            whole.add(f"{value.to_integral_value():f}" if value else "0")
        else:
            broken.add(f"{value:f}".rstrip("0"))
    floats = [value for value in map(float, values) if math.isfinite(value)]
    short = {text for text in map(json.dumps, floats) if "e" in text and Decimal(text) in values}
    short |= written
    if spelling == "canonical":
        return automata.words(whole | broken | short)
    if "0" in whole:
        whole.add("-0")
    dfa = automata.words(whole | short)
    zeros = compile_regex(r"\.0+")
    if whole:
        dfa = automata.union(dfa, concatenate(automata.words(whole), zeros))
    if broken:
        dfa = automata.union(dfa, concatenate(automata.words(broken), compile_regex("0*")))
    return dfa
