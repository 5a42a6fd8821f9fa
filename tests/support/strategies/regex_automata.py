"""Automata over characters of regular expressions."""

from __future__ import annotations

from sglc.automata.regex.compile import DEFAULT_LIMIT, compile_small
from sglc.automata.regex.parse import parse_regex
from sglc.automata.term import CharNfa

SUFFIXES = "(a|b)*a(a|b){14}"
"""The minimal automaton has 32,768 states."""


def nfa_of(pattern: str, anchored: bool = True) -> CharNfa | None:
    found = compile_small(
        parse_regex(pattern), open_left=not anchored, open_right=not anchored, small=0, limit=DEFAULT_LIMIT
    )
    return found if isinstance(found, CharNfa) else None
