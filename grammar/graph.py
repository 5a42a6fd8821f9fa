"""A grammar as a graph of numbered nodes: the form that is analysed and transformed.

Everything is linear in the size of the grammar and works with lists of its own instead of the call stack, so
that ten thousand rules, or a chain of them, are no trouble.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from sglc.automata import charset
from sglc.automata.dfa import TooLarge, any_char_class, difference, literal, words
from sglc.automata.term import CharDfa
from sglc.grammar.errors import GrammarError
from sglc.grammar.model import (
    Alternatives,
    Characters,
    Difference,
    Expression,
    Given,
    Grammar,
    Literal,
    Named,
    Pattern,
    Reference,
    Repeat,
    Sequence,
    Words,
)
from sglc.grammar.regular import alternation, joined, repeated
from sglc.grammar.terminals import Token, Tokens
from sglc.source import Source

LEAF, SEQUENCE, CHOICE, REPEAT, RULE = range(5)

MAX_DEPTH = 200
"""Nesting of one rule's body."""
MAX_NODES = 2_000_000


def bounds(about: object) -> tuple[int, int | None]:
    """(minimum, maximum) of a REPEAT."""
    return cast("tuple[int, int | None]", about)


class Graph:
    """Nodes by number.

    kind   LEAF, SEQUENCE, CHOICE, REPEAT or RULE
    below  its nodes: in order, the arms, the one repeated, the body
    about  LEAF: what it reads (`Token` or `CharDfa`); REPEAT: (minimum, maximum);
           RULE: its name
    """

    def __init__(self) -> None:
        self.kind: list[int] = []
        self.below: list[tuple[int, ...]] = []
        self.about: list[object] = []
        self.start = -1
        self.root = -1
        """The rule whose texts are meant, where the start is only what it stands in."""
        self.nullable: list[bool] = []
        self.nonempty: list[bool] = []
        """Whether a node has a text of at least one character."""
        self.empty = self.add(SEQUENCE, ())

    def add(self, kind: int, below: tuple[int, ...], about: object = None) -> int:
        node = len(self.kind)
        if node > MAX_NODES:
            raise GrammarError(f"the grammar has more than {MAX_NODES} parts")
        self.kind.append(kind)
        self.below.append(below)
        self.about.append(about)
        return node

    def sequence(self, items: Iterable[int]) -> int:
        found: list[int] = []
        for item in items:
            if self.kind[item] == SEQUENCE:
                found += self.below[item]
            else:
                found.append(item)
        return found[0] if len(found) == 1 else self.add(SEQUENCE, tuple(found)) if found else self.empty

    def choice(self, arms: Iterable[int]) -> int:
        found = tuple(dict.fromkeys(arms))
        return found[0] if len(found) == 1 else self.add(CHOICE, found)

    def repeat(self, item: int, minimum: int, maximum: int | None) -> int:
        if maximum == 0:
            return self.empty
        if (minimum, maximum) == (1, 1):
            return item
        return self.add(REPEAT, (item,), (minimum, maximum))

    # Analysis

    def analyse(self) -> None:
        """Take out what has no text, and find `nullable` and `nonempty` of the rest."""
        above = self._above()
        productive = self._closure(self._productive_need(), above)
        kind, below = self.kind, self.below
        for node in range(len(kind)):
            if kind[node] == CHOICE and productive[node]:
                arms = below[node]
                if not all([productive[arm] for arm in arms]):
                    below[node] = tuple([arm for arm in arms if productive[arm]])
            elif kind[node] == REPEAT and productive[node] and not productive[below[node][0]]:
                kind[node], below[node] = SEQUENCE, ()
        self.productive = productive
        # Nodes that have lost what is below them are above it still, which tells nothing new of them.
        self.nullable = self._closure(self._nullable_need(), above)
        self.nonempty = self._closure(self._nonempty_need(), above)

    def find_nullable(self) -> None:
        self.nullable = self._closure(self._nullable_need(), self._above())

    def _above(self) -> dict[int, list[int]]:
        """The nodes that each node stands in, as often as it does."""
        above: dict[int, list[int]] = {}
        for node, these in enumerate(self.below):
            for inner in these:
                if inner in above:
                    above[inner].append(node)
                else:
                    above[inner] = [node]
        return above

    def _closure(self, need: list[int], above: dict[int, list[int]]) -> list[bool]:
        """Nodes that hold once `need` of the nodes below them do (least fixed point; -1: never)."""
        holds = [count == 0 for count in need]
        waiting = [node for node, count in enumerate(need) if count == 0]
        while waiting:
            for node in above.get(waiting.pop(), ()):
                if need[node] > 0:
                    need[node] -= 1
                    if not need[node]:
                        holds[node] = True
                        waiting.append(node)
        return holds

    def _productive_need(self) -> list[int]:
        need = []
        for kind, below, about in zip(self.kind, self.below, self.about, strict=True):
            if kind == SEQUENCE:
                need.append(len(below))
            elif kind == LEAF:
                need.append(0)
            elif kind == REPEAT:
                need.append(0 if about[0] == 0 else 1)  # type: ignore[index]
            else:
                need.append(1 if below else -1)
        return need

    def _nullable_need(self) -> list[int]:
        need = []
        for kind, below, about in zip(self.kind, self.below, self.about, strict=True):
            if kind == SEQUENCE:
                need.append(len(below))
            elif kind == LEAF:
                need.append(-1)
            elif kind == REPEAT:
                need.append(0 if about[0] == 0 else 1)  # type: ignore[index]
            else:
                need.append(1 if below else -1)
        return need

    def _nonempty_need(self) -> list[int]:
        need = []
        for node, (kind, below) in enumerate(zip(self.kind, self.below, strict=True)):
            if kind == LEAF:
                need.append(0)
            elif not below or not self.productive[node]:
                need.append(-1)
            else:
                need.append(1)
        return need

    def reached(self, start: int) -> list[int]:
        """The nodes below one, itself first."""
        found = [start]
        seen = {start}
        for node in found:
            for inner in self.below[node]:
                if inner not in seen:
                    seen.add(inner)
                    found.append(inner)
        return found

    def left(self, node: int) -> tuple[int, ...]:
        """The nodes with which a text of this node may begin."""
        below = self.below[node]
        if self.kind[node] != SEQUENCE:
            return below
        for count, item in enumerate(below, 1):
            if not self.nullable[item]:
                return below[:count]
        return below


