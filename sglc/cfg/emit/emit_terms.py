"""Emits the terms of a grammar graph lazily: a rule's term is made at its first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import groupby

from sglc.automata import term as t
from sglc.automata import work
from sglc.automata.charset import Ranges, leading_bytes
from sglc.automata.dfa.nfa_union import alternation
from sglc.automata.dfa.operations import EMPTY_WORD
from sglc.automata.term import Language, Term
from sglc.cfg.analysis.first_sets import FirstSets
from sglc.cfg.emit.lookahead_classes import ALL, LookaheadRelations
from sglc.cfg.emit.regular_subgrammars import Regular
from sglc.cfg.lexer.lexeme_parts import first_of
from sglc.cfg.lexer.lexical_spec import LexicalSpec
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.graph import CHOICE, LEAF, RULE, SEQUENCE, Graph, bounds
from sglc.cfg.transforms.left_factoring import Factoring

_MANY = 24
"""So many alternatives are looked through for words that they begin with."""
_DEEP = 8
"""Rules that are looked into for the same."""
_Rest = tuple[int, int, int, tuple[tuple[int, ...], ...]]
"""What comes after the text of a terminal: (its leaf, the classes in which that may end, the classes in which
the whole may end, the parts behind it in one or several ways)."""


class Emitter:
    """Terms of a graph without left recursion.

    A node may be read in several contexts (see `lookahead`); each has its own term.
    """

    def __init__(
        self, graph: Graph, spec: LexicalSpec, lookahead: LookaheadRelations, factoring: Factoring | None
    ) -> None:
        self.graph = graph
        self.spec = spec
        self.lookahead = lookahead
        self.below: Callable[[int], tuple[int, ...]] = (
            graph.below.__getitem__ if factoring is None else factoring.below
        )
        self.regular = Regular(graph, spec, self.below)
        self.skipped = leading_bytes(first_of(spec.skip or ()))
        self.first = FirstSets(graph, self.leading)
        self.terms: dict[tuple[int, int], Term] = {}
        self.open: set[tuple[int, int]] = set()
        """Those that are being made."""
        self.names: dict[tuple[int, int], str] = {}
        self.rests: dict[_Rest, str] = {}
        self.keys: dict[str, tuple[int, int] | _Rest] = {}
        """What the rules that have been named so far stand for."""
        self.named: list[str] = []
        """Those rules in their order."""
        self.counts: dict[str, int] = {}
        """How many names were made of one that was wanted."""
        self.ways: dict[frozenset[tuple[int, ...]], tuple[tuple[int, ...], ...]] = {}
        self.units: dict[int, int] = {}
        self.beginnings: dict[int, tuple[tuple[int, tuple[int, ...]], ...] | None] = {}
        """See `begun`; of choices."""
        self.skips: dict[int, Term] = {}

    def language(self, ignore_ends: bool) -> Language:
        """The start with ignored text before it; each terminal is followed by it."""
        start = self.graph.start
        root = self.term(start, ALL)
        if self.spec.skip is not None and ignore_ends:
            before = self.lookahead.before(start, ALL)
            root = t.Sequence((self.skip(before), root))
        return Language(root, _Rules(self), grammar=True)

    def body(self, name: str) -> Term:
        """The term of a rule."""
        key = self.keys[name]
        if len(key) == 4:
            return self.rest(*key)
        node, alive = key
        return self.term(self.below(node)[0] if self.graph.kind[node] == RULE else node, alive)

    def may_be_empty(self, name: str) -> bool:
        """Whether a named rule has the empty text."""
        key = self.keys[name]
        nullable = self.graph.nullable
        if len(key) == 4:
            return any([all([nullable[item] for item in items]) for items in key[3]])
        return bool(nullable[key[0]])

    def first_bytes(self, name: str) -> int:
        """At least the bytes with which a rule begins: that terminals look ahead is left out."""
        key = self.keys[name]
        if len(key) != 4:
            return self.first[key[0]]
        found = self.skipped
        for items in key[3]:
            found |= self.first.of_sequence(items)
        return found

    def leading(self, leaf: int) -> int:
        """The bytes with which texts of a leaf begin."""
        about = self.graph.about[leaf]
        if isinstance(about, Token) and about.exact:
            return 1 << about.exact.encode()[0]
        found = leading_bytes(first_of(self.spec.parts[leaf]))
        return found | self.skipped if self.graph.nullable[leaf] else found

    def leading_any(self) -> int:
        """The bytes with which any of the terminals begins, or ignored text."""
        found = self.skipped
        for leaf in self.spec.parts:
            found |= self.leading(leaf)
        return found

    def term(self, node: int, alive: int) -> Term:
        """The term of a node, where only the ends in the bit set `alive` can be gone on from; made once."""
        if self.graph.kind[node] == RULE:
            node = self.unit(node)
        key = (node, self.lookahead.narrowed(node, alive))
        found = self.terms.get(key)
        if found is None:
            if key in self.open:
                # Parts that are factored may be inside themselves without a rule between.
                return self.rule(*key, "part")
            self.open.add(key)
            try:
                found = self.terms[key] = self.make(*key)
            finally:
                self.open.discard(key)
        return found

    def unit(self, rule: int) -> int:
        """A rule that is only another one is that."""
        found = self.units.get(rule)
        if found is None:
            kind, below = self.graph.kind, self.graph.below
            path = [rule]
            while kind[below[path[-1]][0]] == RULE and path[-1] not in self.units:
                path.append(below[path[-1]][0])
            found = self.units.get(path[-1], path[-1])
            for node in path:
                self.units[node] = found
        return found

    def make(self, node: int, alive: int) -> Term:
        """The term of a node, made anew."""
        graph = self.graph
        kind = graph.kind[node]
        if self.lookahead.dead(node, alive):
            return t.Nothing()
        plain = self.regular.term(node)
        if plain is not None:
            return plain
        if kind == LEAF:
            return self.leaf(node, alive)
        if kind == RULE:
            return self.rule(node, alive, str(graph.about[node]))
        if kind == SEQUENCE:
            return self.sequence(graph.below[node], alive)
        if kind == CHOICE:
            return self.choice(node, alive)
        return self.repeat(node, alive)

    def repeat(self, node: int, alive: int) -> Term:
        """A repetition; where terminals look ahead, turns that end otherwise are written apart."""
        inner = self.graph.below[node][0]
        must, may = self.lookahead.turns(node, alive)
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

    def rule(self, node: int, alive: int, wanted: str) -> Term:
        """A node by the name of a rule."""
        key = (node, alive)
        name = self.names.get(key)
        if name is None:
            name = self.names[key] = self.name(wanted, key)
        return t.Rule(name)

    def name(self, wanted: str, key: tuple[int, int] | _Rest) -> str:
        """A name for a rule that no other has: the wanted one, with a number if it is taken."""
        name = wanted
        while name in self.keys:
            count = self.counts[wanted] = self.counts.get(wanted, 1) + 1
            name = f"{wanted}.{count}"
        self.keys[name] = key
        self.named.append(name)
        return name

    def sequence(self, items: tuple[int, ...], alive: int) -> Term:
        """Neighbours that are regular and written in place become one text."""
        if not items:
            return t.Bytes(b"")
        parts: list[Term] = []
        run: list[int] = []
        needs = self.lookahead.items(items, alive)
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

    def choice(self, node: int, alive: int) -> Term:
        """The term of a choice: beginnings factored, regular arms in one automaton, others as they are."""
        found, arms = self.cases(node, alive)
        arms = tuple([arm for arm in arms if not self.lookahead.dead(arm, alive)])
        regular = [arm for arm in arms if self.regular.in_place(arm) and arm != self.graph.empty]
        either = self.regular.either(regular)
        if either is not None:
            merged = set(regular)
            found.append(either)
            arms = tuple(arm for arm in arms if arm not in merged)
        found += [self.term(arm, alive) for arm in arms]
        return found[0] if len(found) == 1 else t.Choice(tuple(found))

    def cases(self, node: int, alive: int) -> tuple[list[Term], tuple[int, ...]]:
        """The arms of a choice that begin with a plain text, by it, and the others; all if they are few.

        What follows a text is a rule, so that its term is made when the text has been read.
        """
        graph, lookahead = self.graph, self.lookahead
        if len(graph.below[node]) < _MANY:
            return [], self.below(node)
        texts: dict[int, dict[tuple[int, ...], None]] = {}
        others: list[int] = []
        waiting = list(graph.below[node])[::-1]
        while waiting:
            arm = waiting.pop()
            if graph.kind[arm] == CHOICE:
                waiting += graph.below[arm][::-1]
                continue
            found = self.begun(arm, 0)
            if found is None:
                others.append(arm)
            else:
                for first, rest in found:
                    texts.setdefault(first, {})[rest] = None
        if sum(map(len, texts.values())) < _MANY:
            return [], self.below(node)
        terms: list[Term] = []
        for leaf, rests in texts.items():
            word = t.Bytes(graph.about[leaf].exact.encode())  # type: ignore[attr-defined]
            by_need: dict[int, list[tuple[int, ...]]] = {}
            for rest in rests:
                need = lookahead.items((leaf, *rest), alive)[0]
                if not lookahead.dead(leaf, need):
                    by_need.setdefault(need, []).append(rest)
            for need, some in by_need.items():
                # The same ways in another order are the same place.
                ways = tuple(some) if len(some) == 1 else self.ways.setdefault(frozenset(some), tuple(some))
                terms.append(t.Sequence((word, self.rest_rule((leaf, need, alive, ways)))))
        if lookahead.plain and len(others) > 1:
            return terms, self.below(graph.choice(others))
        return terms, tuple(others)

    def begun(self, node: int, depth: int) -> tuple[tuple[int, tuple[int, ...]], ...] | None:
        """The plain texts that a node begins with, each as its leaf and the parts behind it; None if it may
        begin with anything else, or is nested deeply."""
        graph = self.graph
        if graph.kind[node] == RULE:
            node = graph.below[self.unit(node)][0]
        kind, below = graph.kind[node], graph.below[node]
        rest: tuple[int, ...] = ()
        if kind == CHOICE:
            if node not in self.beginnings:
                found: list[tuple[int, tuple[int, ...]]] | None = []
                for arm in below if depth < _DEEP else ():
                    more = self.begun(arm, depth + 1)
                    found = None if found is None or more is None else [*found, *more]
                    if found is None or len(found) > _MANY:
                        found = None
                        break
                self.beginnings[node] = tuple(found) if found else None
            return self.beginnings[node]
        if kind == SEQUENCE and below:
            node, rest = below[0], below[1:]
        token = graph.about[node]
        plain = graph.kind[node] == LEAF and isinstance(token, Token) and token.exact is not None
        return ((node, rest),) if plain else None

    def rest_rule(self, key: _Rest) -> t.Rule:
        """The rule for what stands behind a factored beginning, named once for each key."""
        name = self.rests.get(key)
        if name is None:
            name = self.rests[key] = self.name(f"after {self.graph.about[key[0]].value}", key)  # type: ignore[attr-defined]
        return t.Rule(name)

    def rest(self, leaf: int, need: int, alive: int, rests: tuple[tuple[int, ...], ...]) -> Term:
        """What may follow the text of a leaf: what the leaf forbids, ignored text, and one of the rests."""
        graph, lookahead = self.graph, self.lookahead
        if lookahead.plain:
            # Alternatives with a common prefix share its states.
            node = graph.choice([graph.sequence(rest) for rest in rests])
            follows = self.term(node, ALL)
        else:
            ways = [self.sequence(rest, alive) for rest in rests]
            follows = ways[0] if len(ways) == 1 else t.Choice(tuple(ways))
        parts: list[Term] = [] if self.spec.skip is None else [self.skip(need)]
        ends = [t.NotBefore(forbidden) for _, forbidden in lookahead.alive_parts(leaf, need) if forbidden]
        return t.Sequence((*ends, *parts, follows)) if ends or parts else follows

    # Terminals

    def leaf(self, node: int, alive: int) -> Term:
        """The term of a terminal, with the ignored text behind it if the grammar has any."""
        about = self.graph.about[node]
        exact = about.exact if isinstance(about, Token) else None
        arms: list[Term] = []
        for dfa, forbidden in self.lookahead.alive_parts(node, alive):
            if exact is not None:
                arms.append(_followed(t.Bytes(exact.encode()), forbidden))
            elif isinstance(about, Token) and about.words and self.spec.whole:
                arms.append(_followed(t.Words(frozenset(text.encode() for text in about.words)), forbidden))
            else:
                arms.append(_followed(t.Text(dfa), forbidden))
        terminal = arms[0] if len(arms) == 1 else t.Choice(tuple(arms))
        if self.spec.skip is None:
            return terminal
        return t.Sequence((terminal, self.skip(alive)))

    def skip(self, alive: int) -> Term:
        """What may stand between two terminals."""
        found = self.skips.get(alive)
        if found is None:
            arms: list[Term] = []
            free = [EMPTY_WORD]
            for dfa, forbidden in self.lookahead.alive_skip(alive):
                if forbidden:
                    arms.append(_followed(t.Text(dfa), forbidden))
                else:
                    free.append(dfa)
            arms.insert(0, t.Text(alternation(free)))
            found = self.skips[alive] = arms[0] if len(arms) == 1 else t.Choice(tuple(arms))
        return found


class _Rules(t.LateRules):
    """The rules of a grammar by name. Their terms are made at first use, and listed in that order."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._of_any: int | None = None
        self._made: dict[str, Term] = {}
        self._lock = threading.RLock()

    def may_be_empty(self, name: str) -> bool:
        with self._lock:
            return self._emitter.may_be_empty(name)

    def first_bytes(self, name: str) -> int:
        with self._lock:
            return self._emitter.first_bytes(name)

    def all_first_bytes(self) -> int:
        with self._lock:
            if self._of_any is None:
                self._of_any = self._emitter.leading_any()
            return self._of_any

    def make_all(self) -> None:
        """Make all that are reached."""
        with self._lock:
            for name in self._emitter.named:  # grows meanwhile
                self[name]

    def __getitem__(self, name: str) -> Term:
        found = self._made.get(name)
        if found is None:
            # A limit passed in the middle would leave a rule half made: it is charged when it is made.
            with self._lock, work.charged(work.WorkAccount()) as account:
                found = self._made.get(name)
                if found is None:
                    found = self._made[name] = self._emitter.body(name)
            with work.part(f"the rule {name}"):
                work.spend(account.spent)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._emitter.keys

    def __iter__(self) -> Iterator[str]:
        self.make_all()
        return iter(list(self._emitter.keys))

    def __len__(self) -> int:
        self.make_all()
        return len(self._emitter.keys)


def _followed(term: Term, forbidden: Ranges) -> Term:
    return t.Sequence((term, t.NotBefore(forbidden))) if forbidden else term
