"""One character of lookahead: places after which some characters may not come."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from sglc.automata.charset import Ranges, meet
from sglc.automata.dfa.operations import any_char_class
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import ACCEPT, DEAD, END, Node, Worklist
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.gss.completion import bound
from sglc.runtime.mask.lexeme.text_dfa import TextTable

_NONE_OPEN, _SOME_OPEN, _ALL_OPEN = 0, 1, 2

State = tuple[int, int]
"""(configuration of what follows, place in the table of forbidden characters)."""


class NotBefore(Node):
    """The empty word where no forbidden character follows. Lexeme state: see `State`.

    What follows is taken thread by thread: those that cannot begin with a forbidden character stay as they
    are, those that can begin with no other are dropped, and the rest are read under the eyes of this node
    until their first character is complete.
    """

    def __init__(self, forbidden: Ranges) -> None:
        self.forbidden_next = forbidden
        self.table = TextTable(any_char_class(forbidden), "raw")
        self._places: dict[tuple[int, Hashable], int | None] = {}
        self._kept: dict[int, tuple[int, ...]] = {}
        self._opening: set[int] = set()
        self._next: dict[int, np.ndarray] = {}
        self._lives: dict[State, bool] = {}

    def analyse(self) -> tuple[bool, bool]:
        """Productive and nullable; what follows may still leave nothing of it."""
        return True, True

    def measure(self) -> int | None:
        """0: it reads nothing of its own."""
        return 0

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """Add what follows, without the threads that begin with a forbidden character. ConstraintError if it
        follows itself."""
        if cont in self._opening:
            raise ConstraintError("a lookahead is followed by itself")
        self._opening.add(cont)
        try:
            out.update(self.kept(machine, machine.after(cont)))
        finally:
            self._opening.discard(cont)

    def kept(self, machine: Machine, config: int) -> tuple[int, ...]:
        """The threads of a configuration that do not begin with a forbidden character."""
        found = self._kept.get(config)
        if found is None:
            threads = []
            for thread in machine.configs[config]:
                reads = _ALL_OPEN if thread == ACCEPT else self._reads(machine, thread)
                if reads == _ALL_OPEN:
                    threads.append(thread)
                elif reads == _SOME_OPEN:
                    threads.append(machine.thread(self, (machine.alone(thread), 0), END))
            found = self._kept[config] = tuple(threads)
        return found

    def _reads(self, machine: Machine, thread: int) -> int:
        """Which of the characters that a thread may read first are not forbidden."""
        node, state, _ = machine.place(thread)
        key = (node.index, state)
        if key not in self._places:
            self._places[key] = self._of_place(node, state)
        found = self._places[key]
        if found is not None:
            return found
        alone = machine.alone(thread)
        if not (machine.first(alone) & (self._forbidden(0) >= 0)).any():
            return _ALL_OPEN
        return _SOME_OPEN if self._alive(machine, alone, 0) else _NONE_OPEN

    def _of_place(self, node: Node, state: object) -> int | None:
        """The same for all threads of a lexeme state, where that alone decides."""
        characters = node.first_characters(state)
        if not characters:
            return None
        shared = meet(characters, self.forbidden_next)
        return _ALL_OPEN if not shared else _NONE_OPEN if shared == characters else _SOME_OPEN

    def _forbidden(self, place: int) -> np.ndarray:
        """int32[256]: the next place by byte where a character may still become a forbidden one, else -1."""
        found = self._next.get(place)
        if found is None:
            found = self._next[place] = np.full(256, -1, np.int32)
            for low, high, after in self.table.moves(place):
                found[low : high + 1] = after
        return found

    def _alive(self, machine: Machine, config: int, place: int) -> bool:
        """Whether a character that is not forbidden can be read; at most four bytes are looked at."""
        found = self._lives.get((config, place))
        if found is None:
            found = self._lives[config, place] = self._finds(machine, config, place)
        return found

    def _finds(self, machine: Machine, config: int, place: int) -> bool:
        if machine.accepts(config):
            return True
        forbidden = self._forbidden(place)
        first = machine.first(config)
        if (first & (forbidden < 0)).any():
            return True
        inside = np.flatnonzero(first & (forbidden >= self.table.boundary)).tolist()
        return any(self._alive(machine, machine.step(config, byte), int(forbidden[byte])) for byte in inside)

    def _under(self, machine: Machine, config: int, place: int) -> int:
        """The configuration inside the first character, which may still become a forbidden one."""
        if place < self.table.boundary or not self._alive(machine, config, place):
            return DEAD
        watched = machine.alone(machine.thread(self, (config, place), END))
        return machine.union(watched, 1) if machine.accepts(config) else watched

    def moves(self, machine: Machine, state: State, cont: int) -> Iterator[tuple[int, int, int]]:
        """Those of what follows, but for bytes that complete a forbidden character."""
        config, place = state
        forbidden = self._forbidden(place).tolist()
        for byte, target in enumerate(machine.row(config).tolist()):
            if target and forbidden[byte] >= 0:
                target = self._under(machine, target, forbidden[byte])
            if target:
                yield byte, byte, target

    def history_dependent(self, machine: Machine, state: State) -> bool:
        """Whether the configuration of what follows is."""
        return bool(machine.history_dependent[state[0]])

    def needs_history(self, machine: Machine, state: State) -> bool:
        """Whether the configuration of what follows does."""
        return bool(machine.needs_history[state[0]])

    def without_history(self, machine: Machine, state: State) -> State:
        """What follows without history, at the same place of the forbidden characters."""
        return machine.history_free(state[0]), state[1]

    def shortest(self, machine: Machine) -> bytes:
        """The empty word."""
        return b""

    def shortest_from(self, machine: Machine, state: State) -> bytes:
        """Shortest without regard to what is forbidden; `endings.completion` sees to that."""
        return bound(machine, state[0])
