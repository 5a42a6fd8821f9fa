"""Grammars with parameters: the values they need, and the grammar with these values put in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from sglc.cfg.model import grammar as g


def given_parts(grammar: g.Grammar) -> list[g.Given]:
    """The values that a grammar asks for, each once, in the order of the rules."""
    found: dict[g.Given, None] = {}

    def note(part: g.Given) -> g.Expression:
        found.setdefault(part)
        return part

    for rule in grammar.rules.values():
        _changed(rule.body, note)
    return list(found)


def filled(grammar: g.Grammar, values: Mapping[g.Given, str | Collection[str]]) -> g.Grammar:
    """The grammar with its values put in."""

    def put(part: g.Given) -> g.Expression:
        value = values[part]
        if isinstance(value, str):
            return g.Literal(value, at=part.at)
        return g.Words(frozenset(value), part.at)

    rules = {name: replace(rule, body=_changed(rule.body, put)) for name, rule in grammar.rules.items()}
    return replace(grammar, rules=rules, parameters=())


def sampled(grammar: g.Grammar) -> g.Grammar:
    """The grammar with a name for each value, by which it is judged before the values are known.

    The names begin with a character of their own, so that they are told from all other terminals.
    """
    names = {part: f"\u2039{part.shown}\u203a" for part in given_parts(grammar)}
    return filled(grammar, {part: [name] if part.listed else name for part, name in names.items()})


def _changed(body: g.Expression, change: Callable[[g.Given], g.Expression]) -> g.Expression:
    return (
        change(body) if isinstance(body, g.Given) else g.with_parts(body, lambda part: _changed(part, change))
    )
