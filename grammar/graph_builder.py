"""The graph of a grammar as it was written: a node for each part, leaves for terminals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sglc.automata import charset
from sglc.automata.dfa import TooLarge, any_char_class, difference, literal, words
from sglc.automata.term import CharDfa
from sglc.grammar.errors import GrammarError
from sglc.grammar.graph import LEAF, Graph
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
from sglc.grammar.shapes import EITHER, IN_ROW, TIMES, ShapedRules
from sglc.grammar.terminals import Token, Tokens
from sglc.source import Source

MAX_DEPTH = 200
"""Nesting of one rule's body."""


def build_graph(grammar: Grammar, tokens: Tokens, *, share: bool = False) -> Graph:
    """The graph of all rules that the whole needs, which is its start; leaves are single terminals.

    With `share`, parts that are written alike in several rules of one shape are one node.
    """
    if isinstance(grammar.rules, ShapedRules):
        try:
            return _ShapedBuilder(grammar, tokens, grammar.rules, share).graph_of_all()
        except GrammarError:
            # Once more with the place of each part, to say where it is.
            _Builder(grammar, Tokens(grammar)).graph_of_all()
            raise
    return _Builder(grammar, tokens).graph_of_all()


class _Builder:
    def __init__(self, grammar: Grammar, tokens: Tokens) -> None:
        self.graph = Graph()
        self.grammar = grammar
        self.tokens = tokens
        self.waiting: list[tuple[int, str]] = []
        self.rules: dict[str, int] = {}
        self.leaves: dict[object, int] = {}
        self.known: dict[int, int] = {}
        """Names, texts and patterns by identity: they live as long as the grammar."""
        self.source: Source | None = None

    def graph_of_all(self) -> Graph:
        graph, grammar = self.graph, self.grammar
        graph.start = self.rule(grammar.whole or grammar.start)
        while self.waiting:
            node, name = self.waiting.pop()
            graph.define(node, self.body(name))
        if grammar.start not in self.rules:
            raise GrammarError(f"the rule {grammar.start} is no part of {grammar.whole}")
        graph.root = self.rules[grammar.start]
        graph.settle()
        return graph

    def body(self, name: str) -> int:
        rule = self.grammar.rules[name]
        self.source = rule.source
        return self.node(rule.body, 0)

    def rule(self, name: str) -> int:
        node = self.rules.get(name)
        if node is None:
            node = self.rules[name] = self.graph.rule(name)
            self.waiting.append((node, name))
        return node

    def node(self, item: Expression, depth: int) -> int:
        known = self.known.get(id(item))
        if known is not None:
            return known
        if depth > MAX_DEPTH:
            raise GrammarError(f"a rule is nested more than {MAX_DEPTH} deep", self.source)
        kind = type(item)
        if kind is Sequence:
            return self.graph.sequence(self.nodes(item.items, depth + 1))  # type: ignore[union-attr]
        if kind is Alternatives:
            return self.graph.choice(self.nodes(item.arms, depth + 1))  # type: ignore[union-attr]
        if kind is Literal or kind is Pattern:
            found = self.token(self.tokens.written(item, self.source))  # type: ignore[arg-type]
            self.known[id(item)] = found
            return found
        if kind is Reference:
            name = item.name  # type: ignore[union-attr]
            found = self.rule(name) if name in self.grammar.rules else self.token(self.tokens.named(name))
            self.known[id(item)] = found
            return found
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

    def nodes(self, items: tuple[Expression, ...], depth: int) -> list[int]:
        known = self.known.get
        # What is empty is node 0, and looked up once more.
        return [known(id(item)) or self.node(item, depth) for item in items]

    def token(self, token: Token) -> int:
        node = self.leaves.get(token.index)
        if node is None:
            node = self.graph.add(LEAF, (), token)
            if token.exact == "" or (token.exact is None and token.nullable):
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
        token.automaton = kept
        token.nullable = False
        return self.graph.repeat(node, 0, 1)

    def leaf(self, dfa: CharDfa) -> int:
        if not dfa.edges:
            return self.graph.choice(())
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
            return self.graph.choice(())
        return self.graph.add(LEAF, (), self.tokens.data(texts, self.source, at))

    def difference(self, item: Difference) -> int:
        try:
            return self.leaf(difference(self.regular(item.item, 0), self.regular(item.without, 0)))
        except TooLarge as fault:
            raise GrammarError(f"a difference needs {fault}", self.source, item.at) from None
        except GrammarError as fault:
            if fault.at >= 0:
                raise
            raise GrammarError(fault.reason, self.source, item.at, fault.hint) from None

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


class _ShapedBuilder(_Builder):
    """As any builder, but for rules that are known by their shape."""

    def __init__(self, grammar: Grammar, tokens: Tokens, rules: ShapedRules, share: bool) -> None:
        super().__init__(grammar, tokens)
        self.shaped = rules
        self.atoms = _Atoms(self.atom)
        self.share = share
        self.made: dict[object, int] = {}
        """What has been made of the same parts in the same way."""

    def atom(self, text: str) -> int:
        """The node of a token."""
        if text[0] == '"' and text[-1] == '"' and "\\" not in text:
            return self.token(self.tokens.text(text[1:-1]))
        if text in self.shaped:
            return self.rule(text)
        if text.strip() in _MARKS:
            return -1
        item = self.shaped.atom(text)
        if isinstance(item, Reference):
            return self.token(self.tokens.named(item.name))
        return self.token(self.tokens.written(item, None))

    def body(self, name: str) -> int:
        written = self.shaped.written.get(name)
        if written is None:
            return super().body(name)
        share, made = self.share, self.made
        first, shape, _ = written
        nodes = list(map(self.atoms.__getitem__, self.shaped.texts[first : first + shape.size]))
        for step in shape.steps:
            kind, parts, minimum, maximum = step
            below = parts(nodes)
            if not share:
                nodes.append(self.made_of(kind, below, minimum, maximum))
                continue
            key = below if kind == IN_ROW else (kind, below, minimum, maximum)
            node = made.get(key)
            if node is None:
                node = made[key] = self.made_of(kind, below, minimum, maximum)
            nodes.append(node)
        return nodes[shape.only]

    def made_of(self, kind: int, below: Any, minimum: int, maximum: int | None) -> int:
        graph = self.graph
        if kind == IN_ROW:
            return graph.sequence(below)
        if kind == EITHER:
            return graph.choice(below)
        return graph.repeat(below, minimum, maximum) if kind == TIMES else graph.empty


_MARKS = frozenset("()[]*+?|")


class _Atoms(dict[str, int]):
    """By text the node of a token, made when it is met."""

    def __init__(self, make: Callable[[str], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> int:
        found = self[text] = self._make(text)
        return found
