"""`compile_regex`: a pattern to the canonical automaton of the texts it matches.

Thompson's construction (1968), then subsets. Counted loops are unrolled with every optional copy nested in
the one before, so that the subsets stay small. All work is counted, not timed, so that a pattern is accepted
or refused alike on every machine.
"""

from __future__ import annotations

from functools import lru_cache

from sglc.automata.charset import ALL, Ranges, atoms
from sglc.automata.minimal import minimal_dfa
from sglc.automata.regex_parse import (
    Chars,
    Either,
    Join,
    Loop,
    Node,
    RegexError,
    Start,
    parse_regex,
)
from sglc.automata.term import CharDfa

__all__ = ["DEFAULT_LIMIT", "RegexError", "compile_regex"]

DEFAULT_LIMIT = 20_000
"""States of the automaton. The unrolled pattern may have ten times as many, the work is bounded likewise."""

_WORK_PER_STATE = 200


@lru_cache(maxsize=1024)
def compile_regex(
    pattern: str, *, anchored: bool = True, ignore_case: bool = False, limit: int = DEFAULT_LIMIT
) -> CharDfa:
    """The texts that match as a whole (or, if not `anchored`, that contain a match, as in JSON Schema).

    `^` and `$` hold at the very start and end of the text, nowhere else. Raises RegexError for what is not
    regular or not known, and where the automaton would pass `limit` states.
    """
    node = parse_regex(pattern, ignore_case=ignore_case)
    nfa = _Nfa(10 * limit)
    start = nfa.state(0)
    if anchored:
        end = nfa.add(node, start)
    else:
        nfa.moves[start].append((ALL, start))
        end = nfa.add(node, nfa.silent(start))
        end = nfa.silent(end)
        nfa.moves[end].append((ALL, end))
    return _determinise(nfa, start, end, limit)


class _Nfa:
    """States with silent edges and edges over sets; `starts` and `ends` are the edges of `^` and `$`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.moves: list[list[tuple[Ranges, int]]] = []
        self.silents: list[list[int]] = []
        self.starts: dict[int, list[int]] = {}
        self.ends: dict[int, list[int]] = {}

    def state(self, position: int) -> int:
        if len(self.moves) >= self.limit:
            raise RegexError(position, f"the pattern unrolls to more than {self.limit} states")
        self.moves.append([])
        self.silents.append([])
        return len(self.moves) - 1

    def silent(self, source: int) -> int:
        target = self.state(0)
        self.silents[source].append(target)
        return target

    def add(self, node: Node, source: int, position: int = 0) -> int:
        """Adds what `node` matches behind `source`; returns where it ends."""
        if isinstance(node, Chars):
            target = self.state(position)
            if node.these:
                self.moves[source].append((node.these, target))
            return target
        if isinstance(node, Join):
            for item in node.items:
                source = self.add(item, source, position)
            return source
        if isinstance(node, Either):
            target = self.state(position)
            for arm in node.arms:
                self.silents[self.add(arm, self.silent(source), position)].append(target)
            return target
        if isinstance(node, Loop):
            return self.add_loop(node, source)
        target = self.state(position)
        (self.starts if isinstance(node, Start) else self.ends).setdefault(source, []).append(target)
        return target

    def add_loop(self, node: Loop, source: int) -> int:
        for _ in range(node.minimum):
            source = self.add(node.item, source, node.position)
        if node.maximum is None:
            hub = self.silent(source)
            self.silents[self.add(node.item, self.silent(hub), node.position)].append(hub)
            return self.silent(hub)
        target = self.state(node.position)
        for _ in range(node.maximum - node.minimum):
            self.silents[source].append(target)
            source = self.add(node.item, source, node.position)
        self.silents[source].append(target)
        return target


def _determinise(nfa: _Nfa, start: int, end: int, limit: int) -> CharDfa:
    numbers: dict[Ranges, int] = {}
    for row in nfa.moves:
        for these, _ in row:
            numbers.setdefault(these, len(numbers))
    blocks, members = atoms(list(numbers))
    moves = [[(members[numbers[these]], target) for these, target in row] for row in nfa.moves]
    budget = limit * _WORK_PER_STATE

    def closure(states: set[int], *extra: dict[int, list[int]]) -> set[int]:
        stack = list(states)
        while stack:
            state = stack.pop()
            for target in nfa.silents[state]:
                if target not in states:
                    states.add(target)
                    stack.append(target)
            for edges in extra:
                for target in edges.get(state, ()):
                    if target not in states:
                        states.add(target)
                        stack.append(target)
        return states

    def kernel(states: set[int]) -> frozenset[int]:
        """Only the states that matter: those that move, the end, and sources of `$`."""
        return frozenset(s for s in states if moves[s] or s == end or s in nfa.ends)

    first = kernel(closure({start}, nfa.starts))
    number = {first: 0}
    order = [first]
    rows: list[dict[int, int]] = []
    accepting: set[int] = set()
    for current in order:
        if end in current:
            accepting.add(len(rows))
        elif nfa.ends:
            extra = (nfa.ends, nfa.starts) if current is first else (nfa.ends,)
            if end in closure(set(current), *extra):
                accepting.add(len(rows))
        gathered: dict[int, set[int]] = {}
        for state in current:
            for parts, target in moves[state]:
                budget -= len(parts)
                for block in parts:
                    if block in gathered:
                        gathered[block].add(target)
                    else:
                        gathered[block] = {target}
        targets_of: dict[int, int] = {}
        rows.append(targets_of)
        same: dict[frozenset[int], int] = {}
        for block, targets in gathered.items():
            key = frozenset(targets)
            known = same.get(key)
            if known is None:
                closed = kernel(closure(targets))
                budget -= len(closed) + 1
                known = number.get(closed)
                if known is None:
                    known = number[closed] = len(order)
                    order.append(closed)
                same[key] = known
            targets_of[block] = known
        if len(order) > limit:
            raise RegexError(0, f"the pattern needs more than {limit} states")
        if budget < 0:
            raise RegexError(0, "the pattern is too costly to compile")
    return minimal_dfa(rows, accepting, blocks)
