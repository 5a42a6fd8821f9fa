"""Rests of tokens behind the terminals of grammars, read by one native walk (`sglc.kernels.gss.walk`).

Searches follow configurations, which are kept: to make one takes a hundred times as long as to read a token
through it, and most come up once. So where only a grammar follows, tokens are read without any.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from sglc.automata.caches import LeastUsed
from sglc.automata.work import spend
from sglc.kernels.gss import limits
from sglc.kernels.gss.api import StackWalk
from sglc.kernels.gss.arrays import Need, Result
from sglc.kernels.gss.walk import PAUSE
from sglc.runtime.mask.automaton.limits import LimitTracker
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import ACCEPT
from sglc.runtime.mask.automaton.step import Group
from sglc.runtime.mask.gss.machine import GssMachine
from sglc.runtime.mask.gss_walk.tables import OF_PART, StackTables, TooLarge
from sglc.runtime.mask.gss_walk.terminals import is_small
from sglc.runtime.mask.nodes.core import Literal
from sglc.runtime.mask.nodes.dispatch import CaseNode
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode
from sglc.runtime.mask.product_nodes.lookahead import NotBefore, State
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_Thread = tuple[int, int, int, int, int, int]
"""(state of a text or -1, what follows it, state of what is forbidden, place in words): `walk_grammar`."""
Begin = tuple[int, int]
"""(a node to open, what follows it), or (-1, a continuation to resume)."""
_NO_THREADS = np.zeros((0, 6), np.int32)
_MOST_THREADS = limits.ROOM // 2
"""Of what a walk begins with; more are searched for without it."""
_OF_THREAD = 200
"""Bytes of a thread for walks, about."""
_UNKNOWN = object()
_MOST_LARGE = 3
"""Threads whose tokens are looked up. Each has lexeme boundaries of its own, most of them at the same nodes:
of more threads all are read by one walk."""
_EFFORT = PAUSE // 100
"""Of a walk's pause, in the threads of configurations that limits count: what would take as long."""
_OF_PAUSE = 2_000
"""Units of work of a walk between two pauses."""


class Start(NamedTuple):
    """A configuration as walks take it: threads inside of small terminals, int32[n, 6] (see `walk_grammar`),
    and the groups of those that are looked up."""

    threads: np.ndarray
    groups: tuple[Group, ...]


