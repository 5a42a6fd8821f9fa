"""Character automata as byte automata, made state by state, with the lengths and costs of their words.

A `TextTable` serves every `Text` term over the same `CharDfa` and encoding. Its local states are the
automaton's own states (character boundaries), then states inside a character's encoding, shared by structure:
all the lead bytes after which the same continuations lead to the same state are one local state. Character
counts are not part of the table; terms carry them beside the local state.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sglc.automata.caches import LeastUsed
from sglc.automata.charset import leading_bytes
from sglc.automata.dfa.operations import LONGEST_WORD, ends_first
from sglc.automata.term import CharDfa, Encoding
from sglc.automata.work import spend
from sglc.runtime.mask.core.byte_sets import members
from sglc.runtime.mask.core.errors import CompletionTooLong
from sglc.runtime.mask.lexeme.row_kinds import RowKinds
from sglc.runtime.mask.lexeme.shortest_words import TextWords
from sglc.runtime.mask.lexeme.utf8_states import Characters, Move

if TYPE_CHECKING:
    from sglc.runtime.mask.lexeme.text_lexeme import TextLexeme

Place = tuple[int, int, int | None]
"""(local state of a table, least and most characters to come)."""

_UNKNOWN = object()


class TextTable:
    """Bytes of one character automaton in one encoding.

    Local states below `boundary` are the automaton's states; the others are inside a character.
    """

    __slots__ = (
        "_advanced",
        "_begins",
        "_gapless",
        "_last",
        "_longest",
        "_moves",
        "_period",
        "_reach",
        "_seen_reach",
        "_shortest",
        "_sources",
        "_stopping",
        "_targets",
        "_words",
        "boundary",
        "characters",
        "dfa",
        "encoding",
        "lexeme",
        "rows",
    )

    def __init__(self, dfa: CharDfa, encoding: Encoding) -> None:
        self.dfa = dfa
        self.encoding = encoding
        self.boundary = len(dfa.edges)
        self._moves: dict[int, tuple[Move, ...]] = {}
        self.characters = Characters(encoding)
        self._begins: dict[int, frozenset[int]] = {}
        self.rows = RowKinds(dfa)
        self._targets = tuple([tuple(sorted(self.rows.targets(state))) for state in range(self.boundary)])
        self._shortest: tuple[int | None, ...] | None = None
        self._longest: tuple[int | None, ...] | None = None
        self._sources: tuple[tuple[int, ...], ...] | None = None
        self._last: Iterable[int] = dfa.accepting
        """The states of the last of `_reach`."""
        self._reach: list[int] = []
        self._seen_reach: dict[int, int] = {}
        self._gapless: bool | None = None
        self._stopping: dict[int, bool] = {}
        self._period: tuple[int, int] | None = None
        self._advanced: LeastUsed[Place, Place | None] = LeastUsed()
        self._words: TextWords | None = None
        self.lexeme: TextLexeme | None = None
        """Its `TextLexeme`, kept where its table is."""

    def begins(self, local: int) -> frozenset[int]:
        """The bytes with which the characters of a state of the automaton begin, each written as it is."""
        found = self._begins.get(local)
        if found is None:
            bits = leading_bytes((low, high) for low, high, _ in self.dfa.edges[local])
            found = self._begins[local] = members(bits)
        return found

    @property
    def words(self) -> TextWords:
        """The shortest words from states of the automaton."""
        if self._words is None:
            self._words = TextWords(self.dfa, self.encoding, self.next_length)
        return self._words

    @property
    def known(self) -> int:
        """The number of local states met so far; they are numbered from 0."""
        return self.boundary + self.characters.known

    def moves(self, local: int) -> tuple[Move, ...]:
        """The byte moves of a local state, sorted and disjoint."""
        found = self._moves.get(local)
        if found is None:
            boundary = self.boundary
            if local < boundary:
                moves = self.characters.begin(self.dfa.edges[local])
            else:
                moves = self.characters.moves(local - boundary)
            if local >= boundary or moves is not self.dfa.edges[local]:
                moves = tuple([(low, high, to if to >= 0 else boundary - 1 - to) for low, high, to in moves])
            found = self._moves[local] = moves
        return found

    def move(self, local: int, byte: int) -> int | None:
        """The local state after a byte, where only that byte is asked for."""
        boundary = self.boundary
        if local < boundary:
            found = self.characters.begin_with(self.dfa.edges[local], byte)
        else:
            found = self.characters.move(local - boundary, byte)
        return found if found is None or found >= 0 else boundary - 1 - found

    def targets(self, local: int) -> tuple[int, ...]:
        """The boundary states that can be reached by the end of the current (or next) character."""
        if local < self.boundary:
            return self._targets[local]
        return self.characters.targets(local - self.boundary)

    # Words with a number of characters to come

    def start(self, least: int, most: int | None) -> Place | None:
        """The place (local state, least and most characters to come) before the first character."""
        if not self.boundary or not self.alive(0, least, most):
            return None
        return (0, *self._settle(0, least, most))

    def advance(self, local: int, least: int, most: int | None) -> Place | None:
        """The place after a byte that led to `local`, None if no word goes on from there.

        The counts are those before the character that the byte belongs to, and become one less at its end.
        """
        key = (local, least, most)
        found: Place | None = self._advanced.get(key, _UNKNOWN)
        if found is not _UNKNOWN:
            return found
        fewer, more = max(least - 1, 0), None if most is None else most - 1
        found = None
        if local < self.boundary:
            if self.alive(local, fewer, more):
                found = (local, *self._settle(local, fewer, more))
        elif any(self.alive(target, fewer, more) for target in self.targets(local)):
            found = key
        return self._advanced.keep(key, found)

    def after(self, local: int, least: int, most: int | None) -> Place:
        """The place at a local state with so many characters to come, in the form that `advance` gives."""
        if local < self.boundary:
            return (local, *self._settle(local, least, most))
        return local, max(least, 0), most

    @property
    def any_length(self) -> bool:
        """Whether words of every length lead on from everywhere."""
        return self.boundary == 1 and 0 in self._targets[0] and 0 in self.dfa.accepting

    @property
    def gapless(self) -> bool:
        """Whether the lengths of the words that lead on from a place have no gap between fewest and most.

        It is enough that this holds for each state if it holds for its targets: a word of length n begins
        with a character behind which n - 1 remain, which by induction some target has.
        """
        if self._gapless is None:
            self._gapless = all(map(self._no_gap, range(self.boundary)))
        return self._gapless

    def _no_gap(self, state: int) -> bool:
        targets = self._targets[state]
        if not targets:
            return True
        fewest = [self.shortest(target) for target in targets]
        longest = [most for most in map(self.longest, targets) if most is not None]
        if state in self.dfa.accepting and min(fewest) > 0:
            return False
        # Any two of the targets touch, so that those of a character that has been begun do as well.
        return not longest or max(fewest) <= min(longest) + 1

    def may_stop(self, state: int) -> bool:
        """Whether a state from which no character goes on can be reached."""
        known = self._stopping
        if not known and all(self._targets):
            known.update(dict.fromkeys(range(len(self._targets)), False))
        if state not in known:
            seen, path = {state}, [(state, iter(self._targets[state]))]
            while path:
                source, targets = path[-1]
                target = next((t for t in targets if t not in seen and known.get(t) is not False), None)
                if not self._targets[source] or known.get(source):
                    known.update([(above, True) for above, _ in path])
                    break
                if target is None:
                    path.pop()
                else:
                    seen.add(target)
                    path.append((target, iter(self._targets[target])))
            else:
                known.update(dict.fromkeys(seen, False))
        return known[state]

    def can_end(self, local: int, least: int) -> bool:
        """Whether a word may end at this place."""
        return least <= 0 and local in self.dfa.accepting

    def goes_on(self, local: int) -> bool:
        """Whether a word may have more bytes at this place, where characters are not counted."""
        return local >= self.boundary or bool(self.dfa.edges[local])

    def can_go_on(self, local: int, least: int, most: int | None) -> bool:
        """Whether a word may have more bytes at this place."""
        if local >= self.boundary:
            return True
        fewer, more = max(least - 1, 0), None if most is None else most - 1
        return any(self.alive(target, fewer, more) for target in self.targets(local))

    def _settle(self, state: int, least: int, most: int | None) -> tuple[int, int | None]:
        """Drop counts that no longer decide anything, so that equal places are equal."""
        if least > 0 and self.shortest(state) >= least:
            least = 0
        if most is not None:
            longest = self.longest(state)
            if longest is not None and longest <= most:
                most = None
        return max(least, 0), most

    # Lengths in characters

    def alive(self, state: int, least: int, most: int | None) -> bool:
        """Whether some word of `least` to `most` characters leads from `state` to acceptance."""
        if most is None:
            if least <= 0:
                return True
            longest = self.longest(state)
            return longest is None or longest >= least
        if most < least:
            return False
        first = self.next_length(state, max(least, 0))
        return first is not None and first <= most

    def shortest(self, state: int) -> int:
        """Fewest characters from `state` to acceptance."""
        if self._shortest is None:
            self._shortest = self._count_shortest()
        found = self._shortest[state]
        assert found is not None, "the automaton is trimmed"
        return found

    def longest(self, state: int) -> int | None:
        """Most characters from `state` to acceptance, None without limit."""
        if self._longest is None:
            self._longest = self._count_longest()
        return self._longest[state]

    def next_length(self, state: int, least: int) -> int | None:
        """The smallest number of characters, at least `least`, of a word from `state`."""
        shortest = self.shortest(state)
        if least <= shortest:
            return shortest
        if state in self._targets[state]:
            return least
        longest = self.longest(state)
        if longest is not None and longest < least:
            return None
        bit = 1 << state
        length = least
        while True:
            reach = self._states_at(length)
            if reach & bit:
                return length
            if self._period and length >= max(least, self._period[0]) + self._period[1]:
                return None
            length += 1

    def _states_at(self, length: int) -> int:
        """Bit set of the states with an accepted word of exactly `length` characters."""
        if not self._reach:
            self._reach.append(self._bits(self.dfa.accepting))
            self._seen_reach[self._reach[0]] = 0
        while length >= len(self._reach):
            if self._period:
                first, period = self._period
                return self._reach[first + (length - first) % period]
            spend(1 + self.boundary // 8)
            sources = self._before()
            self._last = {state for target in self._last for state in sources[target]}
            following = self._bits(self._last)
            if following in self._seen_reach:
                first = self._seen_reach[following]
                self._period = (first, len(self._reach) - first)
            else:
                self._seen_reach[following] = len(self._reach)
                self._reach.append(following)
        return self._reach[length]

    def _bits(self, states: Iterable[int]) -> int:
        marks = bytearray(self.boundary // 8 + 1)
        for state in states:
            marks[state >> 3] |= 1 << (state & 7)
        return int.from_bytes(marks, "little")

    def _before(self) -> tuple[tuple[int, ...], ...]:
        """The states that lead to each state."""
        if self._sources is None:
            sources: list[list[int]] = [[] for _ in range(self.boundary)]
            for state in range(self.boundary):
                for target in self._targets[state]:
                    sources[target].append(state)
            self._sources = tuple(map(tuple, sources))
        return self._sources

    def _count_shortest(self) -> tuple[int | None, ...]:
        before = self._before()
        found: list[int | None] = [None] * self.boundary
        level = sorted(self.dfa.accepting)
        count = 0
        for state in level:
            found[state] = 0
        while level:
            count += 1
            following = []
            for target in level:
                for state in before[target]:
                    if found[state] is None:
                        found[state] = count
                        following.append(state)
            level = following
        return tuple(found)

    def _count_longest(self) -> tuple[int | None, ...]:
        """None for states from which a cycle can be reached."""
        found: list[int | None] = [None] * self.boundary
        for state in ends_first(self.dfa):
            found[state] = max((found[t] + 1 for t in self._targets[state]), default=0)  # type: ignore[operator]
        return tuple(found)

    # Shortest words in bytes

    def shortest_word(self, local: int, least: int, most: int | None) -> bytes:
        """A shortest spelling from a local state with `least` to `most` characters to come.

        Inside a character, that character counts as to come. Deterministic; the state must be alive. Raises
        CompletionTooLong.
        """
        if least > LONGEST_WORD:
            raise CompletionTooLong
        if local < self.boundary:
            return self.words.word(local, max(least, 0), most)
        best: bytes | None = None
        heap: list[tuple[int, bytes, int]] = [(0, b"", local)]
        while heap:
            _, data, here = heapq.heappop(heap)
            if best is not None and len(data) >= len(best):
                break
            if here < self.boundary:
                if not self.alive(here, least - 1, None if most is None else most - 1):
                    continue
                word = data + self.words.word(here, max(least - 1, 0), None if most is None else most - 1)
                if best is None or (len(word), word) < (len(best), best):
                    best = word
                continue
            for low, _, target in self.moves(here):
                heapq.heappush(heap, (len(data) + 1, data + bytes([low]), target))
        assert best is not None, "no shortest word from a dead state"
        return best

    def shortest_size(self, local: int, least: int, most: int | None) -> int:
        """Length in bytes of `shortest_word`."""
        return len(self.shortest_word(local, least, most))
