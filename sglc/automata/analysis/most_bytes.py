"""How long the words of a language can be: an upper bound of their bytes.

The bound is found term by term and in one go over the rules, without looking at words. Of words that
differ from each other in a list or an object it may be too large, never too small.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from sglc.automata import term as t
from sglc.automata.analysis.shortest_words import number_of_words
from sglc.automata.analysis.term_fold import Asking, folded
from sglc.automata.encoding import written
from sglc.automata.graphs import successors_first

Bound = int | None
"""Bytes; None for no bound."""


def most_bytes(language: t.Language) -> Bound:
    """At least the bytes of every word of a language; None where there is no bound."""
    # Every recursion passes a byte.
    return folded(language.root, partial(_most, language.rules), None)


def _most(rules: Mapping[str, t.Term], term: t.Term) -> Asking[Bound]:
    match term:
        case t.Nothing() | t.NotBefore():
            return 0
        case t.Anything():
            return None
        case t.Bytes(data):
            return len(data)
        case t.Words(words):
            return max(map(len, words), default=0)
        case t.Listed(texts, encoding):
            return max((_width(text, encoding) for text in texts), default=0)
        case t.Text():
            return _text(term.dfa.edges, term.encoding, term.max_chars)
        case t.Pattern(nfa, encoding):
            return _pattern(nfa, encoding)
        case t.Sequence(items):
            return (yield from _joined(items, operator.add))
        case t.Choice(arms):
            return (yield from _joined(arms, max))
        case t.Except(item):
            return (yield item)
        case t.Rule(name):
            return (yield rules[name])
        case t.Repeat(item, _, maximum, separator):
            return _repeated((yield item), maximum, len(separator))
        case t.Span(text, encoding, _, most_chars):
            size = len(text) if most_chars is None else min(most_chars, len(text))
            return max(
                (_width(text[at : at + size], encoding) for at in range(len(text) - size + 1)), default=0
            )
        case t.Array():
            return (yield from _array(term))
        case t.Object():
            return (yield from _object(term))


def _joined(terms: Iterable[t.Term], join: Callable[[int, int], int]) -> Asking[Bound]:
    """What bounds come to; behind a term without one, nothing is asked."""
    found = 0
    for term in terms:
        bound = yield term
        if bound is None:
            return None
        found = join(found, bound)
    return found


def _arms(arms: Iterable[t.Arm]) -> Asking[Bound]:
    return _joined((arm.term for arm in arms), max)


def _sum(parts: Iterable[Bound]) -> Bound:
    known = list(parts)
    return None if None in known else sum(filter(None, known))


def _largest(parts: Iterable[Bound]) -> Bound:
    known = list(parts)
    return None if None in known else max(filter(None, known), default=0)


def _smaller(one: Bound, other: Bound) -> Bound:
    return other if one is None else one if other is None else min(one, other)


def _repeated(item: Bound, maximum: Bound, separator: int) -> Bound:
    if maximum == 0 or (item == 0 and not separator):
        return 0
    if item is None or maximum is None:
        return None
    return maximum * item + (maximum - 1) * separator


def _array(term: t.Array) -> Asking[Bound]:
    comma = yield term.comma
    places = []
    for arms in term.places:
        places.append((yield from _arms(arms)))
    total, count = _sum(places), len(places)
    if term.rest and (term.maximum is None or term.maximum > count):
        rest = _repeated((yield from _arms(term.rest)), _less(term.maximum, count), 0)
        total = _sum((total, rest))
        count = count if term.maximum is None else term.maximum
    return _sum((total, _repeated(comma, max(0, count - 1), 0)))


def _less(maximum: Bound, count: int) -> Bound:
    return None if maximum is None else maximum - count


def _object(term: t.Object) -> Asking[Bound]:
    comma, colon = (yield term.comma), (yield term.colon)
    entries = []
    for part in term.properties:
        if part.arms:
            value = yield from _arms(part.arms)
            entries.append(_sum((_width(part.name, term.encoding), 2, colon, value)))
    total, count = _sum(entries), len(entries)
    if term.families and (term.maximum is None or term.maximum > 0):
        sizes, numbers = [], []
        for family in term.families:
            key = _text(family.keys.edges, term.encoding, None)
            sizes.append(_sum((key, 2, colon, (yield from _arms(family.arms)))))
            numbers.append(number_of_words(family.keys) if term.distinct else None)
        more = _smaller(term.maximum, _sum(numbers))
        total = _sum((total, _repeated(_largest(sizes), more, 0)))
        count = 0 if more is None else count + more
    return _sum((total, _repeated(comma, max(0, count - 1), 0)))


def _width(text: str, encoding: t.Encoding) -> int:
    if encoding != "json-any":
        return len(written(text, encoding))
    return sum(_char_width(ord(char), encoding) for char in text)


def _char_width(point: int, encoding: t.Encoding) -> int:
    """The bytes of a character in its longest spelling, but for the short escapes of JSON."""
    if encoding == "json-any":
        return 12 if point > 0xFFFF else 6
    if encoding == "json" and point < 0x20:
        return 6
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4


def _range_width(low: int, high: int, encoding: t.Encoding) -> int:
    """The most bytes that a character of a range takes."""
    found = _char_width(high, encoding)
    if encoding == "json":
        if low < 0x20:
            return 6
        if low <= 0x22 <= high or low <= 0x5C <= high:
            return max(found, 2)
    return found


Edges = tuple[tuple[tuple[int, int, int], ...], ...]


def _pattern(nfa: t.CharNfa, encoding: t.Encoding) -> Bound:
    edges = tuple(
        tuple((low, high, to) for low, high, group in row for to in nfa.groups[group]) for row in nfa.edges
    )
    return _largest(_text(edges, encoding, None, start) for start in nfa.groups[0])


def _text(edges: Edges, encoding: t.Encoding, most: Bound, start: int = 0) -> Bound:
    """The longest word from a state on, of at most so many characters; where there is no longest one, as many
    of the widest characters."""
    if not edges:
        return 0
    order = successors_first({state: {to for _, _, to in row} for state, row in enumerate(edges)})
    widths = [[(to, _range_width(low, high, encoding)) for low, high, to in row] for row in edges]
    widest = max((width for row in widths for _, width in row), default=0)
    bound = None if most is None else most * widest
    if len(order) < len(edges):
        return bound
    far = [0] * len(edges)  # of a trimmed automaton: every way leads to an accepting state
    for state in order:
        far[state] = max((width + far[to] for to, width in widths[state]), default=0)
    return _smaller(bound, far[start])
