"""Parts of a grammar without recursion that are better read as one automaton.

Rules that are written character by character (a string as a quote, characters and a quote) become one text,
so that they are read in one place and not in as many as there are alternatives open. Rules stay apart from
each other, so that what they read is shared by all that use them, and so do terminals with a pattern.
"""

from __future__ import annotations

from sglc.automata import term as t
from sglc.automata.dfa import TooLarge, all_words
from sglc.automata.term import CharDfa, Term
from sglc.grammar.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph, bounds
from sglc.grammar.lexing import Lexis
from sglc.grammar.regular import Nfa
from sglc.grammar.terminals import Token

_UNROLLED = 200
"""States that a part may unroll to."""
_STATES = 500
"""States of its automaton."""
_SMALL = 4
"""States of a terminal that is merged with its neighbours."""


class Regular:
    """What each node unrolls to.

    cost   about how many states, 0 where a node is not regular or too large
    mixed  whether it has more than plain texts, so that merging pays
    text   the one text it reads, if it is that plain
    """

    def __init__(self, graph: Graph, lexis: Lexis) -> None:
        self.graph = graph
        self.lexis = lexis
        size = len(graph.kind)
        self.cost = [0] * size
        self.mixed = [False] * size
        self.text: list[str | None] = [None] * size
        self._joined: dict[tuple[int, ...], Term | None] = {}
        self._forms: dict[int, int] = {}
        self._numbers: dict[object, int] = {}
        self._measure()

    def in_place(self, node: int) -> bool:
        """Whether a node may be merged with its neighbours."""
        return self.cost[node] > 0 and self.graph.kind[node] != RULE

    def term(self, node: int) -> Term | None:
        """The text of a regular node, None if it is read part by part."""
        text = self.text[node]
        if text is not None:
            return t.Bytes(text.encode())
        if self.graph.kind[node] == REPEAT:
            counted = self._counted(node)
            if counted is not None:
                return counted
        if not self.cost[node] or not self.mixed[node]:
            return None
        inner = node
        while self.graph.kind[inner] == RULE:
            inner = self.graph.below[inner][0]
        if self.graph.kind[inner] == SEQUENCE and self._apart(list(self.graph.below[inner])):
            return None
        return self.joined([node])

    def joined(self, run: list[int]) -> Term | None:
        """Neighbours as one text."""
        if all(self.text[node] is not None for node in run):
            return t.Bytes("".join([self.text[node] or "" for node in run]).encode())
        if not any(self.mixed[node] for node in run) or sum(self.cost[node] for node in run) > _UNROLLED:
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
        patterns = [node for node in run if self.mixed[node]]
        return len(patterns) == 1 and self.graph.kind[patterns[0]] == LEAF

    def _form(self, node: int) -> int:
        """A number that nodes of the same form share."""
        found = self._forms.get(node)
        if found is None:
            key: object = node
            if self.graph.kind[node] not in (LEAF, RULE):
                about = self.graph.about[node]
                key = (self.graph.kind[node], about, *map(self._form, self.graph.below[node]))
            found = self._forms[node] = self._numbers.setdefault(key, len(self._numbers))
        return found

    def either(self, arms: list[int]) -> Term | None:
        """Alternatives as one text, None if that does not pay."""
        if len(arms) < 2 or not any(self.mixed[arm] for arm in arms):
            return None
        if sum(self.cost[arm] for arm in arms) > _UNROLLED:
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

    def _measure(self) -> None:
        graph = self.graph
        need = [len(below) for below in graph.below]
        above: list[list[int]] = [[] for _ in need]
        for node, below in enumerate(graph.below):
            for inner in below:
                above[inner].append(node)
        ready = [node for node, count in enumerate(need) if not count]
        while ready:
            node = ready.pop()
            self._measure_one(node)
            if self.cost[node] > _UNROLLED:
                self.cost[node] = 0
            if self.lexis.skip is not None and graph.kind[node] != LEAF:
                # Ignored text stands between terminals, so only single ones are what they are.
                self.text[node] = None
            if self.lexis.skip is not None:
                self.cost[node] = 0
            if not self.cost[node] and self.text[node] is None:
                continue
            for outer in above[node]:
                need[outer] -= 1
                if not need[outer]:
                    ready.append(outer)

    def _measure_one(self, node: int) -> None:
        kind, below, about = self.graph.kind[node], self.graph.below[node], self.graph.about[node]
        cost, mixed, text = self.cost, self.mixed, self.text
        if kind == LEAF:
            self._measure_leaf(node, about)
        elif kind == SEQUENCE:
            cost[node] = sum([cost[inner] for inner in below]) + 1 if all([cost[i] for i in below]) else 0
            mixed[node] = any([mixed[inner] for inner in below])
            texts = [text[inner] for inner in below]
            if None not in texts:
                text[node] = "".join(texts)  # type: ignore[arg-type]
        elif kind == CHOICE:
            if below:
                cost[node] = sum([cost[inner] for inner in below]) + 1 if all([cost[i] for i in below]) else 0
                mixed[node] = any([mixed[inner] for inner in below])
                if len(below) == 1:
                    text[node] = text[below[0]]
        elif kind == REPEAT:
            minimum, maximum = bounds(about)
            if cost[below[0]]:
                cost[node] = cost[below[0]] * max(minimum, maximum or 1) + 1
                mixed[node] = True
        else:
            cost[node], mixed[node], text[node] = cost[below[0]], mixed[below[0]], text[below[0]]

    def _measure_leaf(self, node: int, about: object) -> None:
        parts = self.lexis.parts.get(node, ())
        if len(parts) != 1 or parts[0][1]:
            return
        if isinstance(about, Token):
            exact = about.exact
            if exact is not None:
                if self.lexis.skip is None:
                    self.text[node] = exact
                    self.cost[node] = len(exact) + 1
            elif not about.words and len(parts[0][0].edges) <= _SMALL:
                self.cost[node], self.mixed[node] = len(parts[0][0].edges), True
        elif isinstance(about, CharDfa):
            self.cost[node], self.mixed[node] = len(about.edges), True

    def _unroll(self, nfa: Nfa, node: int, source: int) -> int:
        graph = self.graph
        kind, below, about = graph.kind[node], graph.below[node], graph.about[node]
        if kind == LEAF:
            if isinstance(about, Token) and about.exact is not None:
                return nfa.text(about.exact, source)
            return nfa.automaton(self.lexis.parts[node][0][0], source)
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
        item = self.graph.below[node][0]
        if self.graph.kind[item] != LEAF or not self.cost[item] or not self.mixed[item]:
            return None
        dfa = self.lexis.parts[item][0][0]
        if len(dfa.edges) != 2 or dfa.edges[1] or 0 in dfa.accepting:
            return None
        points = tuple((low, high) for low, high, _ in dfa.edges[0])
        minimum, maximum = bounds(self.graph.about[node])
        return t.Text(all_words(points), "raw", minimum, maximum)
