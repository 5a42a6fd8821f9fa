"""Grammars over characters in Lark's notation, as llguidance reads it, which enforces OpenAI's grammars.

Its lexer takes the longest match of each terminal and never a shorter one, as its page on syntax says. So of
`/[a-z]*/ "x"` it reads no text. Two ways are safe: one terminal that is the whole text, and terminals of one
character each, which have no longer match; beside these, quoted text (quoted_text.py).

The first is the better one. llguidance makes the states of a terminal as they are reached: one that stands
for 3,000,000 characters is read in 2 ms, and a mask of it takes 8 ms with a vocabulary of 200,000 tokens.
Characters are rules to its parser, which may make 50,000 items for a mask. Text that is counted takes more of
them with such a vocabulary; the answer breaks off then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.print_lark import to_lark
from sglc.targets.projection.grammars.print_regex import to_regex
from sglc.targets.projection.grammars.quoted_text import with_quotes

DEEPEST = 500
"""Rules that are reached through each other only. llguidance 1.9.1 goes down them on the stack of its thread:
with the 2 MB that a thread of Rust has it ends the process at 700, and reads 500."""
INSIDE = 100
"""Rules inside each other that are looked into for the empty text: they are followed by recursion."""
LONGEST_PATTERN = 20_000
"""Characters of a terminal that is one pattern: our own reader of Lark takes no longer ones."""
MOST_COUNTED = 8
"""Characters of free text that are read one by one. In a grammar that contains itself 16 of them, or any
number, are more than 50,000 items for a mask with 200,000 tokens, where llguidance ends; 8 take 12 ms."""
FEW = 10
"""Characters of a set that is no free text. Of the letters that English uses most, ten begin 2,000 of 200,000
tokens, which llguidance reads within such a grammar; twelve are too many for it."""
MOST_SYMBOLS = 60_000
"""Symbols of a grammar, as `symbols` counts them at most. llguidance 1.9.1 numbers them with 16 bits."""


def lark_text(grammar: g.Grammar) -> str:
    """A grammar over characters in Lark's notation, which starts with `start`.

    Where no rule comes to itself, all is one terminal: a pattern, or, where that would be long, a terminal
    made of others. Any other grammar has a terminal for each character, and for each quoted text. Raises
    GrammarError where that is more than a reader takes.
    """
    if is_nested(grammar):
        found = _one_terminal(grammar)
    else:
        found = _in_characters(with_quotes(grammar))
        if counted(found) > MOST_COUNTED:
            raise GrammarError(f"texts of more than {MOST_COUNTED} characters within what contains itself")
    if sum(symbols(body) for body in _bodies(found)) > MOST_SYMBOLS:
        raise GrammarError(f"a grammar of more than {MOST_SYMBOLS:,} symbols")
    if depth(found) > DEEPEST:
        raise GrammarError(f"more than {DEEPEST:,} rules inside each other")
    return to_lark(found)[0]


def is_nested(grammar: g.Grammar) -> bool:
    """Whether no rule that the start comes to comes to itself."""
    done: set[str] = set()
    within = [grammar.start]
    ways = [_references(grammar.rules[grammar.start].body)]
    while ways:
        name = next((name for name in ways[-1] if name not in done), None)
        if name is None:
            ways.pop()
            done.add(within.pop())
        elif name in within:
            return False
        else:
            within.append(name)
            ways.append(_references(grammar.rules[name].body))
    return True


def _one_terminal(grammar: g.Grammar) -> g.Grammar:
    """The grammar as one terminal; beside it the empty text, which no terminal may have."""
    body = grammar.rules[grammar.start].body
    some = non_empty(body, grammar)
    if some is None:
        raise GrammarError("a language that has the empty text only")
    whole = g.Grammar(
        {**grammar.rules, grammar.start: g.Rule(grammar.start, some)}, {}, (), grammar.start, "lark"
    )
    terminals: dict[str, g.Terminal] = {}
    try:
        start: g.Expression = g.Pattern(to_regex(whole, LONGEST_PATTERN))
    except GrammarError:
        start = g.Reference("whole")
        names = {name: "whole" if name == grammar.start else f"x.{name}" for name in whole.rules}
        for name, rule in whole.rules.items():
            terminals[names[name]] = g.Terminal(names[name], _single(rule.body, names))
    if some is not body:
        start = g.Alternatives((start, g.Literal("")))
    return g.Grammar({"start": g.Rule("start", start)}, terminals, (), "start", "lark")


def non_empty(body: g.Expression, grammar: g.Grammar) -> g.Expression | None:
    """An expression of the same texts but the empty one; None where there is no other. For grammars in which
    no rule comes to itself."""
    if not may_be_empty(body, grammar):
        return body
    match body:
        case g.Reference(name):
            return non_empty(grammar.rules[name].body, grammar)
        case g.Alternatives(arms):
            return _any_of([non_empty(arm, grammar) for arm in arms])
        case g.Repeat(item, _, high) if high != 0:
            some = non_empty(item, grammar)
            return None if some is None else g.Repeat(some, 1, high)
        case g.Sequence(parts):
            firsts = [non_empty(part, grammar) for part in parts]
            ways = [
                None if first is None else g.Sequence((first, *parts[at:]))
                for at, first in enumerate(firsts, 1)
            ]
            return _any_of(ways)
    return None


def _any_of(arms: Sequence[g.Expression | None]) -> g.Expression | None:
    kept = tuple(arm for arm in arms if arm is not None)
    return g.Alternatives(kept) if len(kept) > 1 else kept[0] if kept else None


def counted(grammar: g.Grammar) -> int:
    """The longest run of free text, in characters of sets with more than `FEW` of them; without an end it is
    longer than `MOST_COUNTED`."""
    return max((_counted(rule.body, 1, grammar, frozenset()) for rule in grammar.rules.values()), default=0)


def _counted(body: g.Expression, times: int, grammar: g.Grammar, within: frozenset[str]) -> int:
    match body:
        case g.Characters(points):
            return times if sum(high - low + 1 for low, high in points) > FEW else 0
        case g.Repeat(item, _, high):
            most = MOST_COUNTED + 1 if high is None else max(1, high)
            return _counted(item, times * most, grammar, within)
        case g.Sequence(parts) | g.Alternatives(parts):
            return max((_counted(part, times, grammar, within) for part in parts), default=0)
        case g.Reference(name) if times > 1 and name in grammar.rules and name not in within:
            return _counted(grammar.rules[name].body, times, grammar, within | {name})
    return 0


def _bodies(grammar: g.Grammar) -> Iterator[g.Expression]:
    yield from (rule.body for rule in grammar.rules.values())
    yield from (terminal.body for terminal in grammar.terminals.values())


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
    parts = {name: rule.body for name, rule in grammar.rules.items()}
    parts |= {name: terminal.body for name, terminal in grammar.terminals.items()}
    seen = {grammar.start}
    ways = [_references(parts[grammar.start])]
    deepest = 1
    while ways:
        name = next((name for name in ways[-1] if name not in seen), None)
        if name is None:
            ways.pop()
            continue
        seen.add(name)
        ways.append(_references(parts[name]))
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
    """The grammar with terminals of one character each, besides those that it has, and the rule `start`."""
    names = {name: "start" if name == grammar.start else f"x.{name}" for name in grammar.rules}
    names |= {name: name for name in grammar.terminals}
    rules = {
        names[name]: g.Rule(names[name], _single(rule.body, names)) for name, rule in grammar.rules.items()
    }
    return g.Grammar(rules, grammar.terminals, (), "start", "lark")


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
