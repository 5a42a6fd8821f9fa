"""Regular parts of a grammar as one automaton: Thompson's construction (1968) over automata, then subsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sglc.automata import work
from sglc.automata.charset import Ranges, atoms
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import CharDfa

MAX_STATES = 20_000
_WORK_PER_STATE = 200


def labelled(dfa: CharDfa) -> list[list[tuple[Ranges, int]]]:
    """The edges of each state, one for each target."""
    rows = []
    for edges in dfa.edges:
        by_target: dict[int, list[tuple[int, int]]] = {}
        for low, high, target in edges:
            by_target.setdefault(target, []).append((low, high))
        rows.append([(tuple(parts), target) for target, parts in by_target.items()])
    return rows


def tables(automata: Sequence[CharDfa], more: Iterable[Ranges] = ()) -> Tables:
    """One cut of the characters for several automata, and sets, and their rows over its blocks."""
    rows = [labelled(dfa) for dfa in automata]
    numbers: dict[Ranges, int] = {}
    for these in (*(these for one in rows for row in one for these, _ in row), *more):
        numbers.setdefault(these, len(numbers))
    blocks, members = atoms(list(numbers))
    return Tables(
        blocks,
        [
            [{block: target for these, target in row for block in members[numbers[these]]} for row in one]
            for one in rows
        ],
        {these: members[number] for these, number in numbers.items()},
    )


@dataclass(frozen=True, slots=True)
class Tables:
    """`rows[automaton][state]` gives targets by block; `members` the blocks of each set."""

    blocks: list[Ranges]
    rows: list[list[dict[int, int]]]
    members: dict[Ranges, list[int]]


class Nfa:
    """States with silent edges and edges over sets of characters."""

    def __init__(self, limit: int = MAX_STATES) -> None:
        self.limit = limit
        self.moves: list[list[tuple[Ranges, int]]] = []
        self.silent: list[list[int]] = []

    def state(self) -> int:
        if len(self.moves) >= 10 * self.limit:
            raise TooLarge(f"more than {10 * self.limit} states")
        self.moves.append([])
        self.silent.append([])
        return len(self.moves) - 1

    def text(self, text: str, source: int) -> int:
        for char in text:
            target = self.state()
            self.moves[source].append((((ord(char), ord(char)),), target))
            source = target
        return source

    def automaton(self, dfa: CharDfa, source: int) -> int:
        """A copy of a deterministic automaton behind `source`; the state where it ends."""
        states = [self.state() for _ in dfa.edges]
        end = self.state()
        if states:
            self.silent[source].append(states[0])
        for state, row in zip(states, labelled(dfa), strict=True):
            self.moves[state] += [(these, states[target]) for these, target in row]
        for accepting in dfa.accepting:
            self.silent[states[accepting]].append(end)
        return end

    def determinise(self, start: int, end: int) -> CharDfa:
        """The canonical automaton; raises TooLarge beyond the limit of states or of work."""
        numbers: dict[Ranges, int] = {}
        for moves_of in self.moves:
            for these, _ in moves_of:
                numbers.setdefault(these, len(numbers))
        blocks, members = atoms(list(numbers))
        moves = [[(members[numbers[these]], target) for these, target in row] for row in self.moves]
        budget = self.limit * _WORK_PER_STATE

        def close(states: set[int]) -> frozenset[int]:
            stack = list(states)
            while stack:
                for target in self.silent[stack.pop()]:
                    if target not in states:
                        states.add(target)
                        stack.append(target)
            return frozenset(state for state in states if moves[state] or state == end)

        first = close({start})
        number = {first: 0}
        order = [first]
        rows: list[dict[int, int]] = []
        for current in order:
            gathered: dict[int, set[int]] = {}
            for state in current:
                for parts, target in moves[state]:
                    budget -= len(parts)
                    work.spend(len(parts))
                    for block in parts:
                        gathered.setdefault(block, set()).add(target)
            row: dict[int, int] = {}
            rows.append(row)
            same: dict[frozenset[int], int] = {}
            for block, targets in gathered.items():
                key = frozenset(targets)
                known = same.get(key)
                if known is None:
                    closed = close(targets)
                    budget -= len(closed) + 1
                    work.spend(len(closed) + 1)
                    known = number.get(closed)
                    if known is None:
                        known = number[closed] = len(order)
                        order.append(closed)
                    same[key] = known
                row[block] = known
            if len(order) > self.limit or budget < 0:
                raise TooLarge(f"more than {self.limit} states")
        accepting = {index for index, states in enumerate(order) if end in states}
        return minimal_dfa(rows, accepting, blocks)


def joined(parts: Sequence[CharDfa]) -> CharDfa:
    """One after the other."""
    nfa = Nfa()
    start = end = nfa.state()
    for part in parts:
        end = nfa.automaton(part, end)
    return nfa.determinise(start, end)


def alternation(parts: Sequence[CharDfa]) -> CharDfa:
    """Any of them."""
    nfa = Nfa()
    start, end = nfa.state(), nfa.state()
    for part in parts:
        nfa.silent[nfa.automaton(part, start)].append(end)
    return nfa.determinise(start, end)


def repeated(part: CharDfa, minimum: int, maximum: int | None) -> CharDfa:
    """`minimum` to `maximum` (None: any number) times."""
    nfa = Nfa()
    start = end = nfa.state()
    for _ in range(minimum):
        end = nfa.automaton(part, end)
    if maximum is None:
        hub = nfa.state()
        nfa.silent[end].append(hub)
        nfa.silent[nfa.automaton(part, hub)].append(hub)
        return nfa.determinise(start, hub)
    final = nfa.state()
    for _ in range(maximum - minimum):
        nfa.silent[end].append(final)
        end = nfa.automaton(part, end)
    nfa.silent[end].append(final)
    return nfa.determinise(start, final)
