"""Positions inside a term: what is still to be read of a term that has been begun."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.automata.analysis.membership_entries import ItemChoices, KeyChoices
from sglc.automata.dfa.trie import Place
from sglc.automata.term import Array, Listed, Object, Pattern, Repeat, Span, Text


@dataclass(frozen=True, slots=True)
class Chars:
    """Characters still to come."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class InText:
    """A text term after some characters; the count stops mattering where there are no bounds to meet."""

    term: Text
    state: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A repeat after some items, of which those beyond the minimum do not count if there is no maximum."""

    term: Repeat
    done: int


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """An array or object between its items or entries: in a state, with something before it or not."""

    term: Array | Object
    choices: ItemChoices | KeyChoices
    state: int
    begun: bool


@dataclass(frozen=True, slots=True)
class InPattern:
    """A pattern in one state of its automaton."""

    term: Pattern
    state: int


@dataclass(frozen=True, slots=True, eq=False)
class InListed:
    """A list of texts, sorted, at a place in their trie."""

    term: Listed
    texts: list[str]
    place: Place


@dataclass(frozen=True, slots=True)
class InSpan:
    """A span after characters that end at these places of its text (exclusive)."""

    term: Span
    ends: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Units:
    """Escapes of UTF-16 units still to come: the characters of each as ranges."""

    sets: tuple[tuple[tuple[int, int], ...], ...]
