"""Which terminals a parser may expect together: the states of the LR(0) automaton.

Lark's contextual lexer tries the terminals that the parser's state can use. That state is the one after the
last terminal read; in LALR(1) tables it stands for a set of LR(0) items, and what it can use are the
terminals that can come after one of its items. Here the items are made as Lark makes its rules (a repetition
becomes a rule of its own, left-recursive and shared by all equal repetitions), and FOLLOW sets stand for
lookaheads, which are parts of them; so no terminal that Lark would try is missed.
"""

from __future__ import annotations

from sglc.automata import work
from sglc.automata.dfa.nfa_union import MAX_STATES
from sglc.cfg.model.graph import CHOICE, LEAF, REPEAT, RULE, SEQUENCE, Graph, bounds

_COPIES = 8
"""Counts that are written out; for higher ones no states are made."""


class TooManyStates(Exception):
    """There are more states or items than are looked at."""


class _Part:
    """The items of an expression as the positions of its symbols (Glushkov 1961)."""

    __slots__ = ("first", "last", "nullable")

    def __init__(self, first: int, last: int, nullable: bool) -> None:
        self.first = first
        self.last = last
        self.nullable = nullable


Occurrence = tuple[int, int]
"""Of a leaf: the node above it, and where it is below that."""


def tried_together(
    graph: Graph, nodes: list[int], terminal: dict[int, int], count: int
) -> tuple[list[int], dict[Occurrence, int]]:
    """By terminal, bit set of those tried with it; and the same by occurrence, as far as these are known.

    Terminals are numbered below `count`; `terminal` gives the number of a leaf. Raises TooManyStates.
    """
    return _Automaton(graph, nodes, terminal, count).together()


