"""Products of many automata: unions, words of exactly one, and the partition of words by their automata.

One subset construction runs over all automata, and one minimisation gives each answer. Binary operations
would also minimise every intermediate automaton.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from sglc.automata import work
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import MAX_STATES, NONE, TooLarge, all_words, complement, shared_blocks
from sglc.automata.term import CharDfa


def united(parts: Sequence[CharDfa], but: Sequence[CharDfa] = ()) -> CharDfa:
    """The words of some of `parts` that are of none of `but`."""
    parts = [part for part in dict.fromkeys(parts) if part.edges]
    but = [part for part in dict.fromkeys(but) if part.edges]
    if not parts:
        return NONE
    if len(parts) == 1 and not but:
        return parts[0]
    size = len(parts)
    both = _Together((*parts, *but), lambda states, owners: owners[states[0]] >= size)
    return both.where(lambda members: bool(members) and min(members) < size and max(members) < size)


def of_exactly_one(parts: Sequence[CharDfa]) -> CharDfa:
    """The words of exactly one of the automata (by number: equal ones count each)."""
    parts = [part for part in parts if part.edges]
    if len(parts) < 2:
        return parts[0] if parts else NONE
    endless = [_endless_states(part) for part in parts]
    offsets = [0, *accumulate(len(part.edges) for part in parts)]
    sinks = {state + offset for states, offset in zip(endless, offsets, strict=False) for state in states}

    def hopeless(states: tuple[int, ...], _: list[int]) -> bool:
        return sum([state in sinks for state in states]) > 1

    return _Together(parts, hopeless).where(lambda members: len(members) == 1)


def divided(parts: Sequence[CharDfa], limit: int) -> list[tuple[CharDfa, frozenset[int]]]:
    """All words by which of the automata (by number) they are words of; raises TooLarge if there are more
    than `limit` states in all."""
    if len(parts) == 1:
        pieces = ((complement(parts[0]), frozenset[int]()), (parts[0], frozenset({0})))
        if sum(len(dfa.edges) for dfa, _ in pieces) > limit:
            raise TooLarge(f"more than {limit} states")
        return [(dfa, kind) for dfa, kind in pieces if dfa.edges]
    whole = _Together((*parts, all_words()), lambda states, owners: False, 5 * limit)
    last = len(parts)
    kinds = dict.fromkeys(whole.members)
    found = []
    size = 0
    for kind in kinds:
        dfa = whole.where(kind.__eq__)
        size += len(dfa.edges)
        if size > limit:
            raise TooLarge(f"more than {limit} states")
        found.append((dfa, kind - {last}))
    return found


def _endless_states(dfa: CharDfa) -> list[int]:
    """States from which every word is accepted."""
    everything = all_words().edges[0]
    return [
        state
        for state in dfa.accepting
        if [(low, high) for low, high, _ in dfa.edges[state]] == [(low, high) for low, high, _ in everything]
        and all(target == state for _, _, target in dfa.edges[state])
    ]


class _Together:
    """Automata read side by side: states are those of all that are still alive, by one subset construction.

    States of the automata are numbered one after the other; `owners` tells whose each is. Where `hopeless`
    holds of a state of the whole, it is left out.
    """

    def __init__(
        self,
        dfas: Sequence[CharDfa],
        hopeless: Callable[[tuple[int, ...], list[int]], bool],
        limit: int = MAX_STATES,
    ) -> None:
        self.blocks, tables, _ = shared_blocks(dfas)
        joined: list[list[tuple[int, int]]] = []
        owners: list[int] = []
        accepting: set[int] = set()
        starts = []
        for index, (dfa, table) in enumerate(zip(dfas, tables, strict=True)):
            offset = len(joined)
            if table:
                starts.append(offset)
            joined += [[(block, target + offset) for block, target in row.items()] for row in table]
            owners += [index] * len(table)
            accepting.update([state + offset for state in dfa.accepting])
        number = Numbering(tuple(starts), limit=limit)
        self.rows: list[dict[int, int]] = []
        self.members: list[frozenset[int]] = []
        """Of each state, the automata that accept there."""
        known: dict[tuple[int, ...], bool] = {}
        for states in number.order:
            self.members.append(frozenset([owners[state] for state in states if state in accepting]))
            row: dict[int, int] = {}
            self.rows.append(row)
            reached: dict[int, tuple[int, ...]] = {}
            work.spend(1 + len(states) + sum([len(joined[state]) for state in states]) * 5 // 4)
            for state in states:
                for block, target in joined[state]:
                    before = reached.get(block)
                    reached[block] = (target,) if before is None else (*before, target)
            for block, targets in reached.items():
                if targets not in known:
                    known[targets] = targets not in number and hopeless(targets, owners)
                if not known[targets]:
                    row[block] = number[targets]

    def where(self, accept: Callable[[frozenset[int]], bool]) -> CharDfa:
        """The words after which the automata that accept are as asked."""
        known = {members: accept(members) for members in dict.fromkeys(self.members)}
        accepting = {state for state, members in enumerate(self.members) if known[members]}
        return minimal_dfa(self.rows, accepting, self.blocks)
