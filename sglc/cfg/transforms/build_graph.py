"""The graph of a grammar as it was written: a node for each part, leaves for terminals."""

from __future__ import annotations

from sglc.automata import charset
from sglc.automata.dfa.nfa_union import alternation, joined, repeated
from sglc.automata.dfa.operations import TooLarge, any_char_class, difference, literal, words
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.terminals import Token, Tokens
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, SEQUENCE, Graph
from sglc.source import Source

MAX_DEPTH = 200
"""Nesting of one rule's body."""


def build_graph(grammar: g.Grammar, tokens: Tokens, *, share: bool = False) -> Graph:
    """The graph of all rules that the whole needs, which is its start; leaves are single terminals.

    With `share`, equal parts are one node.
    """
    return _Builder(grammar, tokens, share).graph_of_all()


class _Builder:
    def __init__(self, grammar: g.Grammar, tokens: Tokens, share: bool) -> None:
        self.graph = Graph()
        self.share = share
        self.made: dict[object, int] = {}
        """What has been made of the same parts in the same way, where parts are shared."""
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

    def node(self, item: g.Expression, depth: int) -> int:
        known = self.known.get(id(item))
        if known is not None:
            return known
        if depth > MAX_DEPTH:
            raise GrammarError(f"a rule is nested more than {MAX_DEPTH} deep", self.source)
        kind = type(item)
        if kind is g.Sequence:
            return self.composed(SEQUENCE, self.nodes(item.items, depth + 1))  # type: ignore[union-attr]
        if kind is g.Alternatives:
            return self.composed(CHOICE, self.nodes(item.arms, depth + 1))  # type: ignore[union-attr]
        if kind is g.Literal or kind is g.Pattern:
            found = self.token(self.tokens.written(item, self.source))  # type: ignore[arg-type]
            self.known[id(item)] = found
            return found
        if kind is g.Reference:
            name = item.name  # type: ignore[union-attr]
            found = self.rule(name) if name in self.grammar.rules else self.token(self.tokens.named(name))
            self.known[id(item)] = found
            return found
        if kind is g.Repeat:
            assert isinstance(item, g.Repeat)
            return self.composed(REPEAT, [self.node(item.item, depth + 1)], item.minimum, item.maximum)
        if kind is g.Named:
            return self.node(item.item, depth + 1)  # type: ignore[union-attr]
        if kind is g.Characters:
            return self.leaf(any_char_class(item.points))  # type: ignore[union-attr]
        if kind is g.Words:
            return self.words(item.texts, item.at)  # type: ignore[union-attr]
        if kind is g.Given:
            raise GrammarError(f"the value of {item.shown} is not known yet", self.source, item.at)  # type: ignore[union-attr]
        assert isinstance(item, g.Difference)
        return self.difference(item)

    def composed(self, kind: int, below: list[int], minimum: int = 0, maximum: int | None = None) -> int:
        """The node of some parts; where parts are shared, the one that has been made of the same before."""
        key = (kind, minimum, maximum, *below)
        node = self.made.get(key)
        if node is None:
            if kind == REPEAT:
                node = self.graph.repeat(below[0], minimum, maximum)
            else:
                node = self.graph.sequence(below) if kind == SEQUENCE else self.graph.choice(below)
            if self.share:
                self.made[key] = node
        return node

    def nodes(self, items: tuple[g.Expression, ...], depth: int) -> list[int]:
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
        parts = [(difference(dfa, literal("")), forbidden) for dfa, forbidden in token.automaton]
        kept = tuple((dfa, forbidden) for dfa, forbidden in parts if dfa.edges)
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

    def difference(self, item: g.Difference) -> int:
        try:
            return self.leaf(difference(self.regular(item.item, 0), self.regular(item.without, 0)))
        except TooLarge as fault:
            raise GrammarError(f"a difference needs {fault}", self.source, item.at) from None
        except GrammarError as fault:
            if fault.at >= 0:
                raise
            raise GrammarError(fault.reason, self.source, item.at, fault.hint) from None

    def regular(self, item: g.Expression, depth: int) -> CharDfa:
        """The texts of an expression without recursion."""
        if depth > MAX_DEPTH:
            raise GrammarError(
                "a difference is taken of regular parts only", self.source, -1, "this one is recursive"
            )
        match item:
            case g.Literal(text, ignore_case):
                if not ignore_case:
                    return literal(text)
                return joined(
                    [any_char_class(charset.ignoring_case(((ord(char), ord(char)),))) for char in text]
                )
            case g.Characters(points):
                return any_char_class(points)
            case g.Words(texts):
                return words(texts)
            case g.Sequence(items):
                return joined([self.regular(inner, depth + 1) for inner in items])
            case g.Alternatives(arms):
                return alternation([self.regular(arm, depth + 1) for arm in arms])
            case g.Repeat(inner, minimum, maximum):
                return repeated(self.regular(inner, depth + 1), minimum, maximum)
            case g.Named(inner):
                return self.regular(inner, depth + 1)
            case g.Difference(inner, without):
                return difference(self.regular(inner, depth + 1), self.regular(without, depth + 1))
            case g.Reference(name):
                if name in self.grammar.rules:
                    return self.regular(self.grammar.rules[name].body, depth + 10)
                return self.regular(self.grammar.terminals[name].body, depth + 10)
            case g.Pattern():
                token = self.tokens.written(item, self.source)
                return alternation([dfa for dfa, _ in token.automaton])
            case g.Given():
                raise GrammarError(f"the value of {item.shown} is not known yet", self.source, item.at)
