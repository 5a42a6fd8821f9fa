"""Texts of a character automaton."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.automata import charset
from sglc.automata.charset import Ranges
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node, Worklist
from sglc.runtime.mask.lexeme.table import LexemeState, counted_place
from sglc.runtime.mask.lexeme.text_dfa import Place, TextTable
from sglc.runtime.mask.lexeme.text_lexeme import text_lexeme


class TextNode(Node):
    """Words of a character automaton with bounded length. Lexeme state: a place in its table."""

    def __init__(self, table: TextTable, minimum: int, maximum: int | None) -> None:
        self.table = table
        self.minimum = minimum
        self.maximum = maximum
        self.first = table.start(minimum, maximum)
        self._ends = False
        self._goes_on: bool | None = None

    def lexeme(self, machine: Machine, state: Place) -> LexemeState | None:
        """The local state with the characters to come; None where both bounds matter and lengths have
        gaps."""
        local, least, most = state
        if least > 0 and most is not None and not self.table.gapless:
            return None
        lexeme = text_lexeme(self.table)
        return counted_place(lexeme, lexeme.number(local), least, most)

    def land(self, machine: Machine, state: Place, cont: int, local: int, taken: int, data: bytes) -> int:
        """At a local state of the lexeme, with `taken` characters fewer to come."""
        _, least, most = state
        local = text_lexeme(self.table).places[local]
        place = self.table.after(local, least - taken, None if most is None else most - taken)
        return self._at(machine, place, cont)

    def analyse(self) -> tuple[bool, bool]:
        """Productive if a word has so many characters; nullable if none is needed and the first state
        accepts."""
        if self.first is None:
            return False, False
        return True, self.table.can_end(self.first[0], self.first[1])

    def measure(self) -> int | None:
        """Bytes of a shortest word that keeps the bounds."""
        return None if self.first is None else self.table.shortest_size(*self.first)

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if that is legal, and read on if a word goes on."""
        if self.first is None:
            return
        if self._goes_on is None:
            self._ends = self.table.can_end(self.first[0], self.first[1])
            self._goes_on = self.table.can_go_on(*self.first)
        if self._ends:
            work.append((None, cont))
        if self._goes_on:
            out.add(machine.thread(self, self.first, cont))

    def first_characters(self, state: Place) -> Ranges | None:
        """The characters behind which the bounds can be met; None inside characters and in JSON."""
        local, least, most = state
        table = self.table
        if table.encoding != "raw" or local >= table.boundary:
            return None
        edges = table.dfa.edges[local]
        return charset.ranges(
            [(low, high) for low, high, target in edges if table.advance(target, least, most) is not None]
        )

    def moves(self, machine: Machine, state: Place, cont: int) -> Iterator[tuple[int, int, int]]:
        """Those of the table behind which the bounds can be met."""
        local, least, most = state
        table = self.table
        known: dict[int, int] = {}
        for low, high, target in table.moves(local):
            config = known.get(target)
            if config is None:
                config = known[target] = self._at(machine, table.advance(target, least, most), cont)
            if config:
                yield low, high, config

    def move(self, machine: Machine, state: Place, cont: int, byte: int) -> int:
        """By the table, without its other moves."""
        local, least, most = state
        for low, high, target in self.table.moves(local):
            if byte <= high:
                if byte < low:
                    break
                return self._at(machine, self.table.advance(target, least, most), cont)
        return 0

    def _at(self, machine: Machine, place: Place | None, cont: int) -> int:
        if place is None:
            return 0
        config = machine.after(cont) if self.table.can_end(place[0], place[1]) else 0
        if self.table.can_go_on(*place):
            config = machine.union(config, machine.alone(machine.thread(self, place, cont)))
        return config

    def shortest(self, machine: Machine) -> bytes:
        """A shortest word that keeps the bounds."""
        assert self.first is not None
        return self.table.shortest_word(*self.first)

    def shortest_from(self, machine: Machine, state: Place) -> bytes:
        """A shortest rest that keeps what is left of the bounds."""
        return self.table.shortest_word(*state)
