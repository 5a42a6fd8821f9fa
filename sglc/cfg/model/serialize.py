"""A grammar as one line of JSON, for artefacts: equal grammars give equal texts.

Rules, terminals, what is ignored, and the name that the grammar has in its program. Places in sources,
modifiers and priorities of rules are left out: they say nothing about which texts are legal. Reading trusts
nothing.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.parameters import given_parts
from sglc.cfg.model.validate import check_names

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData

MAX_DEPTH = 400
"""Lists inside of each other, which are read by recursion: more than any notation makes of one rule."""
_DIALECTS = ("lark", "ebnf", "gbnf", "sgl")
_LAST = 0x10FFFF


def to_text(name: str, grammar: g.Grammar) -> str:
    """The one text of a grammar and its name."""
    data = [
        name,
        grammar.dialect,
        grammar.start,
        list(grammar.ignore),
        [[rule.name, _data(rule.body)] for rule in grammar.rules.values()],
        [[part.name, _data(part.body), part.priority] for part in grammar.terminals.values()],
    ]
    if grammar.parameters or grammar.whole:
        data.append(list(grammar.parameters))
    if grammar.whole:
        data.append(grammar.whole)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def from_text(text: str) -> tuple[str, g.Grammar]:
    """Name and grammar. Raises GrammarError for what `to_text` does not write."""
    try:
        data = json.loads(text)
        name, dialect, start, ignore, rules, terminals, *more = data
        parameters = tuple(more[0]) if more else ()
        whole = more[1] if len(more) > 1 else ""
        _demand(len(more) <= 2 and len(set(parameters)) == len(parameters))
        _demand(_text(whole) != "" if len(more) > 1 else bool(parameters) or not more)
        _demand(all(isinstance(part, str) for part in (name, start, *ignore, *parameters)))
        _demand(dialect in _DIALECTS)
        found = g.Grammar(
            {part: g.Rule(_text(part), _expression(body, 0)) for part, body in rules},
            {
                part: g.Terminal(_text(part), _expression(body, 0), _whole(rank))
                for part, body, rank in terminals
            },
            tuple(ignore),
            start,
            dialect,
            parameters,
            whole,
        )
        _demand({part.parameter for part in given_parts(found)} <= set(parameters))
    except (TypeError, ValueError, KeyError, IndexError, RecursionError) as fault:
        if isinstance(fault, GrammarError):
            raise
        raise GrammarError("the stored grammar is malformed") from None
    check_names(found)
    return name, found


def _data(body: g.Expression) -> list[JsonData]:
    match body:
        case g.Literal(text, ignore_case):
            return ["i" if ignore_case else "l", text]
        case g.Pattern(regex, flags):
            return ["p", regex, "".join(sorted(flags))]
        case g.Characters(points):
            return ["c", *(bound for pair in points for bound in pair)]
        case g.Words(texts):
            return ["w", *sorted(texts)]
        case g.Given(parameter, path, listed):
            return ["g", listed, parameter, *path]
        case g.Reference(name):
            return ["r", name]
        case g.Sequence(items):
            return ["s", *map(_data, items)]
        case g.Alternatives(arms):
            return ["a", *map(_data, arms)]
        case g.Repeat(item, minimum, maximum):
            return ["*", _data(item), minimum, maximum]
        case g.Difference(item, without):
            return ["d", _data(item), _data(without)]
        case g.Named(item):
            return _data(item)


def _expression(data: Any, depth: int) -> g.Expression:
    _demand(isinstance(data, list) and depth < MAX_DEPTH)
    kind, *rest = data
    match kind:
        case "l" | "i":
            (text,) = rest
            return g.Literal(_text(text), kind == "i")
        case "p":
            regex, flags = rest
            _demand(set(_text(flags)) <= set("imsxua"))
            return g.Pattern(_text(regex), frozenset(flags))
        case "c":
            bounds = [_whole(bound) for bound in rest]
            pairs = tuple(zip(bounds[::2], bounds[1::2], strict=True))
            _demand(all(0 <= low <= high <= _LAST for low, high in pairs))
            _demand(all(a[1] < b[0] for a, b in pairwise(pairs)))
            return g.Characters(pairs)
        case "w":
            return g.Words(frozenset(map(_text, rest)))
        case "g":
            listed, *path = rest
            _demand(isinstance(listed, bool))
            return g.Given(_text(path[0]), tuple(map(_text, path[1:])), listed)
        case "r":
            (name,) = rest
            return g.Reference(_text(name))
        case "s":
            return g.Sequence(tuple(_expression(item, depth + 1) for item in rest))
        case "a":
            return g.Alternatives(tuple(_expression(arm, depth + 1) for arm in rest))
        case "*":
            item, low, high = rest
            _demand(_whole(low) >= 0 and (high is None or _whole(high) >= low))
            return g.Repeat(_expression(item, depth + 1), low, high)
        case "d":
            item, without = rest
            return g.Difference(_expression(item, depth + 1), _expression(without, depth + 1))
    raise ValueError


def _demand(true: bool) -> None:
    if not true:
        raise ValueError


def _text(value: object) -> str:
    _demand(isinstance(value, str))
    return str(value)


def _whole(value: Any) -> int:
    _demand(isinstance(value, int) and not isinstance(value, bool))
    return int(value)
