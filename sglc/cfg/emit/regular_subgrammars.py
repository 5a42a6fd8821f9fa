"""Merges regular parts of a grammar into automata.

A rule that is written character by character (a string as a quote, characters and a quote) becomes one text,
so that it is read by one automaton state instead of one state for each open alternative. Different rules stay
separate, so that all their callers share what they read; so do terminals with a pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sglc.automata import term as t
from sglc.automata.dfa.nfa_union import Nfa
from sglc.automata.dfa.operations import TooLarge, all_words
from sglc.automata.term import Term
from sglc.cfg.lexer.lexical_spec import LexicalSpec
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph, bounds

_UNROLLED = 200
"""States that a part may unroll to."""
_STATES = 500
"""States of its automaton."""
_NESTED = 8
"""Rules inside of each other in one part."""
_SMALL = 4
"""States of a terminal that is merged with its neighbours."""


class Measured(NamedTuple):
    """What a node unrolls to.

    cost   about how many states, 0 where a node is not regular or too large
    mixed  whether it has more than plain texts, so that merging pays
    text   the one text it reads, if it is that plain
    """

    cost: int = 0
    mixed: bool = False
    text: str | None = None

    @property
    def lost(self) -> bool:
        """Whether the node cannot be part of an automaton."""
        return not self.cost and self.text is None


_NOT_REGULAR = Measured()


class Regular:
    """Measures nodes at first use and merges the regular ones. `below` gives the parts of a node."""

    def __init__(self, graph: Graph, spec: LexicalSpec, below: Callable[[int], tuple[int, ...]]) -> None:
        self.graph = graph
        self.spec = spec
        self.below = below
        self._measured: dict[int, Measured] = {}
        self._joined: dict[tuple[int, ...], Term | None] = {}
        self._forms: dict[int, int] = {}
        self._numbers: dict[object, int] = {}

    def in_place(self, node: int) -> bool:
        """Whether a node may be merged with its neighbours."""
        return self.graph.kind[node] != RULE and self.measured(node).cost > 0

    def term(self, node: int) -> Term | None:
        """The text of a regular node, None if it is read part by part."""
        found = self.measured(node)
        if found.text is not None:
            return t.Bytes(found.text.encode())
        if self.graph.kind[node] == REPEAT:
            counted = self._counted(node)
            if counted is not None:
                return counted
        if not found.cost or not found.mixed:
            return None
        inner = node
        while self.graph.kind[inner] == RULE or self.graph.about[inner] == (0, 1):
            below = self.below(inner)
            if not below:
                return None
            inner = below[0]
        if self.graph.kind[inner] == SEQUENCE and self._apart(list(self.below(inner))):
            return None
        return self.joined([node])

    def joined(self, run: list[int]) -> Term | None:
        """Neighbours as one text."""
        parts = [self.measured(node) for node in run]
        texts = [part.text for part in parts if part.text is not None]
        if len(texts) == len(parts):
            return t.Bytes("".join(texts).encode())
        if not any([part.mixed for part in parts]) or sum([part.cost for part in parts]) > _UNROLLED:
            return None
        if len(run) > 1 and self._apart(run):
            return None
        key = tuple([self._form(node) for node in run])
        if key not in self._joined:
            nfa = Nfa(_STATES)
            try:
                start = end = nfa.state()
                for node in run:
                    end = self._unroll(nfa, node, end)
                self._joined[key] = t.Text(nfa.determinise(start, end))
            except TooLarge:
                self._joined[key] = None
        return self._joined[key]

    def _apart(self, run: list[int]) -> bool:
        """Whether a run is texts, or choices of them, and one terminal: it is read as it is."""
        patterns = [node for node in run if self.measured(node).mixed]
        return len(patterns) == 1 and self.graph.kind[patterns[0]] == LEAF

    def _form(self, node: int) -> int:
        """A number that nodes of the same form share."""
        found = self._forms.get(node)
        if found is None:
            key: object = node
            if self.graph.kind[node] not in (LEAF, RULE):
                about = self.graph.about[node]
                key = (self.graph.kind[node], about, *map(self._form, self.below(node)))
            found = self._forms[node] = self._numbers.setdefault(key, len(self._numbers))
        return found

    def either(self, arms: list[int]) -> Term | None:
        """Alternatives as one text, None if that does not pay."""
        parts = [self.measured(arm) for arm in arms]
        if len(arms) < 2 or not any([part.mixed for part in parts]):
            return None
        if sum([part.cost for part in parts]) > _UNROLLED:
            return None
        nfa = Nfa(_STATES)
        try:
            start, end = nfa.state(), nfa.state()
            for arm in arms:
                begin = nfa.state()
                nfa.silent[start].append(begin)
                nfa.silent[self._unroll(nfa, arm, begin)].append(end)
            return t.Text(nfa.determinise(start, end))
        except TooLarge:
            return None

    def measured(self, node: int) -> Measured:
        """What a node unrolls to."""
        known = self._measured
        found = known.get(node)
        if found is not None:
            return found
        if self.spec.skip is not None or node in self.graph.apart:
            # Ignored text stands between terminals, so that nothing is regular as it is written.
            found = known[node] = _NOT_REGULAR
            return found
        # Depth first. What is met below itself is in a cycle, which is not regular.
        path = [(node, self._asked(node))]
        known[node] = _NOT_REGULAR
        parted = False
        looked = 0
        nested = int(self.graph.kind[node] == RULE)
        while path:
            here, asked = path[-1]
            kind = self.graph.kind[here]
            unknown = next((inner for inner in asked if inner not in known), None)
            if unknown is None:
                known[here] = self._measure(here)
                path.pop()
                looked += kind != RULE
                nested -= kind == RULE
                continue
            parted = parted or kind == REPEAT or (kind == CHOICE and len(self.below(here)) > 1)
            if nested > _NESTED or (parted and looked > _UNROLLED):
                # The node is too large. What is below it is left for when it is asked for, but for what is
                # nested half as deep.
                for inner, _ in path[1:]:
                    nested -= self.graph.kind[inner] == RULE
                    if nested < _NESTED // 2:
                        del known[inner]
                break
            known[unknown] = _NOT_REGULAR
            if unknown in self.graph.apart:
                continue
            nested += self.graph.kind[unknown] == RULE
            path.append((unknown, self._asked(unknown)))
        return known[node]

    def _asked(self, node: int) -> Iterator[int]:
        """The parts of a node that decide about it, as far as they do."""
        several = self.graph.kind[node] == CHOICE
        cost = 0
        for inner in self.below(node):
            yield inner
            found = self._measured[inner]
            cost += found.cost
            if found.lost or (several and (not found.cost or cost > _UNROLLED)):
                return

    def _measure(self, node: int) -> Measured:
        kind = self.graph.kind[node]
        if kind == LEAF:
            return self._measure_leaf(node, self.graph.about[node])
        parts = [self._measured[inner] for inner in self._asked(node)]
        below = self.below(node)
        if len(parts) < len(below) or any([part.lost for part in parts]):
            return _NOT_REGULAR
        cost = sum([part.cost for part in parts]) + 1 if all([part.cost for part in parts]) else 0
        mixed = any([part.mixed for part in parts])
        text = None
        if kind == SEQUENCE:
            texts = [part.text for part in parts if part.text is not None]
            text = "".join(texts) if len(texts) == len(parts) else None
        elif kind == REPEAT:
            minimum, maximum = bounds(self.graph.about[node])
            cost, mixed = (parts[0].cost * max(minimum, maximum or 1) + 1, True) if cost else (0, False)
        elif not parts:
            return _NOT_REGULAR
        elif kind == CHOICE:
            text = parts[0].text if len(parts) == 1 else None
        else:
            cost, mixed, text = parts[0]
        return Measured(cost if cost <= _UNROLLED else 0, mixed, text)

    def _measure_leaf(self, node: int, about: object) -> Measured:
        if isinstance(about, Token) and about.exact is not None and self.spec.plain:
            return Measured(len(about.exact) + 1, False, about.exact)
        parts = self.spec.parts.get(node, ())
        if len(parts) != 1 or parts[0][1]:
            return _NOT_REGULAR
        size = len(parts[0][0].edges)
        if isinstance(about, Token):
            if about.exact is not None:
                return Measured(len(about.exact) + 1, False, about.exact)
            return Measured(size, True) if not about.words and size <= _SMALL else _NOT_REGULAR
        return Measured(size, True)

    def _unroll(self, nfa: Nfa, node: int, source: int) -> int:
        graph = self.graph
        kind, below, about = graph.kind[node], self.below(node), graph.about[node]
        if kind == LEAF:
            if isinstance(about, Token) and about.exact is not None:
                return nfa.text(about.exact, source)
            return nfa.automaton(self.spec.parts[node][0][0], source)
        if kind == SEQUENCE or kind == RULE:
            for item in below:
                source = self._unroll(nfa, item, source)
            return source
        end = nfa.state()
        if kind == CHOICE:
            for arm in below:
                begin = nfa.state()
                nfa.silent[source].append(begin)
                nfa.silent[self._unroll(nfa, arm, begin)].append(end)
            return end
        minimum, maximum = bounds(about)
        for _ in range(minimum):
            source = self._unroll(nfa, below[0], source)
        if maximum is None:
            hub = nfa.state()
            begin = nfa.state()
            nfa.silent[source].append(hub)
            nfa.silent[hub] += (begin, end)
            nfa.silent[self._unroll(nfa, below[0], begin)].append(hub)
            return end
        for _ in range(maximum - minimum):
            begin = nfa.state()
            nfa.silent[source] += (end, begin)
            source = self._unroll(nfa, below[0], begin)
        nfa.silent[source].append(end)
        return end

    def _counted(self, node: int) -> Term | None:
        """A count of single characters is a count of the text, however high it goes."""
        item = self.below(node)[0]
        found = self.measured(item)
        if self.graph.kind[item] != LEAF or not found.cost or not found.mixed:
            return None
        dfa = self.spec.parts[item][0][0]
        if len(dfa.edges) != 2 or dfa.edges[1] or 0 in dfa.accepting:
            return None
        points = tuple((low, high) for low, high, _ in dfa.edges[0])
        minimum, maximum = bounds(self.graph.about[node])
        return t.Text(all_words(points), "raw", minimum, maximum)
