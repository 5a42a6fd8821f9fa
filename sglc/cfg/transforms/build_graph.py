"""The graph of a grammar as it was written: a node for each part, leaves for terminals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from sglc.automata import charset
from sglc.automata.dfa.nfa_union import alternation, joined, repeated
from sglc.automata.dfa.operations import TooLarge, any_char_class, difference, literal, words
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.terminals import Token, Tokens
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.graph import LEAF, SEQUENCE, Graph
from sglc.cfg.model.rule_templates import EITHER, IN_ROW, NOTHING, TIMES, RuleShape, ShapedRules, Step
from sglc.source import Source

MAX_DEPTH = 200
"""Nesting of one rule's body."""


def build_graph(grammar: g.Grammar, tokens: Tokens, *, share: bool = False) -> Graph:
    """The graph of all rules that the whole needs, which is its start; leaves are single terminals.

    With `share`, equal parts of several rules of one shape are one node.
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
    def __init__(self, grammar: g.Grammar, tokens: Tokens) -> None:
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
            self.make_waiting()
        if grammar.start not in self.rules:
            raise GrammarError(f"the rule {grammar.start} is no part of {grammar.whole}")
        graph.root = self.rules[grammar.start]
        graph.settle()
        return graph

    def make_waiting(self) -> None:
        """Make at least one of the rules that are still to be made."""
        node, name = self.waiting.pop()
        self.graph.define(node, self.body(name))

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
            return self.graph.sequence(self.nodes(item.items, depth + 1))  # type: ignore[union-attr]
        if kind is g.Alternatives:
            return self.graph.choice(self.nodes(item.arms, depth + 1))  # type: ignore[union-attr]
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
            return self.graph.repeat(self.node(item.item, depth + 1), item.minimum, item.maximum)
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


class _ShapedBuilder(_Builder):
    """As any builder, but for rules that are known by their shape."""

    def __init__(self, grammar: g.Grammar, tokens: Tokens, rules: ShapedRules, share: bool) -> None:
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
        if isinstance(item, g.Reference):
            return self.token(self.tokens.named(item.name))
        return self.token(self.tokens.written(item, None))

    def make_waiting(self) -> None:
        if len(self.waiting) < _MANY_ALIKE or not self.share:
            node, name = self.waiting.pop()
            self.graph.define(node, self.body(name))
            return
        waiting, self.waiting = self.waiting, []
        written = self.shaped.written
        groups: dict[int, list[tuple[int, str]]] = {}
        for node, name in waiting:
            # Shapes live as long as the grammar.
            groups.setdefault(id(written[name].shape) if name in written else 0, []).append((node, name))
        for shape, rules in groups.items():
            if shape and len(rules) >= _MANY_ALIKE:
                self.make_alike(written[rules[0][1]].shape, rules)
            else:
                self.make_each(rules)

    def make_each(self, rules: list[tuple[int, str]]) -> None:
        for node, name in rules:
            self.graph.define(node, self.body(name))

    def make_alike(self, shape: RuleShape, rules: list[tuple[int, str]]) -> None:
        """Make many rules of one shape: each step for all of them, before the next one."""
        texts, written = self.shaped.texts, self.shaped.written
        begins = [written[name].first for _, name in rules]
        tokens = [texts[first : first + shape.size] for first in begins]
        columns: list[_Column] = [
            self.atoms[column[0]] if len(set(column)) == 1 else list(map(self.atoms.__getitem__, column))
            for column in zip(*tokens, strict=True)
        ]
        graph = self.graph
        known: list[list[_Fact]] = []
        for column in columns:
            if isinstance(column, list) and any([graph.kind[node] != LEAF for node in column]):
                facts = list(map(self.fact, column))
                if len(set(facts)) > 1:
                    known.append(facts)
        if not known:
            self.make_columns(shape, rules, columns)
            return
        parts: dict[tuple[_Fact, ...], list[int]] = {}
        for number, facts_of_one in enumerate(zip(*known, strict=True)):
            parts.setdefault(facts_of_one, []).append(number)
        for numbers in parts.values():
            some = [rules[number] for number in numbers]
            if len(some) < _MANY_ALIKE:
                self.make_each(some)
                continue
            here = [
                each if isinstance(each, int) else [each[number] for number in numbers] for each in columns
            ]
            self.make_columns(shape, some, here)

    def fact(self, node: int) -> _Fact:
        """All that decides what is known of a node that this one is a part of."""
        graph = self.graph
        return (
            graph.nullable[node],
            graph.productive[node],
            graph.kind[node] == SEQUENCE,
            graph.begins[node],
        )

    def make_columns(self, shape: RuleShape, rules: list[tuple[int, str]], columns: list[_Column]) -> None:
        """`columns`: by token of the shape the nodes of all rules, of which the same is known."""
        graph, made = self.graph, self.made
        loose: set[int] = set()
        """Steps whose nodes may be of different kinds."""
        for place, step in enumerate(shape.steps, len(columns)):
            kind, _, places, minimum, maximum = step
            some = [columns[each] for each in places]
            if kind == NOTHING or all([isinstance(each, int) for each in some]):
                columns.append(self.once(step, tuple(some) if len(some) > 1 else some[0]))
                continue
            one = len(some) == 1
            parts = some[0] if one else list(zip(*[_each(each, len(rules)) for each in some], strict=True))
            assert isinstance(parts, list)
            first = self.once(step, parts[0])
            below = (parts[0],) if one else parts[0]
            # A choice may have equal arms in one rule only, and a row be a part of another row.
            if kind == EITHER or graph.below[first] != below or not loose.isdisjoint(places):
                loose.add(place)
                columns.append([self.once(step, these) for these in parts])
                continue
            keys: list[Any] = parts
            if kind != IN_ROW:
                keys = [(kind, these, minimum, maximum) for these in parts]
            fresh = [key for key in dict.fromkeys(keys) if key not in made]
            nodes = graph.add_alike(first, [(key[1],) for key in fresh] if one else fresh)
            made.update(zip(fresh, nodes, strict=True))
            columns.append(list(map(made.__getitem__, keys)))
        bodies = columns[shape.only]
        for (node, _), body in zip(rules, _each(bodies, len(rules)), strict=True):
            graph.define(node, body)

    def body(self, name: str) -> int:
        written = self.shaped.written.get(name)
        if written is None:
            return super().body(name)
        first, shape, _ = written
        nodes = list(map(self.atoms.__getitem__, self.shaped.texts[first : first + shape.size]))
        share, made = self.share, self.made
        for kind, parts, _, minimum, maximum in shape.steps:
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

    def once(self, step: Step, below: Any) -> int:
        """The node of a step, the same for the same parts."""
        kind, _, _, minimum, maximum = step
        key = below if kind == IN_ROW else (kind, below, minimum, maximum)
        node = self.made.get(key)
        if node is None:
            node = self.made[key] = self.made_of(kind, below, minimum, maximum)
        return node

    def made_of(self, kind: int, below: Any, minimum: int, maximum: int | None) -> int:
        graph = self.graph
        if kind == IN_ROW:
            return graph.sequence(below)
        if kind == EITHER:
            return graph.choice(below)
        return graph.repeat(below, minimum, maximum) if kind == TIMES else graph.empty


_Fact = tuple[int, int, bool, bool]
_Column = list[int] | int
"""The nodes of all rules, or the one that all have."""
_MANY_ALIKE = 32
"""So many rules of one shape are made together."""


def _each(column: _Column, count: int) -> Iterable[int]:
    return repeat(column, count) if isinstance(column, int) else column


_MARKS = frozenset("()[]*+?|")


class _Atoms(dict[str, int]):
    """By text the node of a token, made when it is met."""

    def __init__(self, make: Callable[[str], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> int:
        found = self[text] = self._make(text)
        return found
