"""Patterns that are made deterministic only as far as texts go (see `sglc.automata.regex.lazy_nfa`)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace

from sglc.automata.analysis.emptiness import cheapest
from sglc.automata.charset import Ranges
from sglc.automata.dfa.operations import TooLarge
from sglc.automata.dfa.subset_construction import Subsets, characters
from sglc.automata.term import CharNfa, Encoding
from sglc.kernels.trie.api import UNBOUNDED
from sglc.kernels.trie.walks import BOUNDARY, ENDS, NO_MOVE
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, Node, Worklist
from sglc.runtime.mask.core.byte_sets import length_first
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.lexeme.escapes import ByteMoves, Move
from sglc.runtime.mask.lexeme.lazy_dfa import NumberedLexeme
from sglc.runtime.mask.lexeme.self_loops import SelfLoop, self_loop_class
from sglc.runtime.mask.lexeme.table import LexemeState


class PatternTable(ByteMoves):
    """The subsets of a pattern's automaton as an automaton over bytes."""

    def __init__(self, nfa: CharNfa, encoding: Encoding) -> None:
        super().__init__(encoding)
        self.nfa = nfa
        self.subsets = Subsets(nfa)
        self.lexeme = PatternLexeme(self)
        self._rests: list[tuple[int, bytes, int]] | None = None

    def edges(self, state: int) -> tuple[Move, ...]:
        """(lowest character, highest character, state) of a subset. Raises ConstraintError where there are
        too many."""
        try:
            return self.subsets.edges(state)
        except TooLarge as fault:
            raise ConstraintError(str(fault)) from None

    def after(self, state: int, point: int) -> int | None:
        """The state between characters after a character."""
        try:
            return self.subsets.after(state, point)
        except TooLarge as fault:
            raise ConstraintError(str(fault)) from None

    def goes_on(self, local: int) -> bool:
        """Whether a word may have more bytes."""
        return local < 0 or any(self.nfa.edges[member] for member in self.subsets.members(local))

    def ends(self, local: int) -> bool:
        """Whether a word of the pattern ends in a state; never in a negative one, which is dead."""
        return local >= 0 and self.subsets.ends(local)

    def rest(self, local: int) -> bytes:
        """A shortest spelling of the rest of a word."""
        if local < 0:
            ways = self.ends_of_character(local).items()
            return min([ends[0] + self.rest(target) for target, ends in ways], key=length_first)
        if self._rests is None:
            self._rests = _shortest_rests(self.nfa, self.encoding)
        size, first, here = min(self._rests[member] for member in self.subsets.members(local))
        out = bytearray()
        while size:
            out += first
            size, first, here = self._rests[here]
        return bytes(out)


def _shortest_rests(nfa: CharNfa, encoding: Encoding) -> list[tuple[int, bytes, int]]:
    """By state: bytes of its shortest rest, the first character of it, spelled, and the state behind that.

    Dijkstra's algorithm (1959) from the ends of words.
    """
    before: list[dict[int, bytes]] = [{} for _ in nfa.edges]
    for state, row in enumerate(nfa.edges):
        for low, high, group in row:
            data = cheapest(low, high, encoding, 1)[0]
            for target in nfa.groups[group]:
                known = before[target].get(state)
                if known is None or (len(data), data) < (len(known), known):
                    before[target][state] = data
    found: list[tuple[int, bytes, int] | None] = [None] * len(nfa.edges)
    heap = [(0, b"", state, state) for state in sorted(nfa.accepting)]
    while heap:
        size, data, state, behind = heapq.heappop(heap)
        if found[state] is None:
            found[state] = size, data, behind
            for earlier, first in before[state].items():
                if found[earlier] is None:
                    heapq.heappush(heap, (size + len(first), first, earlier, state))
    return [each for each in found if each is not None]


class PatternLexeme(NumberedLexeme):
    """The rows of a `PatternTable`."""

    counts = False
    table: PatternTable

    def __init__(self, table: PatternTable) -> None:
        super().__init__(table)
        self.characters = characters(table.nfa)
        self._self_loop: dict[Ranges, SelfLoop | None] = {}

    def describe(self, state: int) -> tuple[int, int, int]:
        """BOUNDARY between characters, ENDS where a word ends; lengths are any."""
        local = self.places[state]
        if local < 0:
            return 0, 0, UNBOUNDED
        return BOUNDARY | (ENDS if self.table.ends(local) else 0), 0, UNBOUNDED

    def plain_step(self, state: int, byte: int) -> int | None:
        """By the subsets, without a row; None inside a character."""
        local = self.places[state]
        if local < 0:
            return None
        found = self.table.after(local, byte)
        return NO_MOVE if found is None else self.number(found)

    def self_loop(self, place: LexemeState, longest: int) -> SelfLoop | None:
        """The characters that `Subsets.lasting` finds; None inside a character."""
        local = self.places[place.state]
        if local < 0:
            return None
        lasting = self.table.subsets.lasting(local)
        if lasting not in self._self_loop:
            found = self_loop_class(lasting, self.encoding, -1, self.characters)
            if found is not None and lasting == self.characters:
                found = replace(found, uniform=lasting)
            self._self_loop[lasting] = found
        return self._self_loop[lasting]


class PatternNode(Node):
    """Words of a pattern. Lexeme state: a local state of its table."""

    def __init__(self, table: PatternTable) -> None:
        self.table = table

    def lexeme(self, machine: Machine, state: int) -> LexemeState:
        """The state's number in the lexeme of its table."""
        lexeme = self.table.lexeme
        return LexemeState(lexeme, lexeme.number(state))

    def land(self, machine: Machine, state: int, cont: int, local: int, taken: int, data: bytes) -> int:
        """By the state alone, as patterns have no counts."""
        return self._at(machine, self.table.lexeme.places[local], cont)

    def analyse(self) -> tuple[bool, bool]:
        """Always productive; nullable if a word ends in the first subset."""
        return True, self.table.ends(0)

    def measure(self) -> int | None:
        """Bytes of a shortest word."""
        return len(self.table.rest(0))

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if that is legal, and read on if there is more to read."""
        if self.table.ends(0):
            work.append((None, cont))
        if self.table.goes_on(0):
            out.add(machine.thread(self, 0, cont))

    def moves(self, machine: Machine, state: int, cont: int) -> Iterator[tuple[int, int, int]]:
        """Those of the table, each with whether a word ends behind it."""
        for low, high, target in self.table.moves(state):
            yield low, high, self._at(machine, target, cont)

    def move(self, machine: Machine, state: int, cont: int, byte: int) -> int:
        """By the table, without its other moves."""
        target = self.table.move(state, byte)
        return DEAD if target is None else self._at(machine, target, cont)

    def _at(self, machine: Machine, local: int, cont: int) -> int:
        config = machine.after(cont) if self.table.ends(local) else DEAD
        if self.table.goes_on(local):
            config = machine.union(config, machine.alone(machine.thread(self, local, cont)))
        return config

    def shortest(self, machine: Machine) -> bytes:
        """The rest of a word from the first subset."""
        return self.table.rest(0)

    def shortest_from(self, machine: Machine, state: int) -> bytes:
        """A shortest rest, which reads at least one byte."""
        # The thread itself has something to read; that the word may end is another thread, and shorter.
        return self.table.rest(state)
