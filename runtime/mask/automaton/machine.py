"""The lazy automaton: configurations as interned integers, their rows filled on demand.

A *thread* is one place in a constraint: a lexeme that is being read, with the continuation that follows it. A
*configuration* is a set of threads (the alternatives still open), perhaps with acceptance. Continuations,
threads and configurations are hash-consed, so equal places are equal integers: a list's loop comes back to
the same configuration after each item, and constraints that share parts share their configurations.

The parts of a constraint, and the integers with a fixed meaning, are those of `node`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from sglc.automata.caches import LeastUsed
from sglc.automata.work import spend
from sglc.runtime.mask.automaton import step as steps
from sglc.runtime.mask.automaton.positions import HALF, Places, States
from sglc.runtime.mask.automaton.protocol import ACCEPT, DEAD, END, FINAL, Node, Worklist
from sglc.runtime.mask.automaton.step import Group
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.core.intern_table import Interned
from sglc.runtime.mask.core.table_bytes import MachineLock

NO_ROW = -1

_OF_CONFIG, _OF_THREAD, _OF_ROW, _OF_OPENED = 4, 2, 40, 3
"""Units of work of a new configuration, of each of its threads, of the row of a thread, and of what a closure
opens."""

VIEW_BYTES = 64 << 10
"""Of the groups of all configurations, and of their views for mask sharing: the mask and the step that come
next ask for them once more. They are objects, at which each full garbage collection looks."""
_OF_GROUPS = 800
"""Bytes of the groups of one configuration, about."""
_nbytes = attrgetter("nbytes")


class Machine:
    """Interned continuations, threads and configurations, and the rows of those that have been needed.

    rows    int32[capacity, 256]  next configuration by byte
    row_of  int32[configurations] index into rows, or NO_ROW
    """

    joins = False
    """Whether no configuration has two threads at one place of one lexeme."""

    def __init__(self, *, of_grammars: bool = False) -> None:
        """`of_grammars`: whether its constraints are context-free grammars, and masks are walked as such
        (`stack_masks`); all others are searched sooner by configurations."""
        self.of_grammars = of_grammars
        self.lock = MachineLock()
        self.effort = 0
        """Threads of all configurations made and rows merged: a measure of work."""
        # All that grows with texts is in arrays of numbers and dicts from numbers to numbers, at which the
        # garbage collector does not look.
        self.nodes: list[Node] = []
        self._states = States()
        self._conts = Places()
        self._threads = Places()
        self._history_dependent_threads = bytearray(1)
        self._threads_need_history = bytearray(1)
        self.configs: list[tuple[int, ...]] = [(), (ACCEPT,)]
        self._config_ids: Interned[tuple[int, ...], int] = Interned({(): DEAD})
        self._alone: dict[int, int] = {ACCEPT: FINAL}
        self._after: dict[int, int] = {END: FINAL}
        self._begun: dict[int, int] = {}
        self._unions: dict[int, int] = {}
        self.history_dependent = bytearray(2)
        """By configuration: whether stepping needs the bytes read so far (see `Node.history_dependent`)."""
        self.accepting = bytearray((False, True))
        """By configuration: whether the text may end there."""
        self.needs_history = bytearray(2)
        """By configuration: whether its row cannot be made for want of bytes that were not kept."""
        self._history_free: dict[int, int] = {}
        self._grafts: dict[int, int] = {}
        self._steps: LeastUsed[int, int] = LeastUsed()
        self._firsts: LeastUsed[int, np.ndarray] = LeastUsed(size=_nbytes)
        self._groups: LeastUsed[int, tuple[Group, ...]] = LeastUsed(VIEW_BYTES, _OF_GROUPS)
        self._joins: Interned[tuple[int, ...], int] = Interned()
        self.universal: int = -1
        """The thread that accepts everything from here on, once there is one."""
        self.looks_ahead = False
        """Whether some lexeme decides by the byte behind it, so that shortest words do not simply add up."""
        self.rows = np.zeros((64, 256), np.int32)
        self.row_count = 0
        self.row_of = np.full(256, NO_ROW, np.int32)
        self.endings: LeastUsed[int, bytes] = LeastUsed(size=len)
        """By configuration: its shortest completion."""
        self.rests: dict[int, tuple[int, bytes, int]] = {END: (0, b"", END)}
        """By continuation: the length of its shortest word, how that begins, and what it goes on with."""
        self.forced_runs: LeastUsed[int, bytes] = LeastUsed(size=len)
        """By configuration: the bytes that must come next."""

    # Interning

    def cont(self, node: Node, state: Hashable, after: int) -> int:
        """The continuation that resumes `node` in `state` and goes on with `after`."""
        number = node.state_numbers.get(state)
        if number is None:
            number = self._states.add(node.state_numbers, state)
        found = self._conts.numbers.get((node.index << HALF | number) << HALF | after)
        return self._conts.add(node.index, number, after) if found is None else found

    def thread(self, node: Node, state: Hashable, cont: int) -> int:
        """The thread in which lexeme `node` is in `state`."""
        number = node.state_numbers.get(state)
        if number is None:
            number = self._states.add(node.state_numbers, state)
        found = self._threads.numbers.get((node.index << HALF | number) << HALF | cont)
        if found is None:
            found = self._threads.add(node.index, number, cont)
            self._history_dependent_threads.append(node.history_dependent(self, state))
            self._threads_need_history.append(node.needs_history(self, state))
            if node.universal and cont == END:
                self.universal = found
        return found

    def place(self, thread: int) -> tuple[Node, Any, int]:
        """(lexeme, state, continuation) of a thread."""
        all = self._threads
        return self.nodes[all.nodes[thread]], self._states.known[all.states[thread]], all.conts[thread]

    def frame(self, cont: int) -> tuple[Node, Any, int]:
        """(node, state, the continuation behind it) of a continuation."""
        all = self._conts
        return self.nodes[all.nodes[cont]], self._states.known[all.states[cont]], all.conts[cont]

    def register(self, node: Node) -> None:
        """Give a node its number."""
        node.index = len(self.nodes)
        node.state_numbers = self._states.of_kind(type(node))
        self.nodes.append(node)

    @property
    def size(self) -> int:
        """Bytes that all that is interned takes, roughly."""
        interned = 150 * (len(self._threads) + len(self._conts)) + 500 * len(self.configs)
        interned += 200 * len(self._states.known)
        aliases = 200 * (len(self._config_ids) + len(self._alone) - len(self.configs))
        parts = 4000 * len(self.nodes) + self.lock.tally.bytes
        interned += 200 * len(self.rests)
        return interned + aliases + self.rows.nbytes + parts

    def alone(self, thread: int) -> int:
        """The configuration of one thread."""
        found = self._alone.get(thread)
        if found is None:
            found = self._alone[thread] = self._new((thread,))
        return found

    def config(self, threads: Iterable[int]) -> int:
        """The configuration of a set of threads."""
        key = tuple(threads)
        if len(key) > 1:
            key = tuple(sorted(set(key)))
        if len(key) == 1:
            return self.alone(key[0])
        found = self._config_ids.get(key)
        if found is None:
            found = self._config_ids[key] = self._new(key)
        return found

    def _new(self, key: tuple[int, ...]) -> int:
        """The configuration of threads in order that has not been asked for before."""
        if self.universal >= 0 and self.universal in key and key != (ACCEPT, self.universal):
            return self.config((ACCEPT, self.universal))
        # Before anything is kept, as a limit may be passed here.
        spend(_OF_CONFIG + _OF_THREAD * len(key))
        found = len(self.configs)
        self.configs.append(key)
        self.effort += len(key)
        history_dependent, needs_history = self._history_dependent_threads, self._threads_need_history
        self.history_dependent.append(
            history_dependent[key[0]] if len(key) == 1 else any([history_dependent[t] for t in key])
        )
        self.accepting.append(key[0] == ACCEPT)
        self.needs_history.append(
            needs_history[key[0]] if len(key) == 1 else any([needs_history[t] for t in key])
        )
        if found >= len(self.row_of):
            grown = np.full(2 * len(self.row_of), NO_ROW, np.int32)
            grown[: len(self.row_of)] = self.row_of
            self.row_of = grown
        return found

    def union(self, a: int, b: int) -> int:
        """The configuration with the alternatives of both."""
        if a == b or b == DEAD:
            return a
        if a == DEAD:
            return b
        key = a << HALF | b if a < b else b << HALF | a
        found = self._unions.get(key)
        if found is None:
            found = self._unions[key] = self.config((*self.configs[a], *self.configs[b]))
        return found

    def graft(self, config: int, cont: int) -> int:
        """The configuration with the same threads of which each goes on with `cont` at its end."""
        if cont == END:
            return config
        found: set[int] = set()
        for thread in self.configs[config]:
            if thread == ACCEPT:
                found.update(self.configs[self.after(cont)])
            else:
                node, state, own = self.place(thread)
                found.add(self.thread(node, state, self._grafted(own, cont)))
        return self.config(found)

    def _grafted(self, own: int, cont: int) -> int:
        """A continuation that goes on with another one."""
        chain = []
        while own != END and own << HALF | cont not in self._grafts:
            chain.append(own)
            own = self._conts.conts[own]
        found = cont if own == END else self._grafts[own << HALF | cont]
        for own in reversed(chain):
            node, state, _ = self.frame(own)
            found = self._grafts[own << HALF | cont] = self._graft_frame(node, state, found, cont)
        return found

    def _graft_frame(self, node: Node, state: Hashable, behind: int, cont: int) -> int:
        return self.cont(node, state, behind)

    # Closure

    def after(self, cont: int) -> int:
        """The configuration at a continuation."""
        found = self._after.get(cont)
        if found is None:
            found = self._after[cont] = self._close([(None, cont)])
        return found

    def begin(self, node: Node, cont: int) -> int:
        """The configuration before `node`, which is followed by `cont`."""
        key = node.index << HALF | cont
        found = self._begun.get(key)
        if found is None:
            found = self._begun[key] = self._close([(node, cont)])
        return found

    def opened(self, work: Worklist) -> int:
        """The configuration before several nodes and at several continuations."""
        return self.join([self.after(c) if node is None else self.begin(node, c) for node, c in work])

    def _close(self, work: Worklist) -> int:
        out: set[int] = set()
        seen: set[tuple[int, int]] = set()
        least: dict[tuple[int, int], int] = {}
        while work:
            node, cont = work.pop()
            key = (-1 if node is None else node.index, cont)
            if key in seen:
                continue
            seen.add(key)
            spend(_OF_OPENED)
            if len(seen) > 100_000:
                raise ConstraintError("too many alternatives without reading a byte")
            if node is not None:
                node.open(self, cont, work, out)
            elif cont == END:
                out.add(ACCEPT)
            else:
                frame, state, following = self.frame(cont)
                if not (frame.repeats_nothing and repeated(least, frame, state, following)):
                    frame.resume(self, state, following, work, out)
        return self.config(out)

    # Stepping

    def accepts(self, config: int) -> bool:
        """Whether the text that led to a configuration is legal as a whole."""
        return bool(self.accepting[config])

    def step(self, config: int, byte: int) -> int:
        """The configuration after one byte."""
        place = self.row_of[config]
        if place != NO_ROW and not self.history_dependent[config]:
            return int(self.rows[place, byte])
        key = config << 8 | byte
        found = self._steps.get(key)
        if found is None:
            after = []
            for thread in self.configs[config]:
                if thread != ACCEPT:
                    node, state, cont = self.place(thread)
                    target = node.move(self, state, cont, byte)
                    if target != DEAD:
                        after.append(target)
            found = after[0] if len(after) == 1 else self.join(after)
            self._steps.keep(key, found)
        return found

    def join(self, configs: Sequence[int]) -> int:
        """The configuration with the alternatives of all."""
        found = configs[0] if configs else DEAD
        if len(configs) == 2:
            return self.union(found, configs[1])
        if len(configs) > 2:
            key = tuple(sorted(set(configs)))
            known = self._joins.get(key)
            if known is None:
                known = self.config([thread for config in key for thread in self.configs[config]])
                self._joins[key] = known
            found = known
        return found

    def groups(self, config: int) -> tuple[Group, ...]:
        """The threads of a configuration by what they read."""
        found = self._groups.get(config)
        if found is None:
            found = self._groups.keep(config, steps.groups(self, config))
        return found

    def first(self, config: int) -> np.ndarray:
        """bool[256]: the bytes that may come next; not to be written to."""
        found = self._firsts.get(config)
        if found is None:
            found = self._firsts.keep(config, steps.first(self, config))
            found.flags.writeable = False
        return found

    def first_after(self, cont: int) -> np.ndarray:
        """bool[256]: the bytes that may come next at a continuation; not to be written to."""
        return self.first(self.after(cont))

    def advance(self, config: int, data: bytes) -> int:
        """The configuration after bytes."""
        return steps.advance(self, config, data)

    def history_free(self, config: int) -> int:
        """The configuration without the bytes read, equal up to the next step that depends on them.

        Masks of history-dependent configurations are walked from here, so that they are shared.
        """
        if not self.history_dependent[config]:
            return config
        found = self._history_free.get(config)
        if found is None:
            threads = []
            for thread in self.configs[config]:
                if thread != ACCEPT:
                    node, state, cont = self.place(thread)
                    if node.history_dependent(self, state):
                        thread = self.thread(node, node.without_history(self, state), cont)
                threads.append(thread)
            found = self._history_free[config] = self.config(threads)
        return found

    def known_history_free(self, config: int) -> int:
        """The same if it has been asked for before, else -1."""
        return self._history_free.get(config, -1)

    def row(self, config: int) -> np.ndarray:
        """The row of a configuration: int32[256], the next configurations by byte; not to be written to."""
        place = self.row_of[config]
        if place == NO_ROW:
            place = self.fill_row(config)
        # Looked up after filling, which may move the rows.
        found: np.ndarray = self.rows[place]
        return found

    def fill_row(self, config: int) -> int:
        """Make the row of a configuration; returns its index."""
        with self.lock:
            place = int(self.row_of[config])
            if place != NO_ROW:
                return place
            assert not self.needs_history[config], "a configuration that needs history has no row"
            row = np.zeros(256, np.int32)
            threads = [t for t in self.configs[config] if t != ACCEPT]
            self.effort += len(threads)
            spend(_OF_ROW * len(threads))
            if len(threads) == 1:
                self._fill(row, threads[0])
            else:
                for thread in threads:
                    self._merge(row, self._row_alone(thread))
            return self._store(config, row)

    def _row_alone(self, thread: int) -> np.ndarray:
        """The row of one thread; filling it makes no other row."""
        return self.row(self.alone(thread))

    def _fill(self, row: np.ndarray, thread: int) -> None:
        node, state, cont = self.place(thread)
        for low, high, target in node.moves(self, state, cont):
            row[low : high + 1] = target

    def _merge(self, row: np.ndarray, other: np.ndarray) -> None:
        """Union of two rows, into the first."""
        both = np.flatnonzero((row != DEAD) & (other != DEAD))
        if not len(both):
            row += other
            return
        mixed = [self.union(a, b) for a, b in zip(row[both].tolist(), other[both].tolist(), strict=True)]
        np.maximum(row, other, out=row)
        row[both] = mixed

    def _store(self, config: int, row: np.ndarray) -> int:
        if self.row_count == len(self.rows):
            grown = np.zeros((2 * len(self.rows), 256), np.int32)
            grown[: self.row_count] = self.rows
            self.rows = grown
        place = self.row_count
        self.rows[place] = row
        self.row_count += 1
        self.row_of[config] = place
        return place


def repeated(least: dict[tuple[int, int], int], frame: Node, state: object, following: int) -> bool:
    """Of items that may be empty only the resumption with the fewest items done matters."""
    count = state if isinstance(state, int) else 0
    if least.get((frame.index, following), count + 1) <= count:
        return True
    least[frame.index, following] = count
    return False
