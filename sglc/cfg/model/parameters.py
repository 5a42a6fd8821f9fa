"""Grammars with parameters: the values they need, and the grammar with these values put in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from sglc.cfg.model.grammar import (
    Alternatives,
    Difference,
    Expression,
    Given,
    Grammar,
    Literal,
    Named,
    Repeat,
    Sequence,
    Words,
)


def given_parts(grammar: Grammar) -> list[Given]:
    """The values that a grammar asks for, each once, in the order of the rules."""
    found: dict[Given, None] = {}

    def note(part: Given) -> Expression:
        found.setdefault(part)
        return part

    for rule in grammar.rules.values():
        _changed(rule.body, note)
    return list(found)


def filled(grammar: Grammar, values: Mapping[Given, str | Collection[str]]) -> Grammar:
    """The grammar with its values put in."""

    def put(part: Given) -> Expression:
        value = values[part]
        if isinstance(value, str):
            return Literal(value, at=part.at)
        return Words(frozenset(value), part.at)

    rules = {name: replace(rule, body=_changed(rule.body, put)) for name, rule in grammar.rules.items()}
    return replace(grammar, rules=rules, parameters=())


def sampled(grammar: Grammar) -> Grammar:
    """The grammar with a name for each value, by which it is judged before the values are known.

    The names begin with a character of their own, so that they are told from all other terminals.
    """
    names = {part: f"\u2039{part.shown}\u203a" for part in given_parts(grammar)}
    return filled(grammar, {part: [name] if part.listed else name for part, name in names.items()})


def _changed(body: Expression, change: Callable[[Given], Expression]) -> Expression:
    match body:
        case Given():
            return change(body)
        case Sequence(items):
            return Sequence(tuple(_changed(item, change) for item in items))
        case Alternatives(arms):
            return Alternatives(tuple(_changed(arm, change) for arm in arms))
        case Repeat(item, low, high):
            return Repeat(_changed(item, change), low, high)
        case Named(item, name):
            return Named(_changed(item, change), name)
        case Difference(item, without, at):
            return Difference(_changed(item, change), _changed(without, change), at)
    return body