class _Automaton:
    def __init__(self, graph: Graph, nodes: list[int], terminal: dict[int, int], count: int) -> None:
        self.graph = graph
        self.terminal = terminal
        self.count = count
        self.same = _shared(graph, nodes)
        self.symbol: list[int] = []
        """Position to its symbol: a terminal's number, or `count` + the number of a nonterminal."""
        self.after: list[int] = []
        """Position to the positions that may come next in its own expression."""
        self.owner: list[int] = []
        self.occurrence: dict[int, Occurrence] = {}
        """Of the positions that are terminals."""
        self.numbers: dict[int, int] = {}
        """Node of a rule or repetition to the number of its nonterminal."""
        self.parts: list[_Part] = []
        self.waiting: list[int] = []
        self.start = self.nonterminal(graph.start)
        while self.waiting:
            self.define(self.waiting.pop())
        self.close()

    def nonterminal(self, node: int) -> int:
        node = self.same[node]
        found = self.numbers.get(node)
        if found is None:
            found = self.numbers[node] = len(self.numbers)
            self.waiting.append(node)
        return found

    def define(self, node: int) -> None:
        number = self.numbers[node]
        while len(self.parts) <= number:
            self.parts.append(_Part(0, 0, False))
        graph = self.graph
        begin = len(self.symbol)
        if graph.kind[node] == REPEAT:
            once = self.below(node, 0, 0)
            again = self.sequence(self.position(self.count + number), self.below(node, 0, 0))
            part = _Part(once.first | again.first, once.last | again.last, False)
        else:
            part = self.below(node, 0, 0)
        self.parts[number] = part
        self.owner += [number] * (len(self.symbol) - begin)

    def position(self, symbol: int) -> _Part:
        if len(self.symbol) >= MAX_STATES:
            raise TooManyStates
        work.spend(2)
        bit = 1 << len(self.symbol)
        self.symbol.append(symbol)
        self.after.append(0)
        return _Part(bit, bit, False)

    def sequence(self, left: _Part, right: _Part) -> _Part:
        for place in _bits(left.last):
            self.after[place] |= right.first
        return _Part(
            left.first | right.first if left.nullable else left.first,
            left.last | right.last if right.nullable else right.last,
            left.nullable and right.nullable,
        )

    def below(self, node: int, index: int, depth: int) -> _Part:
        """The expression that stands there below a node."""
        inner = self.graph.below[node][index]
        if self.graph.kind[inner] != LEAF:
            return self.expression(inner, depth)
        self.occurrence[len(self.symbol)] = node, index
        return self.position(self.terminal[inner])

    def expression(self, node: int, depth: int) -> _Part:
        graph = self.graph
        kind, below = graph.kind[node], graph.below[node]
        if kind == RULE:
            part = self.position(self.count + self.nonterminal(node))
            part.nullable = bool(graph.nullable[node])
            return part
        if kind == SEQUENCE:
            found = _Part(0, 0, True)
            for index in range(len(below)):
                found = self.sequence(found, self.below(node, index, depth + 1))
            return found
        if kind == CHOICE:
            arms = [self.below(node, index, depth + 1) for index in range(len(below))]
            first = last = 0
            for arm in arms:
                first |= arm.first
                last |= arm.last
            return _Part(first, last, any(arm.nullable for arm in arms))
        minimum, maximum = bounds(graph.about[node])
        if maximum is None:
            part = self.position(self.count + self.nonterminal(node))
            part.nullable = minimum == 0 or bool(graph.nullable[node])
            if minimum > 1:
                part = self.sequence(self.copies(node, minimum - 1, minimum - 1, depth), part)
            return part
        return self.copies(node, minimum, maximum, depth)

    def copies(self, node: int, minimum: int, maximum: int, depth: int) -> _Part:
        if maximum > _COPIES:
            raise TooManyStates
        found = _Part(0, 0, True)
        tail = _Part(0, 0, True)
        for _ in range(maximum - minimum):
            tail = self.sequence(self.below(node, 0, depth + 1), tail)
            tail.nullable = True
        for _ in range(minimum):
            found = self.sequence(found, self.below(node, 0, depth + 1))
        return self.sequence(found, tail)

    def close(self) -> None:
        """What each position leads to with rules opened, and what may follow it."""
        size = len(self.numbers)
        opened = [part.first for part in self.parts]
        changed = True
        while changed:
            changed = False
            for number in range(size):
                found = opened[number]
                for place in _bits(found):
                    symbol = self.symbol[place]
                    if symbol >= self.count:
                        found |= opened[symbol - self.count]
                if found != opened[number]:
                    opened[number] = found
                    changed = True
        self.opened = opened
        self.next: list[int] = []
        for after in self.after:
            found = after
            for place in _bits(after):
                symbol = self.symbol[place]
                if symbol >= self.count:
                    found |= opened[symbol - self.count]
            self.next.append(found)
        # Positions of terminals after each position: those of `next`, and of what follows the rule where it
        # may end.
        leaves = sum(1 << place for place in self.occurrence)
        own = [found & leaves for found in self.next]
        follow = [0] * size
        ends = [_bits(part.last) for part in self.parts]
        changed = True
        while changed:
            changed = False
            for number in range(size):
                for place in ends[number]:
                    symbol = self.symbol[place]
                    if symbol >= self.count and follow[number] & ~follow[symbol - self.count]:
                        follow[symbol - self.count] |= follow[number]
                        changed = True
            for place, symbol in enumerate(self.symbol):
                if symbol >= self.count and own[place] & ~follow[symbol - self.count]:
                    follow[symbol - self.count] |= own[place]
                    changed = True
        last = 0
        for part in self.parts:
            last |= part.last
        self.usable = [
            own[place] | (follow[self.owner[place]] if last >> place & 1 else 0)
            for place in range(len(self.symbol))
        ]

    def terminals(self, places: int) -> int:
        found = 0
        for place in _bits(places):
            if self.symbol[place] < self.count:
                found |= 1 << self.symbol[place]
        return found

    def together(self) -> tuple[list[int], dict[Occurrence, int]]:
        """States by breadth; what can be used in those that follow a terminal is tried together."""
        start = self.opened[self.start]
        sets = {self.terminals(start): start}
        """Terminals of a state to their positions there."""
        known: dict[int, int] = {}
        seen: set[int] = set()
        waiting = [start]
        """The positions that may come next."""
        expanded = {start}
        while waiting:
            coming = waiting.pop()
            kernels: dict[int, int] = {}
            for place in _bits(coming):
                symbol = self.symbol[place]
                kernels[symbol] = kernels.get(symbol, 0) | 1 << place
            for symbol, kernel in kernels.items():
                if kernel in seen:
                    continue
                seen.add(kernel)
                work.spend(5 + kernel.bit_count())
                if len(seen) > MAX_STATES:
                    raise TooManyStates
                following = usable = 0
                for place in _bits(kernel):
                    following |= self.next[place]
                    usable |= self.usable[place]
                if symbol < self.count and usable not in known:
                    found = known[usable] = self.terminals(usable)
                    sets[found] = sets.get(found, 0) | usable
                if following not in expanded:
                    expanded.add(following)
                    waiting.append(following)
        together = [0] * self.count
        apart: dict[Occurrence, int] = {}
        for found, places in sets.items():
            for place in _bits(places):
                occurrence = self.occurrence.get(place)
                if occurrence is not None:
                    together[self.symbol[place]] |= found
                    apart[occurrence] = apart.get(occurrence, 0) | found
        return together, apart


def _shared(graph: Graph, nodes: list[int]) -> dict[int, int]:
    """Node to the first node of the same form; rules are themselves, repetitions forget their minimum."""
    same: dict[int, int] = {}
    known: dict[tuple[object, ...], int] = {}
    for root in nodes:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node in same:
                continue
            kind = graph.kind[node]
            if kind in (RULE, LEAF):
                same[node] = node
            elif not ready:
                stack.append((node, True))
                stack += [(inner, False) for inner in graph.below[node]]
            else:
                about: object = graph.about[node]
                if kind == REPEAT and about[1] is None:  # type: ignore[index]
                    about = None
                key = (kind, about, *(same[inner] for inner in graph.below[node]))
                same[node] = known.setdefault(key, node)
    return same


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        bit = mask & -mask
        found.append(bit.bit_length() - 1)
        mask ^= bit
    return found
