"""Rules that write no text, because each of their texts would contain another text of theirs.

The least fixed point of "has a text" over the rules (Hopcroft, Motwani and Ullman, 2006, section 7.1.1).
"""

from __future__ import annotations

from collections.abc import Mapping

from sglc.automata.graphs import successors_first
from sglc.cfg.model import grammar as g


def rules_without_texts(grammar: g.Grammar) -> list[str]:
    """Rules that lead to themselves and have no text, in the order of the grammar; one of those that lead to
    each other. Rules that have none because of these are left out."""
    users: dict[str, list[str]] = {name: [] for name in grammar.rules}
    for name, rule in grammar.rules.items():
        for other in _needed(rule.body) & users.keys():
            users[other].append(name)
    productive: set[str] = set()
    due = list(grammar.rules)
    while due:
        name = due.pop()
        if name not in productive and _has_text(grammar.rules[name].body, productive, grammar.rules):
            productive.add(name)
            due += users[name]
    waiting = {name: rule for name, rule in grammar.rules.items() if name not in productive}
    below = {name: _needed(rule.body) & waiting.keys() for name, rule in waiting.items()}
    above: dict[str, set[str]] = {name: set() for name in waiting}
    for name, others in below.items():
        for other in others:
            above[other].add(name)
    told = set(successors_first(above))  # rules that no cycle leads to lead to one
    roots = []
    for name in waiting:
        if name not in told:
            reached = _reached(name, below)
            if name in reached and not reached & told:
                roots.append(name)
                told |= reached & _reached(name, above)
    return roots


def _has_text(item: g.Expression, known: set[str], rules: Mapping[str, g.Rule]) -> bool:
    match item:
        case g.Reference(name):
            return name not in rules or name in known
        case g.Sequence(items):
            return all(_has_text(inner, known, rules) for inner in items)
        case g.Alternatives(arms):
            return any(_has_text(arm, known, rules) for arm in arms)
        case g.Repeat(inner, minimum):
            return minimum == 0 or _has_text(inner, known, rules)
        case g.Difference(inner) | g.Named(inner):
            return _has_text(inner, known, rules)
    return True


def _needed(item: g.Expression) -> set[str]:
    """Names that an expression mentions."""
    match item:
        case g.Reference(name):
            return {name}
        case g.Sequence(parts) | g.Alternatives(parts):
            return {name for part in parts for name in _needed(part)}
        case g.Repeat(inner) | g.Difference(inner) | g.Named(inner):
            return _needed(inner)
    return set()


def _reached(start: str, below: Mapping[str, set[str]]) -> set[str]:
    """Rules that one leads to; itself where it leads back."""
    found: set[str] = set()
    waiting = list(below[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += below[name]
    return found
