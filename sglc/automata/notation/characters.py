"""Characters, bytes and automata as people read them: classes like `[a-z0-9]`, quoted texts, patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring

from sglc.automata.charset import ALL, LINES, PRINTABLE, Ranges, invert, ranges
from sglc.automata.dfa.operations import shortest_word
from sglc.automata.term import CharDfa

LONGEST = 60
"""Characters of a text that is shown whole."""
_MOST_RANGES = 12
"""Ranges of a set of characters that are shown; behind them stands an ellipsis."""
_MOST_STEPS = 60
"""Steps of an automaton that is shown as a pattern; a longer one is shown by what it is."""
_NAMED = {
    ALL: "any character",
    PRINTABLE: "any character but controls",
    LINES: "any character but controls, or a line break or tab",
}
_IN_CLASS = {ord("]"): "\\]", ord("["): "\\[", ord("\\"): "\\\\", ord("^"): "\\^", ord("-"): "\\-"}
_META = frozenset(".*+?(){}|/$")
_CONTROLS = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}


def show_bytes(data: bytes) -> str:
    """Bytes as a quoted text, cut where they are long; what is no UTF-8 stands as `\\xNN`. The quotes are
    single where the text has double ones."""
    text = data.decode("utf-8", "backslashreplace")
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1]
    shown = encode_basestring(cut)
    shown = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in shown)
    if '"' in cut and "'" not in cut:
        shown = "'" + shown[1:-1].replace('\\"', '"') + "'"
    return shown if len(text) <= LONGEST else f"{shown[:-1]}…{shown[-1]} ({len(data):,} bytes)"


def show_words(words: Iterable[bytes], most: int = 4) -> str:
    """Some words in order, and how many there are where some are left out."""
    some = sorted(words)
    shown = " | ".join(map(show_bytes, some[:most]))
    return shown if len(some) <= most else f"{shown} | … ({len(some):,})"


def show_class(these: Ranges) -> str:
    """A set of characters: `[a-z]`, `[^"]` where that is shorter, a name where there is one."""
    if not these:
        return "no character"
    if these in _NAMED:
        return _NAMED[these]
    others = invert(these)
    if len(others) < len(these) or (len(others) <= len(these) and these[-1][1] == ALL[-1][1]):
        return f"[^{_ranges(others)}]"
    if len(these) == 1 and these[0][0] == these[0][1]:
        return show_bytes(chr(these[0][0]).encode())
    return f"[{_ranges(these)}]"


def _ranges(these: Ranges) -> str:
    shown = "".join(
        _char(low) + (f"{'-' if high > low + 1 else ''}{_char(high)}" if high > low else "")
        for low, high in these[:_MOST_RANGES]
    )
    return shown if len(these) <= _MOST_RANGES else shown + "…"


def _char(point: int) -> str:
    if point in _IN_CLASS:
        return _IN_CLASS[point]
    if point in _CONTROLS:
        return _CONTROLS[point]
    if chr(point).isprintable():
        return chr(point)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def show_byte_class(these: bytes) -> str:
    """A set of bytes: characters of ASCII as a class, the others as `\\xNN`; `nothing` for none."""
    if len(these) == 256:
        return "any byte"
    small = ranges([(byte, byte) for byte in these if byte < 0x80])
    parts = []
    if len(small) == 1 and small[0][0] == small[0][1]:
        parts.append(show_bytes(bytes([small[0][0]])))
    elif small:
        parts.append(f"[{_ranges(small)}]")
    for low, high in ranges([(byte, byte) for byte in these if byte >= 0x80]):
        parts.append(f"\\x{low:02x}" + (f"-\\x{high:02x}" if high > low else ""))
    return " ".join(parts) or "nothing"


def show_dfa(dfa: CharDfa) -> str:
    """What an automaton accepts: a pattern where its states are a chain, else how its words begin and the
    shortest of them."""
    if not dfa.edges:
        return "nothing"
    pattern = chain_pattern(dfa)
    if pattern is not None:
        return pattern or "the empty text"
    first = show_class(ranges([(low, high) for low, high, _ in dfa.edges[0]]))
    shortest = shortest_word(dfa)
    assert shortest is not None, "a trimmed automaton with states has a word"
    return f"{first}…, such as {show_bytes(shortest.encode())}" if shortest else f"empty, or {first}…"


def chain_pattern(dfa: CharDfa) -> str | None:
    """The pattern of an automaton each of whose states leads to itself and one other at most; else None."""
    steps: list[tuple[Ranges, bool]] = []
    """(characters, whether any number of them may come)."""
    ends: list[int] = []
    """Lengths of `steps` at which a word may end."""
    state, seen = 0, set[int]()
    while len(steps) <= _MOST_STEPS:
        seen.add(state)
        here = ranges([(low, high) for low, high, target in dfa.edges[state] if target == state])
        if here:
            steps.append((here, True))
        if state in dfa.accepting:
            ends.append(len(steps))
        others = {target for _, _, target in dfa.edges[state]} - {state}
        if not others:
            return _written(steps, ends)
        if len(others) > 1 or others & seen:
            return None
        (following,) = others
        onward = ranges([(low, high) for low, high, target in dfa.edges[state] if target == following])
        steps.append((onward, False))
        state = following
    return None


def _written(steps: Sequence[tuple[Ranges, bool]], ends: Sequence[int]) -> str | None:
    """Steps as a pattern; None where words end at places that no counts can say."""
    parts: list[str] = []
    at, first = 0, ends[0]
    while at < len(steps):
        these, loops = steps[at]
        stop = at + 1
        while stop < len(steps) and steps[stop] == (these, False) and not loops:
            stop += 1
        size = stop - at
        if loops:
            parts.append(_counted(these, 0, None))
        elif stop < len(steps) and steps[stop] == (these, True):
            parts.append(_counted(these, size, None))
            if any(at < end < stop for end in ends) or (at in ends and size > 1):
                return None
            if at in ends:
                parts[-1] = _counted(these, 0, None)
            stop += 1
        elif stop == len(steps) and first < stop:
            if first < at or list(ends) != list(range(first, stop + 1)):
                return None
            parts.append(_counted(these, first - at, size))
            return "".join(parts)
        else:
            parts.append(_counted(these, size, size))
        at = stop
    return "".join(parts) if all(end == len(steps) or _only_loops(steps[end:]) for end in ends) else None


def _only_loops(steps: Sequence[tuple[Ranges, bool]]) -> bool:
    return len(steps) == 2 and steps[0][0] == steps[1][0] and steps[1][1]


def _counted(these: Ranges, least: int, most: int | None) -> str:
    if len(these) == 1 and these[0][0] == these[0][1]:
        one = _char(these[0][0])
        one = "\\" + one if one in _META else one
    else:
        one = show_class(these)
        one = f"({one})" if these in _NAMED else one
    if (least, most) == (1, 1):
        return one
    if most is None:
        return one + {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    if (least, most) == (0, 1):
        return one + "?"
    return one + (f"{{{least}}}" if least == most else f"{{{least},{most}}}")


def show_counts(minimum: int, maximum: int | None) -> str:
    """`2..8`, `3`, `any number of`; both ends included."""
    if minimum == 0 and maximum is None:
        return "any number of"
    if maximum is None:
        return f"at least {minimum:,}"
    return f"{minimum:,}" if minimum == maximum else f"{minimum:,}..{maximum:,}"
