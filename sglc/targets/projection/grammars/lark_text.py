"""Grammars over characters in Lark's notation, as llguidance reads it, which enforces OpenAI's grammars.

Its lexer takes the longest match of each terminal and never a shorter one, as its page on syntax says. So of
`/[a-z]*/ "x"` it reads no text. Terminals of one character each have no longer match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.print_lark import to_lark
from sglc.targets.projection.grammars.print_regex import to_regex

DEEPEST = 500
"""Rules that are reached through each other only. llguidance 1.9.1 goes down them on the stack of its thread:
with the 2 MB that a thread of Rust has it ends the process at 700, and reads 500."""
INSIDE = 100
"""Rules inside each other that are looked into for the empty text: they are followed by recursion."""
MOST_SYMBOLS = 60_000
"""Symbols of a grammar, as `symbols` counts them at most. llguidance 1.9.1 numbers them with 16 bits."""


def lark_text(grammar: g.Grammar) -> str:
    """A grammar over characters in Lark's notation, which starts with `start`.

    A regular one is one terminal, which is read fastest, unless it may be empty: Lark has no such terminals.
    Any other has a terminal for each character. Raises GrammarError where that is more than a reader takes.
    """
    try:
        if may_be_empty(grammar.rules[grammar.start].body, grammar):
            raise GrammarError("a terminal that may be empty")
        body: g.Expression = g.Pattern(to_regex(grammar))
        return to_lark(g.Grammar({"start": g.Rule("start", body)}, {}, (), "start", "lark"))[0]
    except GrammarError:
        found = _in_characters(grammar)
        if sum(symbols(rule.body) for rule in found.rules.values()) > MOST_SYMBOLS:
            raise GrammarError(f"a grammar of more than {MOST_SYMBOLS:,} symbols") from None
        if depth(found) > DEEPEST:
            raise GrammarError(f"more than {DEEPEST:,} rules inside each other") from None
        return to_lark(found)[0]


def symbols(body: g.Expression) -> int:
    """Symbols that are made of an expression, at most: one for a part; a count is doubled bit by bit."""
    match body:
        case g.Sequence(parts) | g.Alternatives(parts):
            return 1 + sum(map(symbols, parts))
        case g.Repeat(item, low, high):
            return 1 + 2 * (low if high is None else high).bit_length() + symbols(item)
    return 1


def may_be_empty(body: g.Expression, grammar: g.Grammar, within: frozenset[str] = frozenset()) -> bool:
    """Whether an expression has the empty text. `within` are the rules that it stands in."""
    match body:
        case g.Literal(text):
            return not text
        case g.Reference(name):
            if name in within or len(within) > INSIDE:
                return False
            return may_be_empty(grammar.rules[name].body, grammar, within | {name})
        case g.Sequence(parts):
            return all(may_be_empty(part, grammar, within) for part in parts)
        case g.Alternatives(arms):
            return any(may_be_empty(arm, grammar, within) for arm in arms)
        case g.Repeat(item, low, _):
            return not low or may_be_empty(item, grammar, within)
    return False


def depth(grammar: g.Grammar) -> int:
    """Rules inside each other, each where it is first used."""
    seen = {grammar.start}
    ways = [_references(grammar.rules[grammar.start].body)]
    deepest = 1
    while ways:
        name = next((name for name in ways[-1] if name not in seen), None)
        if name is None:
            ways.pop()
            continue
        seen.add(name)
        ways.append(_references(grammar.rules[name].body))
        deepest = max(deepest, len(ways))
    return deepest


def _references(body: g.Expression) -> Iterator[str]:
    """The rules that an expression names, from left to right."""
    match body:
        case g.Reference(name):
            yield name
        case g.Sequence(parts) | g.Alternatives(parts):
            for part in parts:
                yield from _references(part)
        case g.Repeat(item):
            yield from _references(item)


def _in_characters(grammar: g.Grammar) -> g.Grammar:
    """The grammar with terminals of one character each, and the rule `start`."""
    names = {name: "start" if name == grammar.start else f"x.{name}" for name in grammar.rules}
    rules = {
        names[name]: g.Rule(names[name], _single(rule.body, names)) for name, rule in grammar.rules.items()
    }
    return g.Grammar(rules, {}, (), "start", "lark")


def _single(body: g.Expression, names: Mapping[str, str]) -> g.Expression:
    match body:
        case g.Literal(text) if len(text) > 1:
            return g.Sequence(tuple(map(g.Literal, text)))
        case g.Reference(name):
            return g.Reference(names[name])
        case g.Sequence(items):
            return g.Sequence(tuple(_single(item, names) for item in items))
        case g.Alternatives(arms):
            return g.Alternatives(tuple(_single(arm, names) for arm in arms))
        case g.Repeat(item, low, high):
            return g.Repeat(_single(item, names), low, high)
    return body
