"""Nodes that read characters: texts, and the unique keys of maps."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from sglc.automata import charset
from sglc.automata.charset import Ranges
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node, Worklist
from sglc.runtime.mask.lexeme.table import LexemeState, counted_place
from sglc.runtime.mask.lexeme.text_dfa import Place, TextTable
from sglc.runtime.mask.lexeme.text_lexeme import text_lexeme
from sglc.runtime.mask.nodes.core import Literal

_QUOTE = ord('"')


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
        local, least, most = state
        if least > 0 and most is not None and not self.table.gapless:
            return None
        lexeme = text_lexeme(self.table)
        return counted_place(lexeme, lexeme.number(local), least, most)

    def land(self, machine: Machine, state: Place, cont: int, local: int, taken: int, data: bytes) -> int:
        _, least, most = state
        local = text_lexeme(self.table).places[local]
        place = self.table.after(local, least - taken, None if most is None else most - taken)
        return self._at(machine, place, cont)

    def analyse(self) -> tuple[bool, bool]:
        if self.first is None:
            return False, False
        return True, self.table.can_end(self.first[0], self.first[1])

    def measure(self) -> int | None:
        return None if self.first is None else self.table.shortest_size(*self.first)

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
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
        local, least, most = state
        table = self.table
        if table.encoding != "raw" or local >= table.boundary:
            return None
        edges = table.dfa.edges[local]
        return charset.ranges(
            [(low, high) for low, high, target in edges if table.advance(target, least, most) is not None]
        )

    def moves(self, machine: Machine, state: Place, cont: int) -> Iterator[tuple[int, int, int]]:
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
        assert self.first is not None
        return self.table.shortest_word(*self.first)

    def shortest_from(self, machine: Machine, state: Place) -> bytes:
        return self.table.shortest_word(*state)


class KeyedEntries(Node):
    """The inside of a JSON object with distinct keys: `"key": value` joined by `, `.

    Lexeme states:
      ("open", used)                       before a key's opening quote
      ("key", place, used, residue, read)  inside a key; `residue`: endings that would make it a used key
      ("key", place, count, residue, None) the same without the bytes read; enough until the key is closed
      ("needs history",)                   before a key when the keys used are not known any more
    Frame states:
      ("entry", used) or ("entry", count)  after a value; a count where the keys used are not known
      ("next", used) or ("next", count)    after the comma
    `used` are the encoded keys so far. Only masks are walked without the bytes read: one token that closes a
    key, holds a whole value and begins another key then `needs_history`: looked at again with the bytes.
    """

    def __init__(
        self,
        table: TextTable,
        least: int,
        most: int | None,
        value: Node,
        minimum: int,
        maximum: int | None,
        comma: Literal,
        colon: Node,
    ) -> None:
        self.table = table
        self.first = table.start(least, most)
        self.value = value
        self.minimum = minimum
        keys = 0 if self.first is None else table.count_words(least, most)
        self.maximum = keys if maximum is None else min(maximum, keys)
        self.comma = comma
        self.colon = colon

    def children(self) -> Sequence[Node]:
        return (self.value, self.colon)

    def openers(self) -> Sequence[Node]:
        return ()

    def analyse(self) -> tuple[bool, bool]:
        if self.minimum == 0:
            return True, True
        return self.minimum <= self.maximum and self.value.productive, False

    def measure(self) -> int | None:
        if self.minimum == 0:
            return 0
        if self.value.size is None:
            return None
        keys = sum(len(key) for key in self._fresh_keys(frozenset(), self.minimum))
        return keys + self.minimum * (4 + self.value.size) + 2 * (self.minimum - 1)

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        if not self.productive:
            return
        if self.minimum == 0:
            work.append((None, cont))
        if self.maximum > 0 and self.value.productive:
            out.add(machine.thread(self, ("open", frozenset()), cont))

    def resume(self, machine: Machine, state: Any, cont: int, work: Worklist, out: set[int]) -> None:
        kind, used = state
        count = used if isinstance(used, int) else len(used)
        if kind == "next":
            lexeme = ("needs history",) if isinstance(used, int) else ("open", used)
            out.add(machine.thread(self, lexeme, cont))
            return
        if count >= self.minimum:
            work.append((None, cont))
        if count < self.maximum:
            work.append((self.comma, machine.cont(self, ("next", used), cont)))

    def needs_history(self, machine: Machine, state: Any) -> bool:
        return bool(state[0] == "needs history")

    def history_dependent(self, machine: Machine, state: Any) -> bool:
        return state[0] == "open" or (state[0] == "key" and state[4] is not None)

    def without_history(self, machine: Machine, state: Any) -> Hashable:
        if state[0] == "key" and state[4] is not None:
            return ("key", state[1], len(state[2]), state[3], None)
        kept: Hashable = state
        return kept

    def moves(self, machine: Machine, state: Any, cont: int) -> Iterator[tuple[int, int, int]]:
        if state[0] == "open":
            used = state[1]
            lexeme = ("key", self.first, len(used), used, None)
            yield _QUOTE, _QUOTE, machine.alone(machine.thread(self, lexeme, cont))
            return
        _, place, used, residue, read = state
        assert read is None, "history-dependent states are stepped byte by byte"
        local, least, most = place
        if self.table.can_end(local, least) and b"" not in residue:
            yield _QUOTE, _QUOTE, machine.begin(self.colon, machine.cont(self, ("entry", used + 1), cont))
        firsts = sorted({word[0] for word in residue if word})
        for low, high, target in self.table.moves(local):
            following = self.table.advance(target, least, most)
            if following is None:
                continue
            for byte in firsts:
                if low <= byte <= high:
                    if low < byte:
                        yield low, byte - 1, self._inside(machine, following, used, frozenset(), None, cont)
                    rest = frozenset(word[1:] for word in residue if word and word[0] == byte)
                    if self._has_fresh(following, rest):
                        yield byte, byte, self._inside(machine, following, used, rest, None, cont)
                    low = byte + 1
            if low <= high:
                yield low, high, self._inside(machine, following, used, frozenset(), None, cont)

    def move(self, machine: Machine, state: Any, cont: int, byte: int) -> int:
        if not self.history_dependent(machine, state):
            return super().move(machine, state, cont, byte)
        if state[0] == "open":
            if byte != _QUOTE:
                return 0
            return machine.alone(machine.thread(self, ("key", self.first, state[1], state[1], b""), cont))
        _, (local, least, most), used, residue, read = state
        # Inside an escape the quote is a part of the key.
        if byte == _QUOTE and local < self.table.boundary:
            if not self.table.can_end(local, least) or b"" in residue:
                return 0
            return machine.begin(self.colon, machine.cont(self, ("entry", used | {read}), cont))
        for low, high, target in self.table.moves(local):
            if low <= byte <= high:
                following = self.table.advance(target, least, most)
                rest = frozenset(word[1:] for word in residue if word and word[0] == byte)
                if following is None or not self._has_fresh(following, rest):
                    return 0
                return self._inside(machine, following, used, rest, read + bytes([byte]), cont)
        return 0

    def _inside(
        self,
        machine: Machine,
        place: Place,
        used: Any,
        residue: frozenset[bytes],
        read: bytes | None,
        cont: int,
    ) -> int:
        return machine.alone(machine.thread(self, ("key", place, used, residue, read), cont))

    def _has_fresh(self, place: Place, residue: frozenset[bytes]) -> bool:
        """Whether a key goes on from `place` with an ending that is not in `residue`."""
        while residue:
            local, least, most = place
            if self.table.can_end(local, least) and b"" not in residue:
                return True
            by_byte: dict[int, set[bytes]] = {}
            for word in residue:
                if word:
                    by_byte.setdefault(word[0], set()).add(word[1:])
            shared = []
            for low, high, target in self.table.moves(local):
                following = self.table.advance(target, least, most)
                if following is None:
                    continue
                inside = [byte for byte in by_byte if low <= byte <= high]
                if len(inside) < high - low + 1:
                    return True
                shared += [(following, frozenset(by_byte[byte])) for byte in inside]
            if len(shared) != 1:
                return any(self._has_fresh(*pair) for pair in shared)
            place, residue = shared[0]
        return True

    # Shortest words

    def _fresh_keys(self, used: frozenset[bytes], number: int) -> list[bytes]:
        """The `number` shortest keys that are not used."""
        if not number or self.first is None:
            return []
        found: list[bytes] = []
        for key in shortest_words(self.table, self.first):
            if key not in used:
                found.append(key)
                if len(found) == number:
                    break
        return found

    def _entries(self, machine: Machine, used: frozenset[bytes], number: int) -> bytes:
        value = self.value.shortest(machine) if number else b""
        return b", ".join(b'"' + key + b'": ' + value for key in self._fresh_keys(used, number))

    def shortest(self, machine: Machine) -> bytes:
        return self._entries(machine, frozenset(), self.minimum)

    def shortest_rest(self, machine: Machine, state: Any) -> bytes:
        kind, used = state
        assert not isinstance(used, int), "completions are asked of configurations that keep their bytes"
        missing = max(self.minimum - len(used), 1 if kind == "next" else 0)
        entries = self._entries(machine, used, missing)
        return b", " + entries if missing and kind == "entry" else entries

    def shortest_from(self, machine: Machine, state: Any) -> bytes:
        if state[0] == "open":
            return self._entries(machine, state[1], max(self.minimum - len(state[1]), 1))
        _, place, used, residue, read = state
        assert read is not None, "completions are asked of configurations that keep their bytes"
        ending = next(word for word in shortest_words(self.table, place) if word not in residue)
        used = used | {read + ending}
        return ending + b'": ' + self.value.shortest(machine) + self.shortest_rest(machine, ("entry", used))


def shortest_words(table: TextTable, place: Place) -> Iterator[bytes]:
    """The endings from a place in order of length, letters and digits first; each once.

    Best-first search: a beginning is looked at when the shortest word through it is the next in order.
    """
    sizes: dict[Place, int] = {}

    def entry(word: bytes, at: Place) -> tuple[int, bool, bytes, bool, Place]:
        if at not in sizes:
            sizes[at] = table.shortest_size(*at)
        return len(word) + sizes[at], not word.isalnum(), word, False, at

    heap: list[tuple[int, bool, bytes, bool, Place]] = [entry(b"", place)]
    while heap:
        _, _, word, ended, at = heapq.heappop(heap)
        if ended:
            yield word
            continue
        local, least, most = at
        if table.can_end(local, least):
            heapq.heappush(heap, (len(word), not word.isalnum(), word, True, (0, 0, 0)))
        for low, high, target in table.moves(local):
            reached = table.advance(target, least, most)
            if reached is not None:
                for byte in range(low, high + 1):
                    heapq.heappush(heap, entry(word + bytes([byte]), reached))
