"""The automata and texts of scalars, and parts of terms, of which languages are made."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Literal

from sglc.automata.charset import ALL, LINES, PRINTABLE, Ranges
from sglc.automata.dfa.operations import accepts, all_words, intersect, without
from sglc.automata.joined_terms import EMPTY, choice, sequence
from sglc.automata.number.decimal import decimal_range, float_range, integer_range
from sglc.automata.term import Bytes, CharDfa, Encoding, Term
from sglc.types.json_text import json_text
from sglc.types.number_text import number_text
from sglc.types.type import Dec, Float, Int, LanguageError, Str

Surface = Literal["hole", "json"]


@lru_cache(maxsize=1024)
def str_dfa(type: Str) -> CharDfa:
    """The texts of a `str` but for its bounds on length."""
    return _within(type, PRINTABLE if type.layout == "line" else ALL)


@lru_cache(maxsize=1024)
def written_dfa(type: Str, encoding: Encoding = "raw") -> CharDfa:
    """The texts of a `str` that a hole may write, but for its bounds on length.

    As raw text that is one line, the lines of `lines`, or what the pattern of `matching` says.
    """
    if encoding != "raw" or type.layout in ("line", "free"):
        return str_dfa(type)
    return _within(type, LINES if type.layout == "lines" else PRINTABLE)


def _within(type: Str, characters: Ranges) -> CharDfa:
    """The texts of a `str` that are made of these characters, but for its bounds on length."""
    if type.grammar:
        raise LanguageError("a grammar has no automaton")
    everything = all_words(characters)
    # A text with another character occurs in none of these, so excluding it changes nothing.
    stops = [stop for stop in type.until if accepts(everything, stop)]
    texts = [text for text in type.excludes if accepts(everything, text)]
    dfa = without(texts, stops, characters) if stops or texts else everything
    if type.patterns:
        from sglc.automata.regex.compile import compile_regex

        for pattern in type.patterns:
            dfa = intersect(dfa, compile_regex(pattern))
    return dfa


def number_dfa(type: Int | Dec | Float) -> CharDfa:
    """The decimal numerals of a type, bounds and steps included, over the characters of JSON numbers."""
    match type:
        case Int():
            return integer_range(type.minimum, type.maximum, type.multiple_of)
        case Dec():
            return decimal_range(type.minimum, type.maximum, type.multiple_of)
        case Float():
            return float_range(type.minimum, type.maximum)


def constant_text(value: str | int | Decimal | bool, surface: Surface) -> str:
    """A literal as it is written on a surface: text bare in a hole, in quotes as JSON."""
    if isinstance(value, str):
        return value if surface == "hole" else json_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value)


def joined(left: str, items: list[tuple[Term, bool]], joint: str, right: str, empty: str) -> Term:
    """Items between two texts, with `joint` between those that are there; `empty` where none is. The flag
    says which may be left out."""
    behind: list[Term] = []
    for term, optional in items:
        entry = sequence(Bytes(joint.encode()), term)
        behind.append(choice(EMPTY, entry) if optional else entry)
    # Before the first item that is there nothing is due: one arm per item that may be the first.
    firsts: list[Term] = []
    for index, (term, optional) in enumerate(items):
        firsts.append(sequence(term, *behind[index + 1 :], Bytes(right.encode())))
        if not optional:
            return sequence(Bytes(left.encode()), choice(*firsts))
    if empty == left + right:
        return sequence(Bytes(left.encode()), choice(*firsts, Bytes(right.encode())))
    return choice(sequence(Bytes(left.encode()), choice(*firsts)), Bytes(empty.encode()))
