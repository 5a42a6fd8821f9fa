"""Which texts a grammar of expressions has, by its definition: sets of ends, no automaton and no lexer.

Rules must not begin with themselves.
"""

from __future__ import annotations

import re
from functools import cache

from sglc.cfg.model import grammar as g


def is_text(grammar: g.Grammar, text: str) -> bool:
    """Whether the whole text is one of the grammar's start rule."""

    @cache
    def of_rule(name: str, at: int) -> frozenset[int]:
        part = grammar.rules.get(name) or grammar.terminals[name]
        return ends(part.body, at)

    known: dict[tuple[int, int], frozenset[int]] = {}

    def ends(body: g.Expression, at: int) -> frozenset[int]:
        found = known.get((id(body), at))  # by identity: to hash a part is to go through all of it
        if found is None:
            found = known[id(body), at] = ends_of(body, at)
        return found

    def ends_of(body: g.Expression, at: int) -> frozenset[int]:
        match body:
            case g.Literal(part):
                return frozenset({at + len(part)} if text.startswith(part, at) else ())
            case g.Characters(points):
                found = at < len(text) and any(low <= ord(text[at]) <= high for low, high in points)
                return frozenset({at + 1} if found else ())
            case g.Pattern(regex, flags) if not flags:
                pattern = re.compile(regex)
                places = range(at, len(text) + 1)
                return frozenset(end for end in places if pattern.fullmatch(text, at, end))
            case g.Reference(name):
                return of_rule(name, at)
            case g.Sequence(items):
                reached = {at}
                for item in items:
                    reached = {end for start in reached for end in ends(item, start)}
                return frozenset(reached)
            case g.Alternatives(arms):
                return frozenset(end for arm in arms for end in ends(arm, at))
            case g.Repeat(item, low, high):
                return repeated(item, low, high, at)
        raise NotImplementedError(body)

    def repeated(item: g.Expression, low: int, high: int | None, at: int) -> frozenset[int]:
        done: set[int] = set()
        here, rounds = {at}, 0
        seen: set[frozenset[int]] = set()
        while here and (high is None or rounds <= high):
            if rounds >= low:
                done |= here
                if frozenset(here) in seen:
                    break
                seen.add(frozenset(here))
            here = {end for start in here for end in ends(item, start)}
            rounds += 1
        return frozenset(done)

    return len(text) in of_rule(grammar.start, 0)
