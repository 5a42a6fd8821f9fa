"""A parser of small languages: tokens in, a tree of nodes out.

A rule's name or alias names its node; a rule with `?` and one part hands that on, parts of `_rules` are
spliced in, and what the grammar writes in quotes is left out of the tree, as in Lark. A word of the grammar
is a keyword only where the grammar can take it and a NAME everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sglc.immutable import value
from sglc.lalr.machine import LalrMachine, Run, Semantics, Tokens
from sglc.lalr.tables import Tables

MAX_DEPTH = 100
"""Of nodes inside each other."""


@value
class Token:
    """`kind` is a terminal of the grammar: a declared name, or the text of a word or mark."""

    kind: str
    text: str
    start: int
    end: int


@value
class ParseNode:
    """`parts` are nodes, tokens, and None for an option that is absent."""

    kind: str
    parts: tuple[Part, ...]
    start: int
    end: int
    depth: int = 0


Part = ParseNode | Token | None


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


def machine_of(tables: Tables) -> LalrMachine:
    """The machine that makes the trees of a grammar, for `parse`."""
    actions = {rule.action for rule in tables.rules} - {"", "_"}
    return LalrMachine(tables, {action: _node_function(action) for action in actions})


def parse(machine: LalrMachine, tokens: Sequence[Token], start: str) -> ParseNode:
    """The tree of a list of tokens that ends with a `$END`. Raises Unexpected, TooDeep.

    The start symbol must be a rule that makes a node.
    """
    builder = _TreeBuilder(tokens)
    leaves = {kind: partial(builder.leaf, kind) for kind in ("NAME", *(token.kind for token in tokens))}
    lists = Tokens(
        [token.kind for token in tokens], [token.start for token in tokens], [token.end for token in tokens]
    )
    run = Run(machine, Semantics(builder, leaves, _keyword_as_name), lists, start)
    if not run.step():
        token = tokens[run.index]
        kind = _keyword_as_name(run, token.kind, run.index) or token.kind
        row = machine.rows[run.states[-1]]
        expected = frozenset(kind for kind in row if kind[0] != "<")
        raise Unexpected(Token(kind, token.text, token.start, token.end), expected)
    assert isinstance(run.result, ParseNode)
    return run.result


def _keyword_as_name(run: Run, kind: str, index: int) -> str:
    return "NAME" if kind in run.machine.literals and kind[0].isalpha() else ""


class _TreeBuilder:
    """Makes the nodes and tokens of one tree."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.shifted = 0

    def leaf(self, kind: str, start: int, end: int) -> Token:
        token = self.tokens[self.shifted]
        self.shifted += 1
        return token if token.kind == kind else Token(kind, token.text, start, end)

    def node(self, kind: str, start: int, end: int, parts: tuple[Part, ...]) -> ParseNode:
        depth = 1 + max((part.depth for part in parts if isinstance(part, ParseNode)), default=0)
        if depth > MAX_DEPTH:
            raise TooDeep(self.tokens[self.shifted])
        return ParseNode(kind, parts, start, end, depth)


def _node_function(kind: str) -> Callable[..., ParseNode]:
    def node(builder: _TreeBuilder, start: int, end: int, *parts: Part) -> ParseNode:
        return builder.node(kind, start, end, parts)

    return node
