"""Substrings of a text, read by its suffix automaton."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.automata.encoding import written
from sglc.automata.term import Encoding
from sglc.kernels.trie.walks import BOUNDARY, ENDS
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, Node, Worklist
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.lexeme.escapes import ByteMoves, Move
from sglc.runtime.mask.lexeme.lazy_dfa import NumberedLexeme
from sglc.runtime.mask.lexeme.table import LexemeState, counted_place

LONGEST_TEXT = 1_000_000
"""Characters of a text; its automaton takes about a kilobyte for each."""

Place = tuple[int, int, int | None]
"""(local state, least and most characters to come, those of a character begun included)."""


class SpanTable(ByteMoves):
    """The suffix automaton of a text (Blumer et al. 1985), over characters; all states accept.

    A state stands for substrings that end at the same places of the text. `last` is, by state, the character
    at the first of these places, -1 at the start.
    """

    def __init__(self, text: str, encoding: Encoding) -> None:
        if len(text) > LONGEST_TEXT:
            raise ConstraintError(f"a text of more than {LONGEST_TEXT} characters")
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise ConstraintError("the text of a span contains a lone surrogate")
        super().__init__(encoding)
        self.text = text
        self.next: list[dict[str, int]] = [{}]
        self.lengths = [0]
        self.last = [-1]
        self._build(text)
        self.lexeme = SpanLexeme(self)
        self._sizes: list[int] | None = None
        self._rests: dict[tuple[int, int], bytes] = {}

    def _build(self, text: str) -> None:
        following, lengths, last = self.next, self.lengths, self.last
        links = [-1]
        end = 0
        for index, char in enumerate(text):
            new = len(following)
            following.append({})
            lengths.append(index + 1)
            last.append(index)
            links.append(0)
            at = end
            while at >= 0 and char not in following[at]:
                following[at][char] = new
                at = links[at]
            if at >= 0:
                target = following[at][char]
                if lengths[target] != lengths[at] + 1:
                    # The shorter substrings of the target now end at this place too: they get a state.
                    shorter = len(following)
                    following.append(following[target].copy())
                    lengths.append(lengths[at] + 1)
                    last.append(last[target])
                    links.append(links[target])
                    while at >= 0 and following[at].get(char) == target:
                        following[at][char] = shorter
                        at = links[at]
                    links[target] = shorter
                    target = shorter
                links[new] = target
            end = new

    def edges(self, state: int) -> list[Move]:
        """(character, character, state) in order: those that follow the state's substrings in the text."""
        return sorted([(ord(char), ord(char), target) for char, target in self.next[state].items()])

    def to_come(self, state: int) -> int:
        """Most characters that may follow in a state."""
        return len(self.text) - 1 - self.last[state]

    def alive(self, local: int, least: int, most: int | None) -> bool:
        """Whether a substring goes on from a state with so many characters."""
        if most is not None and (most < 0 or most < least):
            return False
        if local >= 0:
            return self.to_come(local) >= least
        return any(
            self.alive(target, least - 1, None if most is None else most - 1)
            for target in self.targets(local)
        )

    def rest(self, local: int, count: int) -> bytes:
        """The shortest spelling of `count` characters that may follow."""
        if count <= 0 and local >= 0:
            return b""
        found = self._rests.get((local, count))
        if found is None:
            if local < 0:
                options = [
                    ends[0] + self.rest(target, count - 1)
                    for target, ends in self.ends_of_character(local).items()
                    if self.to_come(target) >= count - 1
                ]
                found = min(options, key=lambda data: (len(data), data))
            else:
                found = self._rest_between(local, count)
            self._rests[local, count] = found
        return found

    def _rest_between(self, state: int, count: int) -> bytes:
        if self._sizes is None:
            self._sizes = [0]
            for char in self.text:
                self._sizes.append(self._sizes[-1] + len(written(char, self.encoding)))
        sizes, text = self._sizes, self.text
        end = self.last[state] + 1
        word = text[end - self.lengths[state] : end]
        begin, best, place = end - len(word), -1, 0
        while begin >= 0:
            start = begin + len(word)
            if start + count > len(text):
                break
            size = sizes[start + count] - sizes[start]
            if best < 0 or size < best:
                best, place = size, start
            begin = text.find(word, begin + 1)
        return b"".join([written(char, self.encoding) for char in text[place : place + count]])