def build_graph(grammar: Grammar, tokens: Tokens) -> Graph:
    """The graph of all rules that the whole needs, which is its start; leaves are single terminals."""
    graph = Graph()
    builder = _Builder(graph, grammar, tokens)
    graph.start = builder.rule(grammar.whole or grammar.start)
    while builder.waiting:
        node, name = builder.waiting.pop()
        rule = grammar.rules[name]
        builder.source = rule.source
        graph.below[node] = (builder.node(rule.body, 0),)
    if grammar.start not in builder.rules:
        raise GrammarError(f"the rule {grammar.start} is no part of {grammar.whole}")
    graph.root = builder.rules[grammar.start]
    return graph


class _Builder:
    def __init__(self, graph: Graph, grammar: Grammar, tokens: Tokens) -> None:
        self.graph = graph
        self.grammar = grammar
        self.tokens = tokens
        self.waiting: list[tuple[int, str]] = []
        self.rules: dict[str, int] = {}
        self.leaves: dict[object, int] = {}
        self.source: Source | None = None

    def rule(self, name: str) -> int:
        node = self.rules.get(name)
        if node is None:
            node = self.rules[name] = self.graph.add(RULE, (), name)
            self.waiting.append((node, name))
        return node

    def node(self, item: Expression, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise GrammarError(f"a rule is nested more than {MAX_DEPTH} deep", self.source)
        kind = type(item)
        if kind is Literal or kind is Pattern:
            return self.token(self.tokens.written(item, self.source))  # type: ignore[arg-type]
        if kind is Reference:
            name = item.name  # type: ignore[union-attr]
            if name in self.grammar.rules:
                return self.rules.get(name) or self.rule(name)
            return self.token(self.tokens.named(name))
        if kind is Sequence:
            return self.graph.sequence([self.node(inner, depth + 1) for inner in item.items])  # type: ignore[union-attr]
        if kind is Alternatives:
            return self.graph.choice([self.node(arm, depth + 1) for arm in item.arms])  # type: ignore[union-attr]
        if kind is Repeat:
            assert isinstance(item, Repeat)
            return self.graph.repeat(self.node(item.item, depth + 1), item.minimum, item.maximum)
        if kind is Named:
            return self.node(item.item, depth + 1)  # type: ignore[union-attr]
        if kind is Characters:
            return self.leaf(any_char_class(item.points))  # type: ignore[union-attr]
        if kind is Words:
            return self.words(item.texts, item.at)  # type: ignore[union-attr]
        if kind is Given:
            raise GrammarError(f"the value of {item.shown} is not known yet", self.source, item.at)  # type: ignore[union-attr]
        assert isinstance(item, Difference)
        return self.difference(item)

    def token(self, token: Token) -> int:
        node = self.leaves.get(token.index)
        if node is None:
            node = self.graph.add(LEAF, (), token)
            if token.nullable:
                node = self.optional_token(token, node)
            self.leaves[token.index] = node
        return node

    def optional_token(self, token: Token, node: int) -> int:
        """A terminal that may be empty, as an option of the same without the empty text."""
        text = token.exact
        if text is not None:
            return self.graph.empty
        parts = [(difference(dfa, literal("")), barred) for dfa, barred in token.automaton]
        kept = tuple((dfa, barred) for dfa, barred in parts if dfa.edges)
        if not kept:
            return self.graph.empty
        object.__setattr__(token, "automaton", kept)
        object.__setattr__(token, "nullable", False)
        return self.graph.repeat(node, 0, 1)

    def leaf(self, dfa: CharDfa) -> int:
        if not dfa.edges:
            return self.graph.add(CHOICE, ())
        node = self.leaves.get(dfa)
        if node is None:
            node = self.leaves[dfa] = self.graph.add(LEAF, (), dfa)
            if 0 in dfa.accepting:
                rest = difference(dfa, literal(""))
                node = self.graph.empty
                if rest.edges:
                    node = self.graph.repeat(self.graph.add(LEAF, (), rest), 0, 1)
                self.leaves[dfa] = node
        return node

    def words(self, texts: frozenset[str], at: int) -> int:
        if "" in texts:
            return self.graph.repeat(self.words(texts - {""}, at), 0, 1)
        if not texts:
            return self.graph.add(CHOICE, ())
        return self.graph.add(LEAF, (), self.tokens.data(texts, self.source, at))

    def difference(self, item: Difference) -> int:
        try:
            return self.leaf(difference(self.regular(item.item, 0), self.regular(item.without, 0)))
        except TooLarge as fault:
            raise GrammarError(f"a difference needs {fault}", self.source, item.at) from None

    def regular(self, item: Expression, depth: int) -> CharDfa:
        """The texts of an expression without recursion."""
        if depth > MAX_DEPTH:
            raise GrammarError(
                "a difference is taken of regular parts only", self.source, -1, "this one is recursive"
            )
        match item:
            case Literal(text, ignore_case):
                if not ignore_case:
                    return literal(text)
                return joined([
                    any_char_class(charset.ignoring_case(((ord(char), ord(char)),))) for char in text
                ])  # fmt: skip
            case Characters(points):
                return any_char_class(points)
            case Words(texts):
                return words(texts)
            case Sequence(items):
                return joined([self.regular(inner, depth + 1) for inner in items])
            case Alternatives(arms):
                return alternation([self.regular(arm, depth + 1) for arm in arms])
            case Repeat(inner, minimum, maximum):
                return repeated(self.regular(inner, depth + 1), minimum, maximum)
            case Named(inner):
                return self.regular(inner, depth + 1)
            case Difference(inner, without):
                return difference(self.regular(inner, depth + 1), self.regular(without, depth + 1))
            case Reference(name):
                if name in self.grammar.rules:
                    return self.regular(self.grammar.rules[name].body, depth + 10)
                return self.regular(self.grammar.terminals[name].body, depth + 10)
            case Pattern():
                token = self.tokens.written(item, self.source)
                return alternation([dfa for dfa, _ in token.automaton])
            case Given():
                raise GrammarError(f"the value of {item.shown} is not known yet", self.source, item.at)
