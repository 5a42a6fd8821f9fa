"""Checks of every grammar, in any notation: names are defined, terminals are regular."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sglc.automata.graphs import reached, successors_first
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.diagnostics.suggest import nearest
from sglc.source import Source

MAX_DEPTH = 100
"""Brackets inside of each other in a rule. Notations are read by recursion, with a few calls for each."""
MAX_COUNT = 100_000
"""Of a repetition. What is counted is written out where it is no text of one terminal."""


def references(body: g.Expression) -> Iterator[g.Reference]:
    """All references in an expression, from left to right."""
    waiting = [body]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is g.Reference:
            yield item  # type: ignore[misc]
        elif kind is g.Sequence:
            waiting += item.items[::-1]  # type: ignore[union-attr]
        elif kind is g.Alternatives:
            waiting += item.arms[::-1]  # type: ignore[union-attr]
        elif kind is g.Repeat or kind is g.Named:
            waiting.append(item.item)  # type: ignore[union-attr]
        elif kind is g.Difference:
            waiting += (item.without, item.item)  # type: ignore[union-attr]


def check_names(
    grammar: g.Grammar, source: Source | None = None, used: Collection[str] | None = None
) -> None:
    """Raises GrammarError for an undefined name, a terminal that needs a rule or itself, no start.

    `used` are the names in all rules, where they are known. A grammar is checked once.
    """
    if grammar.checked:
        return
    rules, terminals = grammar.rules, grammar.terminals
    if grammar.start not in rules:
        hint = f"it has {', '.join(list(rules)[:5])}" if rules else "it has no rules"
        close = nearest(grammar.start, rules)
        raise GrammarError(
            f"the grammar has no rule {grammar.start} to start with",
            source,
            0 if source else -1,
            f"did you mean {close}?" if close else hint,
        )
    if grammar.whole and grammar.whole not in rules:
        raise GrammarError(f"the grammar has no rule {grammar.whole} for {grammar.start} to stand in")
    if used is None or any([use not in rules and use not in terminals for use in used]):
        for name, rule in rules.items():
            for reference in references(rule.body):
                if reference.name not in rules and reference.name not in terminals:
                    raise _undefined(grammar, reference, name, rule.source)
    for name in grammar.ignore:
        if name not in terminals:
            what = "a rule" if name in rules else "not defined"
            raise GrammarError(f"{name} is ignored but is {what}", source, 0 if source else -1)
    uses: dict[str, list[g.Reference]] = {}
    for name, terminal in terminals.items():
        uses[name] = list(references(terminal.body))
        for reference in uses[name]:
            if reference.name in rules:
                raise GrammarError(
                    f"the terminal {name} uses the rule {reference.name}",
                    terminal.source,
                    reference.at,
                    "terminals are made of terminals only",
                )
            if reference.name not in terminals:
                raise _undefined(grammar, reference, name, terminal.source)
    _refuse_cycles(grammar, uses)
    object.__setattr__(grammar, "checked", True)


def _undefined(grammar: g.Grammar, reference: g.Reference, where: str, source: Source | None) -> GrammarError:
    close = nearest(reference.name, [*grammar.rules, *grammar.terminals])
    return GrammarError(
        f"{reference.name} is not defined (used by {where})",
        source,
        reference.at,
        f"did you mean {close}?" if close else "",
    )


def _refuse_cycles(grammar: g.Grammar, uses: dict[str, list[g.Reference]]) -> None:
    below = {name: [use.name for use in used] for name, used in uses.items()}
    if len(successors_first(below)) == len(below):
        return
    name = next(name for name in below if name in reached(below[name], below.__getitem__))
    raise GrammarError(
        f"the terminal {name} is used in its own definition",
        grammar.terminals[name].source,
        grammar.terminals[name].at,
        "only rules may be recursive",
    )