class SpanLexeme(NumberedLexeme):
    """The rows of a `SpanTable`."""

    table: SpanTable

    def describe(self, state: int) -> tuple[int, int, int]:
        """From everywhere a substring may end, and go on up to the end of the text."""
        # From everywhere any number of characters may come, up to the end of the text.
        table, local = self.table, self.places[state]
        if local >= 0:
            return BOUNDARY | ENDS, 0, table.to_come(local)
        return 0, 1, 1 + max(map(table.to_come, table.targets(local)))


class SpanNode(Node):
    """Substrings with `minimum` to `maximum` characters. Lexeme state: a `Place`."""

    def __init__(self, table: SpanTable, minimum: int, maximum: int | None) -> None:
        self.table = table
        self.first = self._settle(0, minimum, maximum) if table.alive(0, minimum, maximum) else None

    def lexeme(self, machine: Machine, state: Place) -> LexemeState:
        """The local state with the characters that are still to come."""
        local, least, most = state
        lexeme = self.table.lexeme
        return counted_place(lexeme, lexeme.number(local), least, most)

    def land(self, machine: Machine, state: Place, cont: int, local: int, taken: int, data: bytes) -> int:
        """At a local state, with `taken` characters fewer to come."""
        _, least, most = state
        place = self._settle(
            self.table.lexeme.places[local], least - taken, None if most is None else most - taken
        )
        return self._at(machine, place, cont)

    def _settle(self, local: int, least: int, most: int | None) -> Place:
        """Drop counts that no longer decide anything, so that equal places are equal."""
        if local >= 0 and most is not None and self.table.to_come(local) <= most:
            most = None
        return local, max(least, 0), most

    def _advance(self, target: int, least: int, most: int | None) -> Place | None:
        if not self.table.alive(target, least, most) if target < 0 else False:
            return None
        if target < 0:
            return target, least, most
        fewer, more = max(least - 1, 0), None if most is None else most - 1
        return self._settle(target, fewer, more) if self.table.alive(target, fewer, more) else None

    def analyse(self) -> tuple[bool, bool]:
        """Productive if the text has so many characters; nullable if none is needed."""
        return self.first is not None, self.first is not None and self.first[1] == 0

    def measure(self) -> int | None:
        """Bytes of a shortest word, as it is spelled."""
        return None if self.first is None else len(self.table.rest(0, self.first[1]))

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if no character is needed, and read on if one may come."""
        if self.first is None:
            return
        if self.first[1] == 0:
            work.append((None, cont))
        if self._goes_on(self.first):
            out.add(machine.thread(self, self.first, cont))

    def _goes_on(self, place: Place) -> bool:
        local, _, most = place
        return local < 0 or (most != 0 and self.table.to_come(local) > 0)

    def moves(self, machine: Machine, state: Place, cont: int) -> Iterator[tuple[int, int, int]]:
        """Those of the table behind which the counts can be met."""
        local, least, most = state
        for low, high, target in self.table.moves(local):
            config = self._at(machine, self._advance(target, least, most), cont)
            if config:
                yield low, high, config

    def move(self, machine: Machine, state: Place, cont: int, byte: int) -> int:
        """By the table, without its other moves."""
        local, least, most = state
        target = self.table.move(local, byte)
        return DEAD if target is None else self._at(machine, self._advance(target, least, most), cont)

    def _at(self, machine: Machine, place: Place | None, cont: int) -> int:
        if place is None:
            return DEAD
        config = machine.after(cont) if place[0] >= 0 and place[1] == 0 else DEAD
        if self._goes_on(place):
            config = machine.union(config, machine.alone(machine.thread(self, place, cont)))
        return config

    def shortest(self, machine: Machine) -> bytes:
        """The substring of `minimum` characters that is spelled with the fewest bytes."""
        assert self.first is not None
        return self.table.rest(0, self.first[1])

    def shortest_from(self, machine: Machine, state: Place) -> bytes:
        """The fewest bytes that spell the characters still needed."""
        return self.table.rest(state[0], state[1])
