"""Automata in a row, beside each other, again: Thompson's construction (1968) over automata, then subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sglc.automata import work
from sglc.automata.charset import Ranges, blocks_of
from sglc.automata.dfa import operations
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import TooLarge, labelled
from sglc.automata.graphs import reached
from sglc.automata.term import CharDfa

MAX_STATES = 20_000
"""States of one automaton that is made whole: of a pattern, a terminal, a set of numbers, ignored text. It
takes some seconds and 50 MB to make that many."""
_WORK_PER_STATE = 200


class Nfa:
    """States with silent edges and edges over sets of characters."""

    def __init__(self, limit: int = MAX_STATES) -> None:
        self.limit = limit
        self.moves: list[list[tuple[Ranges, int]]] = []
        self.silent: list[list[int]] = []

    def state(self) -> int:
        """The number of a new state. Raises TooLarge above ten times the limit."""
        if len(self.moves) >= 10 * self.limit:
            raise TooLarge(f"more than {10 * self.limit} states")
        self.moves.append([])
        self.silent.append([])
        return len(self.moves) - 1

    def text(self, text: str, source: int) -> int:
        """The state after a text that is read from `source` on."""
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
        blocks, members = blocks_of(these for row in self.moves for these, _ in row)
        moves = [[(members[these], target) for these, target in row] for row in self.moves]
        left = self.limit * _WORK_PER_STATE

        def spend(amount: int) -> None:
            nonlocal left
            left -= amount
            work.spend(amount)
            if left < 0:
                raise TooLarge("too much work to make an automaton deterministic")

        return determinised(moves, self.silent, (start, end), blocks, self.limit, spend)


def determinised(
    moves: list[list[tuple[list[int], int]]],
    silent: list[list[int]],
    ends: tuple[int, int],
    blocks: Sequence[Ranges],
    limit: int,
    spend: Callable[[int], None],
    *,
    open_right: bool = False,
) -> CharDfa:
    """The canonical automaton of states with edges over blocks of characters and silent edges, by the subset
    construction; where some states lead is found once for all the subsets that hold them.

    `ends` are the start and the state in which words end; with `open_right` every text may follow them. The
    work is told to `spend`. Raises TooLarge beyond `limit` states, and what `spend` raises.
    """
    start, end = ends
    known_reach: dict[int, frozenset[int]] = {}

    def reach(state: int) -> frozenset[int]:
        """The states that matter after silent edges."""
        seen = reached([state], silent.__getitem__)
        spend(len(seen))
        found = known_reach[state] = frozenset([s for s in seen if moves[s] or s == end])
        return found

    def arrive(states: frozenset[int]) -> tuple[frozenset[int], int]:
        """The states that matter, and the work that it is to find them."""
        parts = [known_reach.get(state) or reach(state) for state in states]
        kernel = frozenset().union(*parts)
        if open_right and end in kernel:
            kernel = everything
        return kernel, sum(map(len, parts)) + len(kernel) + 1

    everything = frozenset({end})
    first, looked = arrive(frozenset({start}))
    number = Numbering(first, limit=limit)
    rows: list[dict[int, int]] = []
    accepting: set[int] = set()
    arrived: dict[frozenset[int], tuple[int, int]] = {}
    for kernel in number.order:
        if end in kernel:
            accepting.add(len(rows))
        # Many states move on by the same set of characters: the lists of blocks are shared.
        by_set: dict[int, tuple[list[int], set[int]]] = {}
        for state in kernel:
            for parts, target in moves[state]:
                looked += len(parts)
                known = by_set.get(id(parts))
                if known is None:
                    by_set[id(parts)] = parts, {target}
                else:
                    known[1].add(target)
        sets_of: dict[int, tuple[int, ...]] = {}
        for name, (parts, _) in by_set.items():
            for block in parts:
                sets_of[block] = (*sets_of[block], name) if block in sets_of else (name,)
        row: dict[int, int] = {}
        rows.append(row)
        same: dict[tuple[int, ...], int] = {}
        met: set[frozenset[int]] = set()
        for block, names in sets_of.items():
            place = same.get(names)
            if place is None:
                targets = frozenset().union(*[by_set[name][1] for name in names])
                found = arrived.get(targets)
                if found is None:
                    following, cost = arrive(targets)
                    found = arrived[targets] = number[following], cost
                place = same[names] = found[0]
                if targets not in met:
                    met.add(targets)
                    looked += found[1]
            row[block] = place
        spend(looked)
        looked = 0
    return minimal_dfa(rows, accepting, blocks)


def joined(parts: Iterable[CharDfa], limit: int = MAX_STATES) -> CharDfa:
    """One after the other. Raises TooLarge."""
    nfa = Nfa(limit)
    start = end = nfa.state()
    for part in parts:
        end = nfa.automaton(part, end)
    return nfa.determinise(start, end)


def concatenate(left: CharDfa, right: CharDfa) -> CharDfa:
    """Words of `left` followed by words of `right`, of which any operation may have as many states."""
    return joined((left, right), operations.MAX_STATES)


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
