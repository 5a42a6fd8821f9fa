"""Lexemes of texts: the words of an automaton over characters."""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import chain

import numpy as np

from sglc.automata.charset import Ranges, meet
from sglc.automata.dfa.operations import step as dfa_step
from sglc.automata.dfa.operations import walk as dfa_walk
from sglc.automata.term import CharDfa, Encoding
from sglc.kernels.trie.api import UNBOUNDED
from sglc.kernels.trie.walks import BOUNDARY, ENDS, NO_MOVE
from sglc.runtime.mask.lexeme.bounded_loops import Runs
from sglc.runtime.mask.lexeme.codepoint_lexeme import TextCharacters
from sglc.runtime.mask.lexeme.self_loops import (
    ReachableFacts,
    SelfLoop,
    reachable_facts,
    self_loop_after,
    size,
)
from sglc.runtime.mask.lexeme.table import NO_LABELS, PLAIN_BYTES, LexemeDfa, LexemeState
from sglc.runtime.mask.lexeme.text_dfa import TextTable


class TextLexeme(LexemeDfa):
    """The lexeme of a `TextTable`; its places are the table's local states."""

    table: TextTable

    def __init__(self, table: TextTable) -> None:
        super().__init__()
        self.table = table
        self.encoding = table.encoding
        self.single = table.boundary == 1 and 0 in table.dfa.accepting
        self._measured = False
        self._fewest = -1
        self._loops: dict[int, tuple[SelfLoop | None, int]] = {}
        self._reachable_facts: dict[tuple[int, ...], ReachableFacts] = {}
        self._uniform: bool | None = None
        self._self_loops: dict[int, SelfLoop | None] = {}
        self._runs = Runs(table.rows, self.encoding) if table.boundary > 2 else None
        self._run_stills: dict[int, SelfLoop | None] = {}
        self._characters: TextCharacters | None = None

    def describe(self, state: int) -> tuple[int, int, int]:
        """Lengths are any until `measure` was called; states inside characters have no flags."""
        table, local = self.table, self.places[state]
        flags = 0
        if local < table.boundary:
            flags = BOUNDARY | (ENDS if local in table.dfa.accepting else 0)
        return (flags, *self._lengths_at(local)) if self._measured else (flags, 0, UNBOUNDED)

    def _lengths_at(self, local: int) -> tuple[int, int]:
        table = self.table
        if local < table.boundary:
            longest = table.longest(local)
            return table.shortest(local), UNBOUNDED if longest is None else longest
        targets = table.targets(local)
        bounds = [table.longest(target) for target in targets]
        most = UNBOUNDED if None in bounds else 1 + max(bound for bound in bounds if bound is not None)
        return 1 + min(map(table.shortest, targets)), most

    def measure(self) -> None:
        """Ask the whole automaton for lengths, once; texts without bounds never need it."""
        # Most texts have no bounds, and lengths are a question to the whole automaton.
        if self._measured:
            return
        self._measured = True
        self._lengths = array("i", chain.from_iterable(map(self._lengths_at, self.places[: len(self.flags)])))
        if self._size:
            self._take_lengths(0)

    def by_characters(self) -> TextCharacters:
        """The automaton over characters, with lengths once they were measured."""
        found = self._characters
        if found is None:
            found = self._characters = TextCharacters(self.table)
        if self._measured:
            found.measure()
        return found

    def inside(self, local: int) -> int:
        """States of the table from its boundary on are those inside characters."""
        return local - self.table.boundary

    @property
    def any_length(self) -> bool:
        """As the table says; see `TextTable.any_length`."""
        return self.table.any_length

    def self_loop(self, place: LexemeState, longest: int) -> SelfLoop | None:
        """A run of bounded length where the place itself has no bound; else what `lasting` finds."""
        local = self.places[place.state]
        if local >= self.table.boundary:
            return None
        run = None
        if place.least == 0 and (place.most is None or place.most >= longest + self.fewest()):
            run = self._run(local)
        if run is not None and run.room is not None:
            return run
        return self.lasting(place, longest) or run

    def lasting(self, place: LexemeState, longest: int) -> SelfLoop | None:
        """The same of characters that may be read any number of times."""
        local = self.places[place.state]
        everywhere = self._everywhere(local)
        if everywhere is not None and (place.most is None or place.most >= longest + self.fewest()):
            return everywhere
        if local not in self._loops:
            self._loops[local] = self._loop(local)
        found, home = self._loops[local]
        if found is None or place.most is None:
            return found
        return replace(found, room=place.most - self.table.shortest(home))

    def _run(self, local: int) -> SelfLoop | None:
        """See `Runs.self_loop`."""
        if self._runs is None:
            return None
        if local not in self._run_stills:
            self._run_stills[local] = self._runs.self_loop(local)
        return self._run_stills[local]

    def _loop(self, local: int) -> tuple[SelfLoop | None, int]:
        """The most characters that all lead to one state (perhaps this one) and there back to it."""
        rows, targets = self.table.rows, self.table.targets
        stay = {target for target in targets(local) if target in targets(target)}
        if not stay:
            return None, local
        first = back = rows.leading(local, local) if local in stay else ()
        most, home = size(first), local
        for target in stay - {local}:
            to, again = rows.leading(local, target), rows.leading(target, target)
            common = size(meet(to, again))
            if common > most:
                first, back, most, home = to, again, common, target
        read = rows.covered(home)
        return self_loop_after(first, back, self.table.encoding, self.number(home), read), home

    def fewest(self) -> int:
        """One character, and the longest of the shortest words from states between characters."""
        if self._fewest < 0:
            self._fewest = 1 + max(map(self.table.shortest, range(self.table.boundary)))
        return self._fewest

    def step(self, state: int, byte: int) -> int:
        """By the automaton over characters where the byte is one, without a row; else by the table."""
        local = self.places[state]
        if local < self.table.boundary and (byte in PLAIN_BYTES if self.encoding != "raw" else byte < 0x80):
            found = dfa_step(self.table.dfa, local, byte)
        else:
            found = self.table.move(local, byte)
        return NO_MOVE if found is None else self.number(found)

    def first(self, state: int, least: int, most: int, open: np.ndarray = NO_LABELS) -> np.ndarray:
        """By the automaton over characters, but for states inside of one."""
        local = self.places[state]
        if local >= self.table.boundary:
            return super().first(state, least, most, open)
        if least > 0 or most < UNBOUNDED // 2:
            self.measure()
        return self.by_characters().first(local, least, most)

    def run(self, state: int, text: str) -> int | None:
        """The state after some characters, NO_MOVE if they are not legal; None inside a character."""
        local = self.places[state]
        if local >= self.table.boundary:
            return None
        found = dfa_walk(self.table.dfa, text, local)
        return NO_MOVE if found is None else self.number(found)

    def counted(self, place: LexemeState) -> Ranges | None:
        """The characters, where every state goes on with the same ones and may end; else None."""
        local = self.places[place.state]
        if local >= self.table.boundary:
            return None
        known = self._from(local)
        return known.characters if known.uniform and known.accepting else None

    def _everywhere(self, local: int) -> SelfLoop | None:
        """Characters with which every state that can be reached can go on."""
        if local not in self._self_loops:
            self._self_loops[local] = self._from(local).self_loop(self.table.encoding)
        return self._self_loops[local]

    def _from(self, local: int) -> ReachableFacts:
        dfa, rows, known = self.table.dfa, self.table.rows, self._reachable_facts
        if self.table.boundary == 1 and not known:
            found = rows.covered(0)
            known[0,] = ReachableFacts(found, True, 0 in dfa.accepting) if found else ReachableFacts()
        if (local,) not in known and self._is_uniform():
            known[local,] = ReachableFacts(rows.covered(local), True, self._may_always_end(local))
        if (local,) not in known and self.table.may_stop(local):
            # No character is common to all states if some state has none.
            known[local,] = ReachableFacts()
        return reachable_facts((rows,), (local,), known)

    def _may_always_end(self, local: int) -> bool:
        """Whether words may end in all states that are reached from one."""
        edges, accepting = self.table.dfa.edges, self.table.dfa.accepting
        seen = {local}
        waiting = [local]
        while waiting and waiting[-1] in accepting:
            for _, _, target in edges[waiting.pop()]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return not waiting

    def _is_uniform(self) -> bool:
        """Whether all states go on with the same characters."""
        if self._uniform is None:
            rows = self.table.rows
            first = rows.covered(0)
            self._uniform = bool(first)
            for state in range(self.table.boundary if self._uniform else 0):
                if rows.covered(state) != first:
                    self._uniform = False
                    break
        return self._uniform


def class_lexeme(characters: Ranges, encoding: Encoding) -> TextLexeme:
    """The lexeme of all words over some characters."""
    edges = (tuple([(low, high, 0) for low, high in characters]),)
    return TextLexeme(TextTable(CharDfa(edges, frozenset([0])), encoding))


def text_lexeme(table: TextTable) -> TextLexeme:
    """The lexeme of a table, made once."""
    if table.lexeme is None:
        table.lexeme = TextLexeme(table)
    return table.lexeme
