"""A language without a finite set of words: the item's configurations beside a trie of the words left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, END, Node, Worklist
from sglc.runtime.mask.gss.completion import completion
from sglc.runtime.mask.lexeme.word_list import WordSet

TriePlace = tuple[int, int, int]
State = tuple[int, TriePlace | None]
"""(configuration of the item up to its own end, place among the excluded words or None when past them)."""


class Exclusion(Node):
    """`item` without `words`. Lexeme state: see `State`."""

    def __init__(self, item: Node, words: frozenset[bytes]) -> None:
        self.item = item
        self.set = WordSet(words)
        self.known: tuple[bool, bool] | None = None
        self._beyond: dict[State, bool] = {}
        self._shortest: dict[State, bytes | None] = {}

    def children(self) -> Sequence[Node]:
        """The item; excluded words are no node."""
        return (self.item,)

    def analyse(self) -> tuple[bool, bool]:
        """Unproductive until `settle` has looked at the item's automaton."""
        return self.known or (False, False)

    def settle(self, machine: Machine) -> None:
        """Decide whether any word is left, once the item's own analysis is final."""
        self._machine = machine
        if not self.item.productive:
            self.known = (False, False)
            return
        start = machine.begin(self.item, END)
        nullable = self._ends(machine, (start, self.set.root))
        self.known = (nullable or self.goes_on(machine, (start, self.set.root)), nullable)

    def measure(self) -> int | None:
        """The length of a shortest word that is left, None if none is."""
        return len(self.shortest(self._machine)) if self.productive else None

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if the empty word is left, and read on if a longer one is."""
        if not self.productive:
            return
        state = (machine.begin(self.item, END), self.set.root)
        if self._ends(machine, state):
            work.append((None, cont))
        if self.goes_on(machine, state):
            out.add(machine.thread(self, state, cont))

    def _ends(self, machine: Machine, state: State) -> bool:
        inner, place = state
        return machine.accepts(inner) and not (place is not None and self.set.ends(place))

    def goes_on(self, machine: Machine, state: State) -> bool:
        """Whether a word that is not excluded reads at least one more byte."""
        inner, place = state
        if place is None or machine.needs_history[inner]:
            return any(machine.configs[inner])
        found = self._beyond.get(state)
        if found is None:
            found = False
            row = machine.row(machine.history_free(inner))
            children = self.set.children(place)
            legal = row.nonzero()[0].tolist()
            found = any(byte not in children for byte in legal)
            if not found:
                for byte in legal:
                    after = (machine.step(inner, byte), children[byte])
                    if self._ends(machine, after) or self.goes_on(machine, after):
                        found = True
                        break
            self._beyond[state] = found
        return found

    def _land(self, machine: Machine, inner: int, place: TriePlace | None, cont: int) -> int:
        if inner == DEAD:
            return DEAD
        if place is None and cont == END:
            return inner
        state = (inner, place)
        config = machine.after(cont) if self._ends(machine, state) else DEAD
        if self.goes_on(machine, state):
            config = machine.union(config, machine.alone(machine.thread(self, state, cont)))
        return config

    def history_dependent(self, machine: Machine, state: State) -> bool:
        """Whether the item's own configuration is."""
        return bool(machine.history_dependent[state[0]])

    def needs_history(self, machine: Machine, state: State) -> bool:
        """Whether the item's own configuration does."""
        return bool(machine.needs_history[state[0]])

    def without_history(self, machine: Machine, state: State) -> State:
        """The item's configuration without history, at the same place of the trie."""
        return machine.history_free(state[0]), state[1]

    def move(self, machine: Machine, state: State, cont: int, byte: int) -> int:
        """A step of the item, beside one in the trie."""
        inner, place = state
        below = None if place is None else self.set.children(place).get(byte)
        return self._land(machine, machine.step(inner, byte), below, cont)

    def moves(self, machine: Machine, state: State, cont: int) -> Iterator[tuple[int, int, int]]:
        """Those of the item; bytes with which excluded words go on are looked at one by one."""
        inner, place = state
        row = machine.row(inner).tolist()
        children = {} if place is None else self.set.children(place)
        landed: dict[int, int] = {}
        low = 0
        while low < 256:
            inner = row[low]
            if low in children:
                target = self._land(machine, inner, children[low], cont)
                if target:
                    yield low, low, target
                low += 1
                continue
            high = low
            while high < 255 and row[high + 1] == inner and high + 1 not in children:
                high += 1
            if inner:
                target = landed.get(inner, -1)
                if target < 0:
                    target = landed[inner] = self._land(machine, inner, None, cont)
                yield low, high, target
            low = high + 1

    def shortest(self, machine: Machine) -> bytes:
        """A shortest word that is left."""
        state = (machine.begin(self.item, END), self.set.root)
        return b"" if self._ends(machine, state) else self.shortest_from(machine, state)

    def shortest_from(self, machine: Machine, state: State) -> bytes:
        """A shortest ending that reads a byte and makes no excluded word."""
        word = self._least(machine, state)
        assert word is not None, "no completion of a dead state"
        return word

    def _least(self, machine: Machine, state: State) -> bytes | None:
        """A shortest ending of at least one byte that is not excluded; None if there is none."""
        if state in self._shortest:
            return self._shortest[state]
        inner, place = state
        best: bytes | None = None
        row = machine.row(machine.history_free(inner))
        children = {} if place is None else self.set.children(place)
        # Past the excluded words the item's own shortest completion will do, one for each configuration.
        tried: set[int] = set()
        for byte in row.nonzero()[0].tolist():
            after = machine.step(inner, byte)
            below = children.get(byte)
            if below is None:
                if after in tried:
                    continue
                tried.add(after)
                ending: bytes | None = completion(machine, after)
            elif self._ends(machine, (after, below)):
                ending = b""
            else:
                ending = self._least(machine, (after, below))
            if ending is not None and (best is None or len(ending) + 1 < len(best)):
                best = bytes([byte]) + ending
        self._shortest[state] = best
        return best
