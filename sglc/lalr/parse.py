"""A parser of small languages: tokens in, a tree of nodes out.

A rule's name or alias names its node; a rule with `?` and one part hands that on, parts of `_rules` are
spliced in, and what the grammar writes in quotes is left out of the tree, as in Lark. A word of the grammar
is a keyword only where the grammar can take it and a NAME everywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sglc.lalr.tables import Rule, Tables

MAX_DEPTH = 100
"""Of nodes inside each other."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is a terminal of the grammar: a declared name, or the text of a word or mark."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Node:
    """`parts` are nodes, tokens, lists of these (rules without a node of their own) and None (left out)."""

    kind: str
    parts: tuple[Part, ...]
    start: int
    end: int
    depth: int = 0


Part = Node | Token | None


class Unexpected(Exception):
    """A token that nothing can take: `token` (kind `$END` at the end of the text)."""

    def __init__(self, token: Token, expected: frozenset[str]) -> None:
        super().__init__(token.text)
        self.token = token
        self.expected = expected


class TooDeep(Exception):
    """Nodes are nested deeper than `MAX_DEPTH`."""

    def __init__(self, token: Token) -> None:
        super().__init__(token.text)
        self.token = token


def parse(tables: Tables, tokens: Sequence[Token], start: str) -> Node:
    """The tree of a list of tokens that ends with a `$END`. Raises Unexpected, TooDeep.

    The start symbol must be a rule that makes a node.
    """
    rows, rules = tables.rows, tables.rules
    states = [tables.starts[start]]
    values: list[Part | list[Part]] = []
    spans: list[tuple[int, int]] = []
    index = 0
    while True:
        token = tokens[index]
        row = rows[states[-1]]
        action = row.get(token.kind)
        if action is None and token.kind in tables.literals and token.kind[0].isalpha():
            action = row.get("NAME")
            token = Token("NAME", token.text, token.start, token.end)
        if action is None:
            raise Unexpected(token, frozenset(kind for kind in row if kind[0] != "<"))
        if action > 0:
            states.append(action - 1)
            values.append(token)
            spans.append((token.start, token.end))
            index += 1
            continue
        rule = rules[-action - 1]
        size = rule.length
        here = spans[-size:] if size else [(token.start, token.start)]
        value = _made(rule, values[len(values) - size :], here[0][0], here[-1][1], token)
        if size:
            del states[-size:], values[-size:], spans[-size:]
        if rule.symbol == f"<{start}>" and len(states) == 1:
            assert isinstance(value, Node)
            return value
        values.append(value)
        spans.append((here[0][0], here[-1][1]))
        states.append(rows[states[-1]][rule.symbol] - 1)


def _made(
    rule: Rule, values: list[Part | list[Part]], start: int, end: int, token: Token
) -> Part | list[Part]:
    if rule.action == "":
        assert isinstance(rule.steps[0], int)
        return values[rule.steps[0]]
    parts: list[Part] = []
    for step in rule.steps:
        part = None if step is None else values[step[0] if isinstance(step, tuple) else step]
        if isinstance(part, list):
            parts.extend(part)
        else:
            parts.append(part)
    if rule.action == "_":
        return parts
    depth = 1 + max((part.depth for part in parts if isinstance(part, Node)), default=0)
    if depth > MAX_DEPTH:
        raise TooDeep(token)
    return Node(rule.action, tuple(parts), start, end, depth)
