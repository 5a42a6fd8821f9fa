"""Automata of texts as forms spell them: those that need no quotes, those with escapes in them."""

from __future__ import annotations

from functools import lru_cache

from sglc.automata.charset import ALL, Ranges
from sglc.automata.dfa.nfa_union import repeated
from sglc.automata.dfa.operations import (
    any_char_class,
    build,
    char_lengths,
    intersect,
    is_finite,
    labelled,
)
from sglc.automata.term import CharDfa, Nothing, Term, Text
from sglc.types.forms.shape import FormError

MOST_CHARS = 2_000
"""Largest bound on a text in whose spelling a character may be several: each is a state of an automaton with
some more for its escapes, as many as are made without a noticeable delay."""


def raw(dfa: CharDfa, low: int, high: int | None) -> Term:
    """Texts that are spelled as they are; bounds that the automaton keeps by itself are left out."""
    if not dfa.edges:
        return Nothing()
    if (low or high is not None) and is_finite(dfa):
        lengths = [length for length, some in enumerate(char_lengths(dfa, len(dfa.edges))) if some]
        low = 0 if lengths[0] >= low else low
        high = None if high is not None and lengths[-1] <= high else high
    return Text(dfa, "raw", low, high)


@lru_cache(maxsize=256)
def escaped(dfa: CharDfa, low: int, high: int | None, escapes: tuple[tuple[str, str], ...]) -> Term:
    """Texts in which some characters are spelled by several, the first of which stands for nothing else.

    Characters are counted before that. Raises FormError where there are too many of them.
    """
    if not dfa.edges:
        return Nothing()
    if is_finite(dfa):
        lengths = [length for length, some in enumerate(char_lengths(dfa, len(dfa.edges))) if some]
        low = 0 if lengths[0] >= low else low
        high = None if high is not None and lengths[-1] <= high else high
    if max(low, high or 0) > MOST_CHARS:
        raise FormError(
            "",
            f"a text with a bound of more than {MOST_CHARS:,} characters",
            f"ask for at most {MOST_CHARS:,} characters, or leave the bound out and give the hole a budget",
        )
    if low or high is not None:
        dfa = intersect(dfa, repeated(any_char_class(ALL), low, high))
    spelled = _spelled(dfa, dict(escapes))
    return Text(spelled) if spelled.edges else Nothing()


def _spelled(dfa: CharDfa, escapes: dict[str, str]) -> CharDfa:
    """The automaton over what is written of each character; escapes with one beginning share its states."""
    if not dfa.edges:
        return dfa
    points = {ord(char): text for char, text in escapes.items()}
    special: Ranges = tuple(sorted((point, point) for point in points))
    from sglc.automata.charset import without

    rows: list[list[tuple[Ranges, int]]] = [
        [(kept, target) for these, target in row if (kept := without(these, special))]
        for row in labelled(dfa)
    ]
    for state, row in enumerate(dfa.edges):
        inside: dict[str, int] = {"": state}
        for point, text in points.items():
            target = next((target for low, high, target in row if low <= point <= high), None)
            if target is None:
                continue
            for size in range(1, len(text)):
                begun = text[:size]
                if begun not in inside:
                    inside[begun] = len(rows)
                    rows.append([])
                    rows[inside[text[: size - 1]]].append((_one(text[size - 1]), inside[begun]))
            rows[inside[text[:-1]]].append((_one(text[-1]), target))
    return build(rows, dfa.accepting)


def _one(char: str) -> Ranges:
    return ((ord(char), ord(char)),)
