"""Classes of characters that automata read some times and then no more: `[a-z]{1,20}` with a state for each.

A text reads characters of the class one after the other, a state for each number of them, until the state in
which there is none of them to read, or without end.
"""

from __future__ import annotations

from dataclasses import dataclass

from sglc.automata.charset import Ranges, meet
from sglc.automata.term import Encoding
from sglc.automata.work import spend
from sglc.runtime.mask.lexeme.row_kinds import RowKinds
from sglc.runtime.mask.lexeme.self_loops import SelfLoop, class_groups, is_small, read_groups
from sglc.runtime.mask.vocabulary.token_classes import ALL_GROUPS, as_words

ENDLESS = 1 << 30
"""The count of runs that come back to where they have been."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What can be read of a class from a state on: `count` characters, always, and never more.

    read  the groups with which a text goes on, from any of the states that are met, as bits
    """

    count: int
    read: int


class Runs:
    """The runs of one automaton, each state asked for its own."""

    def __init__(self, rows: RowKinds, encoding: Encoding) -> None:
        self._rows = rows
        self._encoding = encoding
        self._known: dict[tuple[int, int], _Run | None] = {}
        """By state and number of a class."""
        self._numbers: dict[Ranges, int] = {}
        self._ways: dict[int, tuple[int, Ranges]] = {}
        self._read: dict[int, int] = {}
        """Groups by identity of the characters, which the rows keep."""

    def self_loop(self, state: int) -> SelfLoop | None:
        """The characters that may follow from a state on, up to `room` of them, but for the first one of them
        if some are `forbidden`. None if there are no such or too few to be of use."""
        after, first = self._way(state)
        if after < 0 or after == state:
            return None
        behind, rest = self._way(after)
        if behind < 0 or behind == after:
            return None
        plain = rest
        if first != rest:
            plain = meet(first, rest)
            if meet(rest, self._read_at(state)) != plain:
                # Some of the others can be read here, and lead elsewhere.
                rest = plain
        if is_small(plain):
            return None
        run = self._run(after, rest)
        if run is None:
            return None
        groups, flags, forbidden = class_groups(first, rest, self._encoding)
        read = run.read | self._read_groups(state)
        dead = as_words(ALL_GROUPS & ~read)
        room = None if run.count == ENDLESS else run.count + 1
        return SelfLoop(groups, flags, -1, room=room, dead=dead, forbidden=forbidden)

    def _way(self, state: int) -> tuple[int, Ranges]:
        """The state to which most characters lead, and these; -1 if there are none."""
        found = self._ways.get(state)
        if found is None:
            before = self._rows.looked
            found = self._ways[state] = self._rows.widest(state)
            spend(1 + (self._rows.looked - before) // 2)
        return found

    def _run(self, start: int, characters: Ranges) -> _Run | None:
        """The run of a class from a state on; None where it is not known how it ends, or depends
        on the characters."""
        # To look up a class by its characters takes long where there are many.
        number = self._numbers.setdefault(characters, len(self._numbers))
        known = self._known
        path: list[int] = []
        here, seen = start, {start}
        while (here, number) not in known:
            after, way = self._way(here)
            if after >= 0 and (way == characters or meet(way, characters) == characters):
                path.append(here)
                if after in seen:
                    read = 0
                    for state in path:
                        read |= self._read_groups(state)
                    known[here, number] = _Run(ENDLESS, read)
                    break
                seen.add(after)
                here = after
            elif meet(self._read_at(here), characters):
                known[here, number] = None
            else:
                known[here, number] = _Run(0, self._read_groups(here))
        found = known[here, number]
        for state in reversed(path):
            if found is not None:
                found = _Run(min(found.count + 1, ENDLESS), found.read | self._read_groups(state))
            known[state, number] = found
        return found

    def _read_at(self, state: int) -> Ranges:
        """The characters with which a state goes on."""
        return self._rows.covered(state)

    def _read_groups(self, state: int) -> int:
        """The groups of bytes with which a state goes on, or more."""
        characters = self._read_at(state)
        found = self._read.get(id(characters))
        if found is None:
            found = self._read[id(characters)] = read_groups(characters, self._encoding)
        return found
