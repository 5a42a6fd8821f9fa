"""Minimises a deterministic automaton over blocks of code points to the canonical `CharDfa`.

Trims, minimises and numbers the states. Minimising is bottom-up hash-consing where the only cycles are loops
at one state (counted patterns, literals, numbers: linear), and partition refinement otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from sglc.automata import work
from sglc.automata.charset import Ranges
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.graphs import reached
from sglc.automata.term import CharDfa

_Take = Callable[[dict[int, int]], tuple[int, ...]]
_Edges = list[tuple[int, int, int]]
Table = Sequence[dict[int, int]]
"""Row of state s: block number to target state."""


def minimal_dfa(table: Table, accepting: set[int], blocks: Sequence[Ranges]) -> CharDfa:
    """The canonical automaton; state 0 is the start. `blocks[b]` are the code points of block b, disjoint."""
    work.spend(len(table) + sum(map(len, table)) // 4)
    followers = _reached(table)
    before: dict[int, list[int]] = {state: [] for state in followers}
    for state, targets in followers.items():
        for target in targets:
            before[target].append(state)
    alive = set(reached(accepting & before.keys(), before.__getitem__))
    if 0 not in alive:
        return CharDfa((), frozenset())
    if len(alive) < len(followers):
        rows = {s: {b: t for b, t in table[s].items() if t in alive} for s in alive}
        followers = {s: followers[s] & alive for s in alive}
    else:
        rows = {s: table[s] for s in followers}
    work.spend(2 * sum(map(len, rows.values())))
    order = _loops_only_order(followers, before)
    if order is not None:
        merged = _merge_bottom_up(rows, accepting, order)
    else:
        merged = _refined(rows, accepting, before)
    return _numbered(rows, accepting, merged, blocks)


def _reached(table: Table) -> dict[int, set[int]]:
    """The states that can be reached, with their next states."""
    found: dict[int, set[int]] = {}
    stack = [0] if table else []
    while stack:
        state = stack.pop()
        if state not in found:
            found[state] = targets = set(table[state].values())
            stack += targets
    return found


def _loops_only_order(followers: dict[int, set[int]], before: dict[int, list[int]]) -> list[int] | None:
    """States with successors first, or None if a cycle passes two states."""
    waiting = {state: len(targets) - (state in targets) for state, targets in followers.items()}
    order = [state for state, count in waiting.items() if not count]
    for state in order:
        for earlier in before[state]:
            if earlier != state and earlier in waiting:
                waiting[earlier] -= 1
                if not waiting[earlier]:
                    order.append(earlier)
    return order if len(order) == len(followers) else None


def _merge_bottom_up(
    rows: dict[int, dict[int, int]], accepting: set[int], order: list[int]
) -> dict[int, int]:
    """State to representative. A representative's loops lead to itself literally, never to an equal twin."""
    merged: dict[int, int] = {}
    known: dict[tuple[bool, frozenset[tuple[int, int]]], int] = {}
    looping: dict[int, dict[int, int]] = {}
    for state in order:
        accept = state in accepting
        row = {b: merged.get(t, state) for b, t in rows[state].items()}
        targets = set(row.values())
        for target in targets:
            # The state may be an unrolled copy of a loop it leads into.
            rest = looping.get(target)
            if rest is not None and len(rest) == len(row) and accept == (target in accepting):
                folded = {b: target if t == state else t for b, t in row.items()} if state in targets else row
                if folded == rest:
                    merged[state] = target
                    break
        else:
            if state in targets:
                key = (accept, frozenset([(b, -1 if t == state else t) for b, t in row.items()]))
            else:
                key = (accept, frozenset(row.items()))
            found = known.setdefault(key, state)
            merged[state] = found
            if found == state and state in targets:
                looping[state] = row
    return merged


def _refined(
    rows: dict[int, dict[int, int]], accepting: set[int], before: dict[int, list[int]]
) -> dict[int, int]:
    """State to representative, by splitting groups until all of a group agree about every block.

    Where a group is split its largest part keeps its number, so a state is looked at again only if one of its
    targets went to a part of at most half the size: O(n log n) looks (Hopcroft 1971). `before` has the states
    that lead to each.
    """
    # Most rows have the same blocks, in the same order.
    labelled: dict[tuple[int, ...], tuple[tuple[int, ...], _Take]] = {}
    targets: dict[int, tuple[int, ...]] = {}
    first: dict[tuple[bool, tuple[int, ...]], list[int]] = {}
    for state, row in rows.items():
        written = tuple(row)
        known = labelled.get(written)
        if known is None:
            blocks = tuple(sorted(row))
            known = labelled[written] = blocks, itemgetter(*blocks) if len(blocks) > 1 else _only
        labels, take = known
        targets[state] = take(row)
        first.setdefault((state in accepting, labels), []).append(state)
    groups = [set(states) for states in first.values()]
    group_of = {state: number for number, group in enumerate(groups) for state in group}
    number_of = group_of.__getitem__
    dirty = set(rows)
    while dirty:
        touched: dict[int, list[int]] = {}
        for state in dirty:
            touched.setdefault(group_of[state], []).append(state)
        moved: list[tuple[set[int], int]] = []
        for number, states in touched.items():
            group = groups[number]
            if len(group) == 1:
                continue
            parts: dict[tuple[int, ...], set[int]] = {}
            for state in states:
                parts.setdefault(tuple(map(number_of, targets[state])), set()).add(state)
            if len(states) < len(group):
                # Those that were not looked at still agree with each other.
                others = group.difference(states)
                parts.setdefault(tuple(map(number_of, targets[next(iter(others))])), set()).update(others)
            if len(parts) > 1:
                largest = max(parts.values(), key=len)
                groups[number] = largest
                for part in parts.values():
                    if part is not largest:
                        moved.append((part, len(groups)))
                        groups.append(part)
        dirty = set()
        for part, number in moved:
            for state in part:
                group_of[state] = number
                dirty.update(before[state])
    return {state: min(group) for group in groups for state in group}


def _only(row: dict[int, int]) -> tuple[int, ...]:
    return tuple(row.values())


def _numbered(
    rows: dict[int, dict[int, int]], accepting: set[int], merged: dict[int, int], blocks: Sequence[Ranges]
) -> CharDfa:
    number = Numbering(merged[0])
    edges: list[tuple[tuple[int, int, int], ...]] = []
    kinds: list[int] = []
    known: dict[tuple[tuple[int, int], ...], tuple[int, _Edges]] = {}
    for state in number.order:
        places: dict[int, int] = {}
        """The targets in the order of their blocks."""
        key = tuple(
            [
                (block, places.setdefault(merged[target], len(places)))
                for block, target in sorted(rows[state].items())
            ]
        )
        found = known.get(key)
        if found is None:
            parts = [(low, high, place) for block, place in key for low, high in blocks[block]]
            found = known[key] = len(known), joined_edges(sorted(parts))
        kind, row = found
        targets = list(places)
        edges.append(tuple([(low, high, number[targets[place]]) for low, high, place in row]))
        kinds.append(kind)
    accepted = frozenset([number[state] for state in number.order if state in accepting])
    return CharDfa(tuple(edges), accepted, tuple(kinds))


def joined_edges(edges: Iterable[tuple[int, int, int]]) -> _Edges:
    """Edges in order, those as one that lie side by side and lead to one target."""
    out: _Edges = []
    begin, end, last = -1, -1, -1
    for low, high, target in edges:
        if target == last and low == end + 1:
            end = high
            continue
        if last >= 0:
            out.append((begin, end, last))
        begin, end, last = low, high, target
    if last >= 0:
        out.append((begin, end, last))
    return out
