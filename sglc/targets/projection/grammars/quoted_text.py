"""Quoted text of a grammar as terminals, for readers whose lexer takes the longest match.

    value: "'" /[^'\\n]{1,40}/ "'"      →      value: QUOTED        QUOTED: /'[^'\\n]{1,40}'/

A terminal that opens with a character which stands nowhere else, and closes with one which is not inside, has
one match at most, wherever it may stand: so the longest is no other one. Two kinds of quoted text with the
same opening are left as they are, for a place may allow both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sglc.automata.charset import Ranges
from sglc.cfg.model import grammar as g

NAME = "quoted"
"""Names of the terminals begin with this; those of rules have something before their point."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Text between an opening and a closing character: a count of characters of a set."""

    opening: str
    inside: g.Repeat
    closing: str

    @property
    def body(self) -> g.Expression:
        """All of it as one expression."""
        return g.Sequence((g.Literal(self.opening), self.inside, g.Literal(self.closing)))


def with_quotes(grammar: g.Grammar) -> g.Grammar:
    """A grammar whose quoted texts are terminals, where each has one match at most."""
    found = {quote for rule in grammar.rules.values() for quote in _quotes(rule.body)}
    openings = [quote.opening for quote in found]
    kept = {quote for quote in found if openings.count(quote.opening) == 1}
    while True:
        names = {quote: f"{NAME}.{at}" for at, quote in enumerate(sorted(kept, key=lambda q: q.opening))}
        rules = {name: g.Rule(name, _replaced(rule.body, names)) for name, rule in grammar.rules.items()}
        elsewhere = [points for rule in rules.values() for points in _points(rule.body)]
        wrong = {quote for quote in kept if any(_has(points, quote.opening) for points in elsewhere)}
        if not wrong:
            break
        kept -= wrong
    terminals = {name: g.Terminal(name, quote.body) for quote, name in names.items()}
    return g.Grammar(rules, terminals, (), grammar.start, grammar.dialect)


def _quotes(body: g.Expression) -> Iterator[Quote]:
    match body:
        case g.Sequence(parts):
            for at, part in enumerate(parts):
                quote = _quote(parts, at)
                if quote is not None:
                    yield quote
                yield from _quotes(part)
        case g.Alternatives(parts):
            for part in parts:
                yield from _quotes(part)
        case g.Repeat(item):
            yield from _quotes(item)


def _quote(parts: tuple[g.Expression, ...], at: int) -> Quote | None:
    """The quoted text whose inside is a part of a sequence."""
    if not 0 < at < len(parts) - 1:
        return None
    match parts[at - 1], parts[at], parts[at + 1]:
        case g.Literal(before), g.Repeat(g.Characters(points)) as inside, g.Literal(behind) if (
            before and behind
        ):
            return None if _has(points, behind[0]) else Quote(before[-1], inside, behind[0])
    return None


def _replaced(body: g.Expression, names: Mapping[Quote, str]) -> g.Expression:
    match body:
        case g.Sequence(parts):
            return _replaced_in(parts, names)
        case g.Alternatives(arms):
            return g.Alternatives(tuple(_replaced(arm, names) for arm in arms))
        case g.Repeat(item, low, high):
            return g.Repeat(_replaced(item, names), low, high)
    return body


def _replaced_in(parts: tuple[g.Expression, ...], names: Mapping[Quote, str]) -> g.Expression:
    """A sequence whose quoted texts are references; what stands before and behind them stays."""
    found: list[g.Expression] = []
    rest = list(parts)
    at = 0
    while at < len(rest):
        quote = _quote(tuple(rest), at)
        name = names.get(quote) if quote is not None else None
        if name is None:
            found.append(_replaced(rest[at], names))
            at += 1
            continue
        before, behind = rest[at - 1], rest[at + 1]
        assert isinstance(before, g.Literal) and isinstance(behind, g.Literal)
        found[-1] = g.Literal(before.text[:-1])
        found.append(g.Reference(name))
        rest[at + 1] = g.Literal(behind.text[1:])
        at += 1
    kept = tuple(part for part in found if part != g.Literal(""))
    return kept[0] if len(kept) == 1 else g.Sequence(kept)


def _points(body: g.Expression) -> Iterator[Ranges]:
    """All characters of an expression, as sets."""
    match body:
        case g.Literal(text):
            yield tuple((ord(each), ord(each)) for each in text)
        case g.Characters(points):
            yield points
        case g.Sequence(parts) | g.Alternatives(parts):
            for part in parts:
                yield from _points(part)
        case g.Repeat(item):
            yield from _points(item)


def _has(points: Ranges, character: str) -> bool:
    return any(low <= ord(character) <= high for low, high in points)
