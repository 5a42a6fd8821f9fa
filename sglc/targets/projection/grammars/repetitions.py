"""Grammars within a bound on their repetitions, counted as llama.cpp's reader counts them.

It makes rules of what is repeated, and refuses a repetition whose bound times the rules that are repeated is
above its threshold (`MAX_REPETITION_THRESHOLD`, `parse_sequence` in `src/llama-grammar.cpp`). An upper bound
above it is taken for none, without a word.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.cfg.model import grammar as g


def within_repetitions(grammar: g.Grammar, most: int) -> tuple[g.Grammar, bool]:
    """A grammar over characters without a repetition that reaches `most`, and whether any was left out.

    Where one does, any number of the item may stand, or as many at least as it says.
    """
    limiter = _Limiter(most)
    rules = {name: replace(rule, body=limiter.within(rule.body)) for name, rule in grammar.rules.items()}
    return (replace(grammar, rules=rules), True) if limiter.lost else (grammar, False)


class _Limiter:
    def __init__(self, most: int) -> None:
        self.most = most
        self.lost = False

    def within(self, body: g.Expression) -> g.Expression:
        match body:
            case g.Sequence(items):
                return g.Sequence(tuple(map(self.within, items)))
            case g.Alternatives(arms):
                return g.Alternatives(tuple(map(self.within, arms)))
            case g.Repeat(item, low, high):
                return self.repeat(self.within(item), low, high)
        return body

    def repeat(self, item: g.Expression, low: int, high: int | None) -> g.Expression:
        rules = 1 if _is_symbol(item) else _rules_in(item) + 1
        if rules * (high or max(low, 1)) < self.most:
            return g.Repeat(item, low, high)
        self.lost = True
        return g.Repeat(item, low if rules * max(low, 1) < self.most else 0, None)


def _is_symbol(item: g.Expression) -> bool:
    """Whether an item needs no parentheses."""
    return isinstance(item, g.Literal | g.Characters | g.Reference)


def _rules_in(item: g.Expression) -> int:
    """At least the rules that the reader makes or names for the first time in an item."""
    match item:
        case g.Reference():
            return 1
        case g.Sequence(parts) | g.Alternatives(parts):
            return sum(_rules_in(part) + (not _is_symbol(part)) for part in parts)
        case g.Repeat(inner, low, high):
            inside = 0 if _is_symbol(inner) else 1
            return _rules_in(inner) + inside + (1 if high is None else high - low)
    return 0
