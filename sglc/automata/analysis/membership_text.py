"""Reading characters as `Text` and `Pattern` terms write them."""

from __future__ import annotations

import re

from sglc.automata.encoding import spelled
from sglc.automata.term import Encoding, Pattern, Text

_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")


def text_ends(term: Text, text: str, at: int) -> tuple[list[int], int, int]:
    """Where the term may end if it begins at a place; how far it can be read; the characters read."""
    edges, accepting = term.dfa.edges, term.dfa.accepting
    if not edges:
        return [], at, 0
    raw, size = term.encoding == "raw", len(text)
    low_count, most = term.min_chars, term.max_chars
    state, place, count = 0, at, 0
    found: list[int] = []
    while True:
        if state in accepting and count >= low_count:
            found.append(place)
        if count == most:
            break
        if raw:
            if place >= size:
                break
            code, following = ord(text[place]), place + 1
        else:
            read = string_at(text, place, term.encoding)
            if read is None:
                break
            code, following = ord(read[0]), read[1]
        for low, high, target in edges[state]:
            if low <= code <= high:
                state = target
                break
        else:
            break
        place = following
        count += 1
    return found, place, count


def pattern_ends(term: Pattern, text: str, at: int) -> tuple[list[int], int, int]:
    """The same of a pattern: all states that it may be in are followed at once."""
    nfa = term.nfa
    states = set(nfa.groups[0]) if nfa.groups else set()
    found: list[int] = []
    place, steps = at, 0
    while states:
        if not states.isdisjoint(nfa.accepting):
            found.append(place)
        read = string_at(text, place, term.encoding)
        if read is None:
            break
        code = ord(read[0])
        steps += len(states)
        states = {
            target
            for state in states
            for low, high, group in nfa.edges[state]
            if low <= code <= high
            for target in nfa.groups[group]
        }
        if states:
            place = read[1]
    return found, place, steps


def string_at(text: str, at: int, encoding: Encoding) -> tuple[str, int] | None:
    """The character that is written at a place, and the place behind it; None where none is."""
    char = text[at : at + 1]
    if encoding == "raw":
        return (char, at + 1) if char else None
    if not char or char == '"' or char < " ":
        return None
    if char != "\\":
        return char, at + 1
    short = _SHORT.get(text[at + 1 : at + 2])
    if short is not None:
        read, end = short, at + 2
    else:
        unit = _UNIT.match(text, at)
        if unit is None:
            return None
        code, end = int(unit.group(1), 16), at + 6
        if 0xD800 <= code < 0xDC00:
            low = _UNIT.match(text, end)
            if low is None or not 0xDC00 <= int(low.group(1), 16) < 0xE000:
                return None
            code, end = 0x10000 + (code - 0xD800) * 0x400 + int(low.group(1), 16) - 0xDC00, end + 6
        elif 0xDC00 <= code < 0xE000:
            return None
        read = chr(code)
    if encoding == "json" and spelled(ord(read), True) != text[at:end]:
        return None
    return read, end
