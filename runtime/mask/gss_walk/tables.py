"""A machine's grammars as the arrays that `sglc.kernels.gss.walk` reads, made as it asks for them."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from sglc.automata import charset
from sglc.automata.charset import Ranges
from sglc.automata.dfa.operations import any_char_class
from sglc.automata.work import spend
from sglc.kernels.gss import limits
from sglc.kernels.gss.api import empty_grammar, grown
from sglc.kernels.gss.arrays import Grammar, Key, Part, TextFlag
from sglc.runtime.mask.automaton.protocol import END, Node
from sglc.runtime.mask.gss.machine import GssMachine, MergedContinuation
from sglc.runtime.mask.gss_walk.terminals import is_late, is_letter, is_terminal
from sglc.runtime.mask.lexeme.table import LexemeState
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.lexeme.text_lexeme import text_lexeme
from sglc.runtime.mask.nodes.core import Alternatives, Literal, Repetition, RuleNode, Series
from sglc.runtime.mask.nodes.dispatch import CaseNode
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode
from sglc.runtime.mask.product_nodes.lookahead import NotBefore

_MOST_PARTS = (1 << 18) - 2
"""Numbers of parts have 18 bits in the keys of closures; a machine with more nodes is searched without
tables."""
_MOST_STATES = 1 << 15
"""States of texts, a kilobyte each; a grammar with more is searched without tables."""
_MOST_ROUNDS = (1 << 31) - 1
"""The largest number of the tables; walks count fewer rounds than that (`stack_closure.MOST_STATE`)."""
_ASKED = -2
"""In `behind`: what follows a word is not known yet."""
_FRAMES = frozenset((Series, Repetition, MergedContinuation))
"""Nodes of grammars that continuations resume."""
_COMPOSED = frozenset((Series, Alternatives, Repetition))
_OPENING = frozenset((Part.SERIES, Part.CHOICE, Part.RULE, Part.REPEAT))
"""Kinds of parts that are opened with others."""
_WITHOUT_FIRST = frozenset((Part.NEGATIVE_LOOKAHEAD, Part.NOTHING, Part.FOREIGN))
"""Kinds of parts of which nobody asks with which bytes they begin."""

_SHORT = 16
"""Of so many states of a text the rows at letters are made at once: few words have more letters, and each row
takes a kilobyte."""
OF_PART = 20
"""Units of work of a part that a walk asks for, and of one that is described with it."""


class TooLarge(Exception):
    """A grammar has more parts, states or lookaheads than walks have numbers for."""


class StackTables:
    """The arrays of one machine's grammars, by the numbers of its nodes and continuations."""

    def __init__(self, machine: GssMachine) -> None:
        self.arrays = empty_grammar()
        """Replaced when they grow; see `current`."""
        self._machine = machine
        self._described: set[int] = set()
        """The parts of which it has been said what they are."""
        self._lists = 0
        self._firsts: dict[int, int] = {}
        """By set of bytes: its number; 0 is that of every byte."""
        self._states: dict[tuple[TextTable, int], int] = {}
        """By text and state of it: the number of the state."""
        self._places: list[tuple[TextTable, int]] = []
        """Text and state of it, by number."""
        self._noted = 0
        """The number of those that are in the arrays."""
        self._word_lists: dict[object, int] = {}
        """By bytes, or set of words, or choice among parts: the number of the first word."""
        self._cases: list[tuple[int, CaseNode]] = []
        """Choices among parts, by the number of the first word."""
        self._words = self._word_bytes = 0
        self._forbidden_next: list[Ranges] = [()]
        self._forbidden_numbers: dict[Ranges, int] = {(): 0}
        self._forbidden_states: dict[tuple[TextTable, int], int] = {}
        """By table of what is forbidden, each with numbers of its own for the places inside of characters."""
        self._forbidden_places: list[tuple[TextTable | None, int]] = [(None, 0)]
        self._read: dict[int, bool] = {END: True}
        """By continuation: whether walks read it."""
        self._kinds: dict[int, bool] = {}
        """By node: see `_readable`."""
        self.arrays.unions[0, 0] = 0

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays take."""
        return sum([array.nbytes for array in self.arrays.arrays])

    def reads(self, conts: Sequence[int]) -> bool:
        """Whether walks read what follows: parts of grammars up to the end. Frames are in the arrays then."""
        known = self._read
        new = [cont for cont in conts if cont not in known]
        if new:
            self._find(new)
        return all([known[cont] for cont in conts])

    def _find(self, stack: list[int]) -> None:
        """Find whether walks read what follows some continuations."""
        known, kinds, frame = self._read, self._kinds, self._machine.frame
        records: list[int] = []
        while stack:
            cont = stack[-1]
            if cont in known:
                stack.pop()
                continue
            node, state, after = frame(cont)
            if type(node) is not MergedContinuation:
                reads = type(node) in _FRAMES
                if reads:
                    known_kind = kinds.get(node.index)
                    reads = self._readable(node) if known_kind is None else known_kind
                if not reads or cont > Key.FRAME or node.index >= _MOST_PARTS:
                    known[cont] = False
                elif after in known:
                    records += (cont, node.index, state, after)
                    known[cont] = known[after]
                    if type(node) is Repetition:
                        # Closures pass through one that may end to the next below.
                        self.describe((node.index,))
                else:
                    stack.append(after)
                continue
            missing = [each for each in state if each not in known]
            if missing:
                stack += missing
                continue
            self._program()[node.index] = Part.MERGED, 0, 0, 0
            records += (cont, node.index, self._list(state), len(state))
            known[cont] = cont <= Key.FRAME and all([known[each] for each in state])
        if records:
            rows = np.array(records, np.int32).reshape(-1, 4)
            most = max(records[::4])
            if most >= len(self.arrays.frames):
                self.arrays = grown(self.arrays, frames=2 * most)
            self.arrays.frames[rows[:, 0]] = rows[:, 1:]
            spend(len(records) // 4)

    def _readable(self, start: Node) -> bool:
        """Whether walks can read a node as far as it is made."""
        known = self._kinds
        seen: dict[int, bool] = {start.index: True}
        stack = [start]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind in _COMPOSED or (kind is RuleNode and node.made):  # type: ignore[attr-defined]
                for each in node.children():
                    index = each.index
                    if index in known:
                        if not known[index]:
                            known[start.index] = False
                            return False
                    elif index not in seen:
                        seen[index] = True
                        stack.append(each)
            elif kind is not RuleNode and not is_terminal(node):
                # What is compiled late is a grammar's.
                known[start.index] = known[node.index] = False
                return False
        known.update(seen)
        return True

    # Parts

    def current(self) -> Grammar:
        """The arrays, with room for every part that there is, and with all states."""
        self._program()
        self._note_states()
        return self.arrays

    def _program(self) -> np.ndarray:
        """The parts, with room for every one that there is."""
        count = len(self._machine.nodes)
        if count > len(self.arrays.program):
            self.arrays = grown(self.arrays, program=2 * count)
        return self.arrays.program

    def describe(self, indexes: Iterable[int]) -> None:
        """Say what parts are, and what all parts are that are opened with them. Raises TooLarge."""
        waiting, known = list(indexes), self._described
        found: dict[int, tuple[int, int, int, int]] = {}
        late: dict[int, int] = {}
        try:
            while waiting:
                index = waiting.pop()
                if index not in known and index not in found:
                    opened = self._describe(index, found, late)
                    spend(OF_PART * len(opened))
                    waiting += opened
        finally:
            if found:
                program = self._program()
                program[[*late], 3] = [*late.values()]
                program[[*found]] = [*found.values()]
                known.update(found)

    def _describe(
        self, index: int, found: dict[int, tuple[int, int, int, int]], late: dict[int, int]
    ) -> list[int]:
        """Say what one part is, and with what rules begin that are not compiled; the parts that are opened
        with it."""
        if index >= _MOST_PARTS:
            raise TooLarge
        node = self._machine.nodes[index]
        kind, a, b = self._part(node)
        found[index] = kind, a, b, 0 if kind in _WITHOUT_FIRST else self._begins(node)
        if type(node) in _COMPOSED:
            # Rules that begin with other bytes than are wanted need not be compiled.
            late.update({each.index: self._begins(each) for each in node.children() if is_late(each)})
        if kind not in _OPENING:
            return []
        return [each.index for each in node.openers() if not is_late(each)]

    def _begins(self, node: Node) -> int:
        """The number of the set of bytes with which words of a node begin, 0 where it has none."""
        known = self._machine.first_of(node)
        return 0 if known is None or known[1] else self._first(known[0])

    def describe_ahead(self, conts: Iterable[int], until: float) -> None:
        """Say what parts are before they are asked for, those first that come first, while there is time
        (of `perf_counter`). Raises TooLarge."""
        seen: dict[int, None] = {}
        for cont in conts:
            while cont != END and type(node := self._machine.frame(cont)[0]) is not MergedContinuation:
                seen[node.index] = None
                cont = self._machine.frame(cont)[2]
        waiting = deque(seen)
        while waiting and perf_counter() < until:
            index = waiting.popleft()
            self.describe((index,))
            if type(node := self._machine.nodes[index]) is CaseNode:
                node.begins_any()
            for each in self._inside(*self.arrays.program[index, :3].tolist()):
                if each not in seen:
                    seen[each] = None
                    waiting.append(each)

    def _inside(self, kind: int, a: int, b: int) -> list[int]:
        """The parts that a part is made of."""
        if kind == Part.SERIES:
            return [a, b]
        if kind == Part.CHOICE:
            parts: list[int] = self.arrays.lists[a : a + b].tolist()
            return parts
        if kind == Part.RULE:
            return [a]
        return [part for part in (a, int(self.arrays.lists[b])) if part >= 0] if kind == Part.REPEAT else []

    def _part(self, node: Node) -> tuple[int, int, int]:
        if type(node) is NotBefore:
            return Part.NEGATIVE_LOOKAHEAD, self._number_of_forbidden(node.forbidden_next), 0
        if not node.productive:
            return Part.NOTHING, 0, 0
        if type(node) is Literal:
            first = self._word_list(node.data, [node.data])
            return Part.LIST, first, first + 1
        if type(node) is Series:
            return Part.SERIES, node.first.index, node.rest.index
        if type(node) is Alternatives:
            arms = [arm.index for arm in node.arms if arm.productive]
            return Part.CHOICE, self._list(arms), len(arms)
        if type(node) is RuleNode:
            body = node.make()
            return (Part.NOTHING, 0, 0) if body is None else (Part.RULE, body.index, 0)
        if type(node) is Repetition:
            separator = node.separator.index if node.separator.data else -1
            most = -1 if node.maximum is None else min(node.maximum, _MOST_ROUNDS)
            item = node.item.index if node.item.productive else -1
            return Part.REPEAT, item, self._list((separator, node.minimum, most, node.needed))
        if not is_terminal(node):
            return Part.FOREIGN, 0, 0
        if type(node) is TextNode:
            if node.first is None:
                return Part.NOTHING, 0, 0
            local, table = node.first[0], node.table
            begins = table.goes_on(local)
            state = self._state(table, local) if begins else -1
            if begins and table.can_end(local, 0):
                # That it may be empty says nothing of what it begins with; its row does.
                self.make_rows([state])
            return Part.TEXT, state, table.can_end(local, 0)
        assert isinstance(node, WordNode | CaseNode)
        first = self._words_of(node)
        return Part.LIST, first, first + len(node.set.words)

    def _list(self, numbers: Iterable[int]) -> int:
        some = list(numbers)
        begin, self._lists = self._lists, self._lists + len(some)
        if self._lists > len(self.arrays.lists):
            self.arrays = grown(self.arrays, lists=2 * self._lists)
        self.arrays.lists[begin : self._lists] = some
        return begin

    def _first(self, bytes: int) -> int:
        found = self._firsts.get(bytes)
        if found is None:
            found = self._firsts[bytes] = len(self._firsts) + 1
            if found >= len(self.arrays.firsts):
                self.arrays = grown(self.arrays, firsts=2 * found)
            self.arrays.firsts[found] = np.frombuffer(bytes.to_bytes(32, "little"), np.uint64)
        return found

    # Terminals

    def place(self, node: Node, state: Any) -> tuple[int, tuple[int, int, int]] | None:
        """(number of a state of a text, anything) or (-1, a place in the words) of a terminal, None if walks
        do not read it. Raises TooLarge."""
        if type(node) is Literal:
            first = self._word_list(node.data, [node.data])
            return -1, (first, first + 1, state)
        if not is_terminal(node):
            return None
        if type(node) is TextNode:
            local, least, most = state
            return (self._state(node.table, local), (0, 0, 0)) if least <= 0 and most is None else None
        if type(node) is WordNode:
            low, high, read = node.table.places[state]
        elif type(node) is CaseNode:
            low, high, read = node.rows.places[state]
        else:
            return None
        first = self._words_of(node)
        # Of a word that ends here another thread goes on.
        low += node.set.ends((low, high, read))
        return -1, (first + low, first + high, read)

    def _words_of(self, node: WordNode | CaseNode) -> int:
        if type(node) is WordNode:
            return self._word_list(node.table, node.set.words)
        known = node in self._word_lists
        first = self._word_list(node, node.set.words)
        if not known:
            assert isinstance(node, CaseNode)
            self._cases.append((first, node))
            self.arrays.behind[first : self._words, 0] = _ASKED
        return first

    def _word_list(self, key: object, words: Sequence[bytes]) -> int:
        """The number of the first of some words in order."""
        found = self._word_lists.get(key)
        if found is None:
            found, self._words = self._words, self._words + len(words)
            begin, data = self._word_bytes, b"".join(words)
            self._word_bytes += len(data)
            arrays = self.arrays
            if self._words >= len(arrays.behind):
                arrays = self.arrays = grown(arrays, word_starts=2 * self._words, behind=2 * self._words)
            if self._word_bytes > len(arrays.words):
                arrays = self.arrays = grown(arrays, words=2 * self._word_bytes)
            arrays.words[begin : self._word_bytes] = np.frombuffer(data, np.uint8)
            if len(words) == 1:
                arrays.word_starts[self._words] = self._word_bytes
            else:
                ends = arrays.word_starts[found + 1 : self._words + 1]
                np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=ends)
                ends += begin
            self._word_lists[key] = found
        return found

    def _state(self, table: TextTable, local: int) -> int:
        found = self._states.get((table, local))
        if found is None:
            found = len(self._places)
            if found >= _MOST_STATES:
                raise TooLarge
            self._states[table, local] = found
            self._places.append((table, local))
        return found

    def _note_states(self) -> None:
        """Put the states that have been numbered into the arrays."""
        if self._noted == len(self._places):
            return
        places, arrays = self._places, self.arrays
        if len(places) > len(arrays.rows):
            size = 2 * len(places)
            arrays = self.arrays = grown(arrays, rows=size, begins=size, flags=size, loops=size)
        arrays.flags[self._noted : len(places)] = [
            TextFlag.ENDS * (local in table.dfa.accepting) | TextFlag.GOES_ON * table.goes_on(local)
            for table, local in places[self._noted :]
        ]
        self._noted = len(places)

    def make_rows(self, states: Iterable[int]) -> None:
        """Make the rows of states of texts. Where one is at a letter of a word, the rows of the word's other
        letters are made with it. Raises TooLarge."""
        wanted: dict[int, None] = {}
        looping: list[int] = []
        for state in states:
            wanted[state] = None
            table, local = self._places[state]
            if local < table.boundary:
                if is_letter(table, local):
                    letters = [each for each in range(min(table.boundary, _SHORT)) if is_letter(table, each)]
                    wanted.update(dict.fromkeys([self._state(table, each) for each in letters]))
                else:
                    looping.append(state)
        noted, flags = self._noted, self.arrays.flags
        made = [state for state in wanted if state >= noted or not flags[state] & TextFlag.KNOWN]
        moves = [
            (state, low, high, self._state(table, to))
            for state in made
            for table, local in (self._places[state],)
            for low, high, to in table.moves(local)
        ]
        self._note_states()
        arrays = self.arrays
        for state, low, high, target in moves:
            arrays.rows[state, low : high + 1] = target
        arrays.begins[made] = np.packbits(arrays.rows[made] >= 0, axis=1, bitorder="little").view(np.uint64)
        arrays.flags[made] |= TextFlag.KNOWN
        for state in looping:
            self._find_loop(state)

    def _find_loop(self, state: int) -> None:
        """Find the characters that lead on and on from a state of a text, whose tokens are looked up."""
        table, local = self._places[state]
        lexeme = text_lexeme(table)
        self_loop = lexeme.lasting(LexemeState(lexeme, lexeme.number(local)), 0)
        if self_loop is not None and (self_loop := self_loop.with_none_forbidden()) is not None:
            self.arrays.loops[state] = self_loop.groups

    def find_behind(self, word: int) -> None:
        """Find the part that follows a word."""
        first, node = self._case(word)
        self.arrays.behind[word, 0] = node.behind_word(word - first).index

    def find_begins(self, word: int) -> None:
        """Find the bytes with which that begins which follows a word."""
        first, node = self._case(word)
        known, empty = node.begins_behind(word - first)
        self.arrays.behind[word, 1] = 0 if empty else self._first(known)

    def _case(self, word: int) -> tuple[int, CaseNode]:
        return self._cases[bisect_right(self._cases, word, key=_first_word) - 1]

    # What is forbidden

    def _number_of_forbidden(self, forbidden: Ranges) -> int:
        found = self._forbidden_numbers.get(forbidden)
        if found is None:
            found = len(self._forbidden_next)
            if found >= limits.MOST_LOOKAHEADS:
                raise TooLarge
            self._forbidden_numbers[forbidden] = found
            self._forbidden_next.append(forbidden)
            self.arrays.lookahead_starts[found] = state = self.forbidden_at(
                TextTable(any_char_class(forbidden), "raw"), 0
            )
            self.make_forbidden_row(state)
            bits = np.packbits(self.arrays.lookahead_rows[state] >= 0, bitorder="little")
            self.arrays.open_bytes[found] = bits.view(np.uint64)
            self.arrays.unions[0, found] = self.arrays.unions[found, 0] = found
        return found

    def find_union(self, place: int) -> None:
        """Find the number of what two of them forbid together. Raises TooLarge."""
        a, b = divmod(place, limits.MOST_LOOKAHEADS)
        self.arrays.unions[a, b] = self._number_of_forbidden(
            charset.ranges([*self._forbidden_next[a], *self._forbidden_next[b]])
        )

    def forbidden_at(self, table: TextTable, local: int) -> int:
        """The state at a place of a table of forbidden characters."""
        found = self._forbidden_states.get((table, local))
        if found is None:
            found = self._forbidden_states[table, local] = len(self._forbidden_places)
            self._forbidden_places.append((table, local))
            if found >= len(self.arrays.lookahead_rows):
                self.arrays = grown(self.arrays, lookahead_rows=2 * found, lookahead_flags=2 * found)
        return found

    def make_forbidden_row(self, state: int) -> None:
        """Make the row of a state inside what is forbidden."""
        table, local = self._forbidden_places[state]
        assert table is not None
        moves = [
            (low, high, -1 if to < table.boundary else self.forbidden_at(table, to))
            for low, high, to in table.moves(local)
        ]
        row = self.arrays.lookahead_rows[state, :]
        for low, high, target in moves:
            row[low : high + 1] = target
        self.arrays.lookahead_flags[state] |= TextFlag.KNOWN


def _first_word(case: tuple[int, CaseNode]) -> int:
    return case[0]
