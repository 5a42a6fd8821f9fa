"""From a grammar to the language that the mask engine reads.

The language is what Lark's Earley parser with `lexer="dynamic_complete"` accepts (`lexing="dynamic"`): every
terminal may match as much or as little as its pattern can, and ignored text may stand before, between and
after terminals.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal as OneOf

from sglc.automata import term as t
from sglc.automata.charset import Ranges
from sglc.automata.dfa import EMPTY_WORD
from sglc.automata.term import Language, Term
from sglc.grammar.checks import check_names
from sglc.grammar.contexts import ALL, Contexts
from sglc.grammar.errors import GrammarError
from sglc.grammar.factoring import Factoring
from sglc.grammar.graph import CHOICE, LEAF, RULE, SEQUENCE, Graph, bounds, build_graph
from sglc.grammar.left_recursion import remove_left_recursion
from sglc.grammar.lexing import Lexis, dynamic_lexis, longest_lexis, plain_lexis, rivals_of
from sglc.grammar.model import Grammar
from sglc.grammar.parsing import Parser
from sglc.grammar.pause import without_collection
from sglc.grammar.regular import alternation
from sglc.grammar.regular_parts import Regular
from sglc.grammar.rivals import Rivals
from sglc.grammar.terminals import Token, Tokens

Lexing = OneOf["dynamic", "longest"]


@dataclass(frozen=True, slots=True)
class GrammarOptions:
    """How a grammar becomes a language.

    lexing        `dynamic`: terminals match as their patterns can; `longest`: as a lexer would match them
    ignore_ends   whether ignored text may stand at the very beginning and end
    """

    lexing: Lexing = "dynamic"
    ignore_ends: bool = True


def grammar_language(grammar: Grammar, options: GrammarOptions | None = None) -> Language:
    """The language of a grammar. Raises GrammarError for what cannot be taken over exactly."""
    with without_collection():
        return _language(grammar, options or GrammarOptions())


def _language(grammar: Grammar, options: GrammarOptions) -> Language:
    graph, tokens, rivals = _read(grammar, options)
    lexis = _lexis(graph, grammar, tokens, rivals) if grammar.whole else None
    graph.start = graph.root
    if not graph.productive[graph.start]:
        raise GrammarError(
            f"the rule {grammar.start} has no text at all", grammar.rules[grammar.start].source,
            grammar.rules[grammar.start].at, "every way to write it needs itself",
        )  # fmt: skip
    if remove_left_recursion(graph):
        graph.analyse()
    factoring = None
    if lexis is None:
        # What follows each part of a whole is known already, so that it is left as it is. For others the
        # lexis comes now: without left recursion less can follow, so that fewer characters matter.
        factoring = Factoring(graph)
        lexis = plain_lexis(graph, grammar, tokens) if rivals is None else None
        if lexis is None:
            factoring.all(graph.start)
            lexis = _lexis(graph, grammar, tokens, rivals)
    contexts = Contexts(graph, lexis)
    if contexts.dead(graph.start, ALL):
        raise GrammarError(
            f"the rule {grammar.start} has no text at all", grammar.rules[grammar.start].source,
            grammar.rules[grammar.start].at, "each terminal takes the beginning of what should follow it",
        )  # fmt: skip
    return _Emitter(graph, lexis, contexts, factoring).language(options.ignore_ends)


def parser_of(grammar: Grammar, options: GrammarOptions) -> Parser:
    """What finds parse trees of the texts of a grammar."""
    graph, tokens, rivals = _read(grammar, options)
    lexis = _lexis(graph, grammar, tokens, rivals)
    graph.start = graph.root
    return Parser(graph, lexis)


def _read(grammar: Grammar, options: GrammarOptions) -> tuple[Graph, Tokens, Rivals | None]:
    """The graph as it was written, its terminals, and which of these are tried together."""
    check_names(grammar)
    tokens = Tokens(grammar)
    graph = build_graph(grammar, tokens)
    rivals = None
    if options.lexing == "longest":
        rivals = rivals_of(graph, grammar, tokens)
    graph.prune()
    return graph, tokens, rivals


def _lexis(graph: Graph, grammar: Grammar, tokens: Tokens, rivals: Rivals | None) -> Lexis:
    if rivals is None:
        return dynamic_lexis(graph, grammar, tokens)
    return longest_lexis(graph, grammar, tokens, rivals)


class _Emitter:
    """Terms of a graph without left recursion.

    A node may be read in several contexts (see `contexts`); each has its own term.
    """

    def __init__(
        self, graph: Graph, lexis: Lexis, contexts: Contexts, factoring: Factoring | None
    ) -> None:  # fmt: skip
        self.graph = graph
        self.lexis = lexis
        self.contexts = contexts
        self.below: Callable[[int], tuple[int, ...]] = (
            graph.below.__getitem__ if factoring is None else factoring.below
        )
        self.regular = Regular(graph, lexis, self.below)
        self.terms: dict[tuple[int, int], Term] = {}
        self.names: dict[tuple[int, int], str] = {}
        self.keys: dict[str, tuple[int, int]] = {}
        """What the rules that have been named so far stand for."""
        self.skips: dict[int, Term] = {}

    def language(self, ignore_ends: bool) -> Language:
        """The start with ignored text before it; each terminal is followed by it."""
        start = self.graph.start
        root = self.term(start, ALL)
        if self.lexis.skip is not None and ignore_ends:
            before = self.contexts.before(start, ALL)
            root = t.Sequence((self.skip(before), root))
        return Language(root, _Rules(self))

    def body(self, name: str) -> Term:
        """The term of a rule."""
        node, alive = self.keys[name]
        return self.term(self.below(node)[0], alive)

    def term(self, node: int, alive: int) -> Term:
        key = (node, self.contexts.narrowed(node, alive))
        found = self.terms.get(key)
        if found is None:
            found = self.terms[key] = self.make(*key)
        return found

    def make(self, node: int, alive: int) -> Term:
        graph = self.graph
        kind, below = graph.kind[node], self.below(node)
        if self.contexts.dead(node, alive):
            return t.Nothing()
        plain = self.regular.term(node)
        if plain is not None:
            return plain
        if kind == LEAF:
            return self.leaf(node, alive)
        if kind == RULE:
            return self.rule(node, alive)
        if kind == SEQUENCE:
            return self.sequence(below, alive)
        if kind == CHOICE:
            return self.choice(below, alive)
        return self.repeat(node, alive)

    def repeat(self, node: int, alive: int) -> Term:
        """A repetition; where terminals look ahead, turns that end otherwise are written apart."""
        inner = self.graph.below[node][0]
        must, may = self.contexts.turns(node, alive)
        if len(must) <= 1 and len(may) <= 1 and (not must or not may or must[0][0] == may[0][0]):
            if not must and not may:
                return t.Bytes(b"")
            minimum, maximum = bounds(self.graph.about[node])
            return t.Repeat(self.term(inner, (must or may)[0][0]), minimum, maximum if may else minimum)
        found = [t.Repeat(self.term(inner, need), count or 0, count) for need, count in must]
        rest: Term | None = None
        for need, count in reversed(may):
            item = self.term(inner, need)
            if rest is None or count is None:
                rest = t.Repeat(item, 0, count)
            else:
                fewer: Term = t.Repeat(item, 0, count - 1) if count > 1 else t.Bytes(b"")
                rest = t.Choice((fewer, t.Sequence((t.Repeat(item, count, count), rest))))
        return t.Sequence((*found, *(() if rest is None else (rest,))))

    def rule(self, node: int, alive: int) -> Term:
        key = (node, alive)
        name = self.names.get(key)
        if name is None:
            wanted = name = str(self.graph.about[node])
            count = 1
            while name in self.keys:
                count += 1
                name = f"{wanted}.{count}"
            self.keys[name] = key
            self.names[key] = name
        return t.Rule(name)

    def sequence(self, items: tuple[int, ...], alive: int) -> Term:
        """Neighbours that are regular and written in place become one text."""
        if not items:
            return t.Bytes(b"")
        parts: list[Term] = []
        run: list[int] = []
        needs = self.contexts.items(items, alive)
        for item, need in zip((*items, -1), (*needs, ALL), strict=True):
            if item >= 0 and self.regular.in_place(item):
                run.append(item)
                continue
            if run:
                joined = self.regular.joined(run)
                parts += [joined] if joined is not None else self.apart(run)
                run = []
            if item >= 0:
                parts.append(self.term(item, need))
        return parts[0] if len(parts) == 1 else t.Sequence(tuple(parts))

    def apart(self, run: list[int]) -> list[Term]:
        """The items of a run, neighbouring texts as one."""
        found: list[Term] = []
        for plain, group in groupby(run, lambda node: self.regular.measured(node).text is not None):
            nodes = list(group)
            joined = self.regular.joined(nodes) if plain else None
            found += [self.term(node, ALL) for node in nodes] if joined is None else [joined]
        return found

    def choice(self, arms: tuple[int, ...], alive: int) -> Term:
        arms = tuple(arm for arm in arms if not self.contexts.dead(arm, alive))
        regular = [arm for arm in arms if self.regular.in_place(arm) and arm != self.graph.empty]
        found: list[Term] = []
        either = self.regular.either(regular)
        if either is not None:
            merged = set(regular)
            found.append(either)
            arms = tuple(arm for arm in arms if arm not in merged)
        found += [self.term(arm, alive) for arm in arms]
        return found[0] if len(found) == 1 else t.Choice(tuple(found))

    # Terminals

    def leaf(self, node: int, alive: int) -> Term:
        about = self.graph.about[node]
        exact = about.exact if isinstance(about, Token) else None
        arms: list[Term] = []
        for dfa, barred in self.contexts.alive_parts(node, alive):
            if exact is not None:
                arms.append(_followed(t.Bytes(exact.encode()), barred))
            elif isinstance(about, Token) and about.words and self.lexis.whole:
                arms.append(_followed(t.Words(frozenset(text.encode() for text in about.words)), barred))
            else:
                arms.append(_followed(t.Text(dfa), barred))
        terminal = arms[0] if len(arms) == 1 else t.Choice(tuple(arms))
        if self.lexis.skip is None:
            return terminal
        return t.Sequence((terminal, self.skip(alive)))

    def skip(self, alive: int) -> Term:
        """What may stand between two terminals."""
        found = self.skips.get(alive)
        if found is None:
            arms: list[Term] = []
            free = [EMPTY_WORD]
            for dfa, barred in self.contexts.alive_skip(alive):
                if barred:
                    arms.append(_followed(t.Text(dfa), barred))
                else:
                    free.append(dfa)
            arms.insert(0, t.Text(alternation(free)))
            found = self.skips[alive] = arms[0] if len(arms) == 1 else t.Choice(tuple(arms))
        return found


class _Rules(t.LateRules):
    """The rules of a grammar by name, whose terms are made when they are asked for; in the order of that."""

    def __init__(self, emitter: _Emitter) -> None:
        self._emitter = emitter
        self._made: dict[str, Term] = {}
        self._lock = threading.RLock()

    def may_be_empty(self, name: str) -> bool:
        node, _ = self._emitter.keys[name]
        return bool(self._emitter.graph.nullable[node])

    def make_all(self) -> None:
        """Make all that are reached."""
        with self._lock:
            while len(self._made) < len(self._emitter.keys):
                for name in list(self._emitter.keys):
                    self[name]

    def __getitem__(self, name: str) -> Term:
        found = self._made.get(name)
        if found is None:
            with self._lock:
                found = self._made[name] = self._emitter.body(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._emitter.keys

    def __iter__(self) -> Iterator[str]:
        self.make_all()
        return iter(list(self._emitter.keys))

    def __len__(self) -> int:
        self.make_all()
        return len(self._emitter.keys)


def _followed(term: Term, barred: Ranges) -> Term:
    return t.Sequence((term, t.NotBefore(barred))) if barred else term
