"""From a grammar to the language that the mask engine reads.

The language is what Lark's Earley parser with `lexer="dynamic_complete"` accepts (`lexing="dynamic"`): every
terminal may match as much or as little as its pattern can, and ignored text may stand before, between and
after terminals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from sglc.automata import term as t
from sglc.automata.dfa import TooLarge, all_words, words
from sglc.automata.term import CharDfa, Language, Term
from sglc.grammar.checks import check_names
from sglc.grammar.errors import GrammarError
from sglc.grammar.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph, build_graph
from sglc.grammar.left_recursion import remove_left_recursion
from sglc.grammar.model import Grammar
from sglc.grammar.regular import Nfa
from sglc.grammar.terminals import Token, Tokens

Lexing = OneOf["dynamic", "longest"]

_MERGE = 200
"""Regular parts that unroll to more states than this are not made one automaton."""
_MERGED = 500
"""States of the automaton of a merged part."""
_SMALL_TOKEN = 4
"""States of a terminal that is merged with its neighbours."""


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
    options = options or GrammarOptions()
    check_names(grammar)
    tokens = Tokens(grammar)
    graph = build_graph(grammar, tokens)
    graph.analyse()
    if not graph.productive[graph.start]:
        raise GrammarError(
            f"the rule {grammar.start} has no text at all", grammar.rules[grammar.start].source,
            grammar.rules[grammar.start].at, "every way to write it needs itself",
        )  # fmt: skip
    remove_left_recursion(graph)
    return _Emitter(graph, grammar, tokens, options).language()


class _Emitter:
    """Terms of a graph without left recursion."""

    def __init__(self, graph: Graph, grammar: Grammar, tokens: Tokens, options: GrammarOptions) -> None:
        self.graph = graph
        self.grammar = grammar
        self.tokens = tokens
        self.options = options
        self.terms: dict[int, Term] = {}
        self.rules: dict[str, Term] = {}
        self.names: dict[int, str] = {}
        self.taken: set[str] = set()
        self.waiting: list[int] = []
        self.merged: dict[int, CharDfa | None] = {}
        self.skip = self.skipped()
        self.measure()

    def language(self) -> Language:
        root = self.term(self.graph.start)
        if self.skip is not None and self.options.ignore_ends:
            root = t.Sequence((self.skip, root))
        while self.waiting:
            node = self.waiting.pop()
            self.rules[self.names[node]] = self.term(self.graph.below[node][0])
        return Language(root, self.rules)

    # What is regular

    def measure(self) -> None:
        """For every node that is regular: roughly the states it unrolls to, and whether merging pays."""
        graph = self.graph
        size = len(graph.kind)
        self.cost: list[int] = [0] * size
        self.classes: list[bool] = [False] * size
        self.text: list[str | None] = [None] * size
        need = [len(below) for below in graph.below]
        above: list[list[int]] = [[] for _ in need]
        for node, below in enumerate(graph.below):
            for inner in below:
                above[inner].append(node)
        ready = [node for node, count in enumerate(need) if not count]
        while ready:
            node = ready.pop()
            self.measure_one(node)
            if not self.cost[node]:
                continue
            for outer in above[node]:
                need[outer] -= 1
                if not need[outer]:
                    ready.append(outer)

    def measure_one(self, node: int) -> None:
        kind, below, about = self.graph.kind[node], self.graph.below[node], self.graph.about[node]
        cost, classes, text = self.cost, self.classes, self.text
        if kind == LEAF:
            if isinstance(about, Token):
                exact = about.exact
                if exact is not None:
                    text[node] = exact
                    cost[node] = len(exact) + 1
                elif len(about.automaton) == 1 and not about.automaton[0][1]:
                    states = len(about.automaton[0][0].edges)
                    if states <= _SMALL_TOKEN:
                        cost[node], classes[node] = states, True
            elif isinstance(about, CharDfa):
                cost[node], classes[node] = len(about.edges), True
        elif kind == SEQUENCE:
            cost[node] = sum([cost[inner] for inner in below]) + 1
            classes[node] = any([classes[inner] for inner in below])
            texts = [text[inner] for inner in below]
            if None not in texts:
                text[node] = "".join(texts)  # type: ignore[arg-type]
        elif kind == CHOICE:
            if below:
                cost[node] = sum([cost[inner] for inner in below]) + 1
                classes[node] = any([classes[inner] for inner in below])
                if len(below) == 1:
                    text[node] = text[below[0]]
        elif kind == REPEAT:
            minimum, maximum = about  # type: ignore[misc]
            cost[node] = cost[below[0]] * max(minimum, maximum or 1) + 1
            classes[node] = True
        else:
            cost[node], classes[node], text[node] = cost[below[0]], classes[below[0]], text[below[0]]
        if cost[node] > _MERGE:
            cost[node] = 0 if text[node] is None else 1
        if self.skip is not None:
            # Ignored text stands between, so only single terminals are what they are.
            cost[node] = 0
            text[node] = None if kind == SEQUENCE else text[node]

    def automaton(self, node: int) -> CharDfa | None:
        """The one automaton of a regular node, None if it would be large."""
        if node in self.merged:
            return self.merged[node]
        found: CharDfa | None = None
        nfa = Nfa(_MERGED)
        try:
            start = nfa.state()
            found = nfa.determinise(start, self.unroll(nfa, node, start))
        except TooLarge:
            pass
        self.merged[node] = found
        return found

    def unroll(self, nfa: Nfa, node: int, source: int) -> int:
        graph = self.graph
        kind, below, about = graph.kind[node], graph.below[node], graph.about[node]
        if kind == LEAF:
            if isinstance(about, Token):
                exact = about.exact
                if exact is not None:
                    return nfa.text(exact, source)
                return nfa.automaton(about.automaton[0][0], source)
            if isinstance(about, CharDfa):
                return nfa.automaton(about, source)
            return nfa.automaton(words(about), source)  # type: ignore[arg-type]
        if kind == SEQUENCE or kind == RULE:
            for item in below:
                source = self.unroll(nfa, item, source)
            return source
        end = nfa.state()
        if kind == CHOICE:
            for arm in below:
                begin = nfa.state()
                nfa.silent[source].append(begin)
                nfa.silent[self.unroll(nfa, arm, begin)].append(end)
            return end
        minimum, maximum = about  # type: ignore[misc]
        for _ in range(minimum):
            source = self.unroll(nfa, below[0], source)
        if maximum is None:
            hub = nfa.state()
            nfa.silent[source].append(hub)
            begin = nfa.state()
            nfa.silent[hub] += (begin, end)
            nfa.silent[self.unroll(nfa, below[0], begin)].append(hub)
            return end
        for _ in range(maximum - minimum):
            nfa.silent[source].append(end)
            begin = nfa.state()
            nfa.silent[source].append(begin)
            source = self.unroll(nfa, below[0], begin)
        nfa.silent[source].append(end)
        return end

    # Terms

    def term(self, node: int) -> Term:
        found = self.terms.get(node)
        if found is None:
            found = self.terms[node] = self.make(node)
        return found

    def make(self, node: int) -> Term:
        graph = self.graph
        kind, below = graph.kind[node], graph.below[node]
        text = self.text[node]
        if text is not None:
            return self.followed(t.Bytes(text.encode()))
        if kind == LEAF:
            return self.followed(self.leaf(graph.about[node]))
        if self.cost[node] and self.classes[node]:
            dfa = self.automaton(node)
            if dfa is not None:
                return t.Text(dfa)
        if kind == RULE:
            return self.rule(node)
        if kind == SEQUENCE:
            return self.sequence(below)
        if kind == CHOICE:
            return self.choice(below)
        minimum, maximum = graph.about[node]  # type: ignore[misc]
        counted = self.counted(below[0], minimum, maximum)
        return counted or t.Repeat(self.term(below[0]), minimum, maximum)

    def rule(self, node: int) -> Term:
        name = self.names.get(node)
        if name is None:
            wanted = name = str(self.graph.about[node])
            count = 1
            while name in self.taken:
                count += 1
                name = f"{wanted}.{count}"
            self.taken.add(name)
            self.names[node] = name
            self.waiting.append(node)
        return t.Rule(name)

    def sequence(self, items: tuple[int, ...]) -> Term:
        """Neighbours that are regular and written in place become one text."""
        parts: list[Term] = []
        run: list[int] = []
        for item in (*items, -1):
            if item >= 0 and self.cost[item] and self.graph.kind[item] != RULE:
                run.append(item)
                continue
            if run:
                parts += self.joined(run)
                run = []
            if item >= 0:
                parts.append(self.term(item))
        return parts[0] if len(parts) == 1 else t.Sequence(tuple(parts))

    def joined(self, run: list[int]) -> list[Term]:
        if (
            len(run) > 1
            and any(self.classes[item] for item in run)
            and sum(self.cost[i] for i in run) <= _MERGE
        ):
            nfa = Nfa(_MERGED)
            try:
                start = end = nfa.state()
                for item in run:
                    end = self.unroll(nfa, item, end)
                return [t.Text(nfa.determinise(start, end))]
            except TooLarge:
                pass
        return [self.term(item) for item in run]

    def choice(self, arms: tuple[int, ...]) -> Term:
        regular = [
            arm for arm in arms if self.cost[arm] and self.graph.kind[arm] != RULE and arm != self.graph.empty
        ]
        found: list[Term] = []
        if (
            len(regular) > 1
            and any(self.classes[arm] for arm in regular)
            and sum(self.cost[arm] for arm in regular) <= _MERGE
        ):
            nfa = Nfa(_MERGED)
            try:
                start, end = nfa.state(), nfa.state()
                for arm in regular:
                    begin = nfa.state()
                    nfa.silent[start].append(begin)
                    nfa.silent[self.unroll(nfa, arm, begin)].append(end)
                found = [t.Text(nfa.determinise(start, end))]
                arms = tuple(arm for arm in arms if arm not in set(regular))
            except TooLarge:
                pass
        found += [self.term(arm) for arm in arms]
        return found[0] if len(found) == 1 else t.Choice(tuple(found))

    def counted(self, item: int, minimum: int, maximum: int | None) -> Term | None:
        """A count of single characters is a count of the text, however high it goes."""
        about = self.graph.about[item]
        if self.graph.kind[item] != LEAF or self.skip is not None:
            return None
        if isinstance(about, Token):
            if about.exact is not None or len(about.automaton) > 1 or about.automaton[0][1]:
                return None
            about = about.automaton[0][0]
        if not isinstance(about, CharDfa) or len(about.edges) != 2 or about.edges[1] or 0 in about.accepting:
            return None
        points = tuple((low, high) for low, high, _ in about.edges[0])
        return t.Text(all_words(points), "raw", minimum, maximum)

    # Terminals

    def leaf(self, about: object) -> Term:
        if isinstance(about, CharDfa):
            return t.Text(about)
        if isinstance(about, frozenset):
            return t.Words(frozenset(text.encode() for text in about))
        assert isinstance(about, Token)
        parts = [t.Text(dfa) for dfa, _ in about.automaton]
        return parts[0] if len(parts) == 1 else t.Choice(tuple(parts))

    def followed(self, terminal: Term) -> Term:
        return terminal if self.skip is None else t.Sequence((terminal, self.skip))

    def skipped(self) -> Term | None:
        """What may stand between two terminals."""
        if not self.grammar.ignore:
            return None
        tokens = [self.tokens.named(name) for name in dict.fromkeys(self.grammar.ignore)]
        nfa = Nfa()
        hub = nfa.state()
        for token in tokens:
            for dfa, _ in token.automaton:
                begin = nfa.state()
                nfa.silent[hub].append(begin)
                nfa.silent[nfa.automaton(dfa, begin)].append(hub)
        return t.Text(nfa.determinise(hub, hub))