class StackMasks:
    """Walks of one machine's grammars under one vocabulary."""

    def __init__(self, machine: Machine, vocabulary: Vocabulary, roots: np.ndarray) -> None:
        """`roots`: the topmost nodes of the vocabulary's trie."""
        self._machine = machine
        self._vocabulary = vocabulary
        self._roots = roots
        self._tables: StackTables | None = None
        if machine.of_grammars:
            assert isinstance(machine, GssMachine)
            self._tables = StackTables(machine)
        self._walk: StackWalk | None = None
        self.walks = 0
        """Native walks so far."""
        self._starts: tuple[int, Start | None] = -1, None
        """The configuration that was asked for last, and its start."""
        self._small: LeastUsed[int, tuple[_Thread, ...] | None] = LeastUsed(size=_OF_THREAD)
        """By thread: what it is for walks; None for those that are looked up."""
        self._refused: LeastUsed[Hashable, bool] = LeastUsed()

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables, once some grammar has been walked."""
        if self._tables is None or self._walk is None:
            return 0
        return self._tables.nbytes + self._walk.nbytes

    def start(self, config: int) -> Start | None:
        """How walks begin at a configuration; None where not only parts of grammars follow."""
        if self._tables is None:
            return None
        if config != self._starts[0]:
            try:
                self._starts = config, self._start(config)
            except BaseException:
                # A limit may be passed anywhere.
                self.forget()
                raise
        return self._starts[1]

    def forget(self) -> None:
        """Drop what has been found for walks: some of it may be half of what it should be."""
        if self._tables is not None:
            assert isinstance(self._machine, GssMachine)
            self._tables = StackTables(self._machine)
        self._walk = None
        self._starts = -1, None
        self._small.clear()

    def describe_ahead(self, config: int, until: float) -> None:
        """Find out about the parts that follow a configuration while there is time (of `perf_counter`)."""
        machine, tables = self._machine, self._tables
        if tables is not None and self.start(config) is not None:
            threads = [thread for thread in machine.configs[config] if thread != ACCEPT]
            try:
                tables.describe_ahead([machine.place(thread)[2] for thread in threads], until)
            except TooLarge:
                self._tables = None
            except BaseException:
                self.forget()
                raise

    def _start(self, config: int) -> Start | None:
        machine, tables = self._machine, self._tables
        if tables is None:
            return None
        threads = [thread for thread in machine.configs[config] if thread != ACCEPT]
        if self._refused.get(config):
            return None
        conts = [machine.place(thread)[2] for thread in threads]
        try:
            # What is read up to the end of all text needs no walk.
            if not any(conts) or not tables.reads(conts):
                return None
        except TooLarge:
            self._tables = None
            return None
        small: list[_Thread] = []
        large: list[int] = []
        for thread in threads:
            here = self._small.get(thread, _UNKNOWN)
            if here is _UNKNOWN:
                here = self._small.keep(thread, self._as_small(thread))
            if here is None:
                large.append(thread)
            else:
                small += here
        if len(large) > _MOST_LARGE:
            # Each would have boundaries of its own, most of them at the same nodes.
            every = [self._as_walked(thread) for thread in large]
            small += [thread for walked in every if walked is not None for thread in walked]
            large = [thread for thread, walked in zip(large, every, strict=True) if walked is None]
        groups = machine.groups(machine.config(large)) if large else ()
        return Start(np.array(small, np.int32).reshape(-1, 6), groups)

    def _as_small(self, thread: int) -> tuple[_Thread, ...] | None:
        """A thread for walks, if few tokens begin like its terminal."""
        node, state, _ = self._machine.place(thread)
        return self._as_walked(thread) if type(node) is NotBefore or is_small(node, state) else None

    def _as_walked(self, thread: int) -> tuple[_Thread, ...] | None:
        """A thread for walks; None if they cannot read it."""
        assert self._tables is not None
        node, state, cont = self._machine.place(thread)
        try:
            if type(node) is NotBefore:
                return self._forbidden(node, state)
            here = self._tables.place(node, state)
        except TooLarge:
            return None
        return None if here is None else ((here[0], cont, 0, *here[1]),)

    def _forbidden(self, node: NotBefore, state: State) -> tuple[_Thread, ...] | None:
        """The threads that are read under a lookahead."""
        machine, tables = self._machine, self._tables
        assert tables is not None
        config, place = state
        found: list[_Thread] = []
        for thread in machine.configs[config]:
            if thread == ACCEPT:
                continue
            inner, at, cont = machine.place(thread)
            here = tables.place(inner, at) if tables.reads((cont,)) else None
            if here is None:
                return None
            found.append((here[0], cont, tables.forbidden_at(node.table, place), *here[1]))
        return tuple(found)

    @property
    def unsure(self) -> list[int]:
        """Nodes whose own tokens the last walk has left open: a lookahead needs more than one byte there."""
        return [] if self._walk is None else self._walk.unsure

    def walk(self, config: int, start: Start, row: np.ndarray, account: LimitTracker) -> bool:
        """Set the bits of the legal tokens of small terminals; False where these have to be searched for."""
        if not len(start.threads):
            return True
        done = self._follow(config, start.threads, (), self._roots, row, account)
        if not done:
            self._starts = config, None
        return done

    def follow(
        self, group: Group, label: int, entries: np.ndarray, row: np.ndarray, account: LimitTracker
    ) -> bool | None:
        """The same of the tokens below the entries, behind the words of a group that end with a label; None
        where not only parts of grammars follow."""
        node, tables = group.node, self._tables
        if tables is None:
            return None
        if type(node) in (TextNode, WordNode, Literal):
            if not any(group.conts) or not tables.reads(group.conts):
                return None
            begins = [(-1, cont) for cont in group.conts]
        elif type(node) is CaseNode and tables.reads(group.conts):
            if group.run:
                label = node.rows.places[group.state][0]
            part = node.behind_word(label).index
            begins = [(part, cont) for cont in group.conts]
        else:
            return None
        return self._follow(tuple(begins), _NO_THREADS, begins, entries, row, account)

    def _follow(
        self,
        key: Hashable,
        inside: np.ndarray,
        begins: Sequence[Begin],
        entries: np.ndarray,
        row: np.ndarray,
        account: LimitTracker,
    ) -> bool:
        machine, tables = self._machine, self._tables
        if tables is None or self._refused.get(key):
            return False
        if len(begins) + len(inside) > _MOST_THREADS:
            return False
        if self._walk is None:
            self._walk = StackWalk(self._vocabulary.subtrees, self._vocabulary.arrays.deepest)
        self.walks += 1
        self._walk.begin(entries, inside, np.array(begins, np.int32).reshape(-1, 2))
        together = {Need.PART: tables.describe, Need.STATE: tables.make_rows}
        make = {
            Need.LOOKAHEAD: tables.make_forbidden_row,
            Need.UNION: tables.find_union,
            Need.BEGINS: tables.find_begins,
            Need.BEHIND: tables.find_behind,
        }
        stuck: tuple[int, ...] | None = None
        try:
            while True:
                code = self._walk.go(tables.current(), machine.looks_ahead, row)
                if code == Result.DONE:
                    return True
                if code == Result.TOO_MUCH or (code == Result.FULL and self._walk.place == stuck):
                    break
                if code == Result.FULL:
                    stuck = self._walk.place
                    self._walk.forget()
                if code == Result.NEEDS_TABLES:
                    stuck = None
                    asked = dict.fromkeys(self._walk.requests)
                    for what, make_all in together.items():
                        if numbers := [number for need, number in asked if need == what]:
                            make_all(numbers)
                    for what, number in asked:
                        if what not in together:
                            make[what](number)
                machine.effort += _EFFORT if code == Result.PAUSED else 1
                spend(_OF_PAUSE if code == Result.PAUSED else OF_PART * (1 + len(self._walk.requests)))
                account.check()
        except TooLarge:
            self._tables = None
            return False
        self._refused.keep(key, True)
        return False
