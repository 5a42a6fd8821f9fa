"""Texts matched as a lexer matches tokens: they never end before a byte with which they could go on."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, Node, Worklist
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.lexeme.text_dfa import Place, TextTable

State = tuple[Place, int]
"""(place in the table, configuration behind the text where it may end and go on, else DEAD)."""


class GreedyNode(Node):
    """Words of a character automaton, the longest match. Lexeme state: see `State`.

    Where the text may end and go on, one thread stands for both: bytes of the text stay in it, and only the
    others are those of what follows. What follows must be able to begin with such a byte, or to be empty.
    """

    def __init__(self, table: TextTable, minimum: int, maximum: int | None) -> None:
        self.table = table
        self.first = table.start(minimum, maximum)
        self._opening: set[int] = set()

    def analyse(self) -> tuple[bool, bool]:
        if self.first is None:
            return False, False
        return True, self.table.can_end(self.first[0], self.first[1])

    def measure(self) -> int | None:
        return None if self.first is None else self.table.shortest_size(*self.first)

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        if self.first is None:
            return
        if not self.table.can_end(self.first[0], self.first[1]):
            out.add(machine.thread(self, (self.first, DEAD), cont))
        elif not self.table.can_go_on(*self.first):
            work.append((None, cont))
        else:
            if cont in self._opening:
                raise ConstraintError("a greedy text that may be empty is followed by itself")
            self._opening.add(cont)
            try:
                out.update(machine.configs[self._at(machine, self.first, cont)])
            finally:
                self._opening.discard(cont)

    def _at(self, machine: Machine, place: Place | None, cont: int) -> int:
        if place is None:
            return DEAD
        if not self.table.can_end(place[0], place[1]):
            return machine.alone(machine.thread(self, (place, DEAD), cont))
        following = machine.after(cont)
        if not self.table.can_go_on(*place):
            return following
        here = machine.alone(machine.thread(self, (place, following), cont))
        return machine.union(here, 1) if machine.accepts(following) else here

    def history_dependent(self, machine: Machine, state: State) -> bool:
        return bool(machine.history_dependent[state[1]])

    def needs_history(self, machine: Machine, state: State) -> bool:
        return bool(machine.needs_history[state[1]])

    def without_history(self, machine: Machine, state: State) -> State:
        return state[0], machine.history_free(state[1])

    def _text_moves(self, machine: Machine, place: Place, cont: int) -> Iterator[tuple[int, int, int]]:
        local, least, most = place
        known: dict[int, int] = {}
        for low, high, target in self.table.moves(local):
            config = known.get(target)
            if config is None:
                config = known[target] = self._at(machine, self.table.advance(target, least, most), cont)
            if config:
                yield low, high, config

    def moves(self, machine: Machine, state: State, cont: int) -> Iterator[tuple[int, int, int]]:
        place, following = state
        own = list(self._text_moves(machine, place, cont))
        if following == DEAD:
            yield from own
            return
        row = machine.row(following).tolist()
        at = 0
        for low, high, config in (*own, (256, 256, DEAD)):
            while at < low:
                end = at
                while end + 1 < low and row[end + 1] == row[at]:
                    end += 1
                if row[at]:
                    yield at, end, row[at]
                at = end + 1
            if config:
                yield low, high, config
            at = high + 1

    def move(self, machine: Machine, state: State, cont: int, byte: int) -> int:
        (local, least, most), following = state
        for low, high, target in self.table.moves(local):
            if low <= byte <= high:
                config = self._at(machine, self.table.advance(target, least, most), cont)
                if config:
                    return config
        return machine.step(following, byte) if following else DEAD

    def shortest(self, machine: Machine) -> bytes:
        assert self.first is not None
        return self.table.shortest_word(*self.first)

    def shortest_from(self, machine: Machine, state: State) -> bytes:
        """Shortest without regard to what follows; `endings.completion` sees to that."""
        return self.table.shortest_word(*state[0])
