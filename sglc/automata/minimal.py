"""From a deterministic automaton over blocks of code points to the canonical `CharDfa`.

Trims, minimises and numbers the states. Minimising is bottom-up hash-consing where the only cycles are loops
at one state (counted patterns, literals, numbers: linear), and Hopcroft's partition refinement (1971)
otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from sglc.automata.charset import Ranges
from sglc.automata.term import CharDfa

Table = Sequence[dict[int, int]]
"""Row of state s: block number to target state."""


def minimal_dfa(table: Table, accepting: set[int], blocks: Sequence[Ranges]) -> CharDfa:
    """The canonical automaton; state 0 is the start. `blocks[b]` are the code points of block b, disjoint."""
    alive = _useful(table, accepting)
    if 0 not in alive:
        return CharDfa((), frozenset())
    rows = {s: {b: t for b, t in table[s].items() if t in alive} for s in alive}
    order = _loops_only_order(rows)
    merged = _merge_bottom_up(rows, accepting, order) if order is not None else _hopcroft(rows, accepting)
    return _numbered(rows, accepting, merged, blocks)


def _useful(table: Table, accepting: set[int]) -> set[int]:
    """States that are reachable and reach acceptance."""
    reached = {0} if table else set()
    stack = list(reached)
    before: dict[int, list[int]] = {}
    while stack:
        state = stack.pop()
        for target in set(table[state].values()):
            before.setdefault(target, []).append(state)
            if target not in reached:
                reached.add(target)
                stack.append(target)
    stack = [state for state in accepting if state in reached]
    alive = set(stack)
    while stack:
        for state in before.get(stack.pop(), ()):
            if state not in alive:
                alive.add(state)
                stack.append(state)
    return alive


def _loops_only_order(rows: dict[int, dict[int, int]]) -> list[int] | None:
    """States with successors first, or None if a cycle passes two states."""
    before: dict[int, list[int]] = {state: [] for state in rows}
    waiting: dict[int, int] = {}
    ready = []
    for state, row in rows.items():
        targets = set(row.values())
        targets.discard(state)
        waiting[state] = len(targets)
        if not targets:
            ready.append(state)
        for target in targets:
            before[target].append(state)
    order = []
    while ready:
        state = ready.pop()
        order.append(state)
        for earlier in before[state]:
            waiting[earlier] -= 1
            if not waiting[earlier]:
                ready.append(earlier)
    return order if len(order) == len(rows) else None


def _merge_bottom_up(
    rows: dict[int, dict[int, int]], accepting: set[int], order: list[int]
) -> dict[int, int]:
    """State to representative. A representative's loops lead to itself literally, never to an equal twin."""
    merged: dict[int, int] = {}
    known: dict[tuple[bool, frozenset[tuple[int, int]]], int] = {}
    rest: dict[int, dict[int, int]] = {}
    for state in order:
        accept = state in accepting
        row = {b: merged.get(t, state) for b, t in rows[state].items()}
        for target in set(row.values()):
            # The state may be an unrolled copy of a loop it leads into.
            if target != state and accept == (target in accepting):
                folded = {b: target if t == state else t for b, t in row.items()}
                if folded == rest[target]:
                    merged[state] = target
                    break
        else:
            key = (accept, frozenset((b, -1 if t == state else t) for b, t in row.items()))
            found = known.setdefault(key, state)
            merged[state] = found
            if found == state:
                rest[state] = row
    return merged


def _hopcroft(rows: dict[int, dict[int, int]], accepting: set[int]) -> dict[int, int]:
    before: dict[int, dict[int, list[int]]] = {}
    for state, row in rows.items():
        for block, target in row.items():
            before.setdefault(target, {}).setdefault(block, []).append(state)
    final = {state for state in rows if state in accepting}
    groups: list[set[int]] = [group for group in (final, set(rows) - final) if group]
    # Transitions may be missing, so the missing ones are a split of their own: all groups start as splitters.
    group_of = {state: index for index, group in enumerate(groups) for state in group}
    work = list(range(len(groups)))
    queued = set(work)
    while work:
        index = work.pop()
        queued.discard(index)
        arrivals: dict[int, list[int]] = {}
        for target in groups[index]:
            for block, states in before.get(target, {}).items():
                arrivals.setdefault(block, []).extend(states)
        for states in arrivals.values():
            touched: dict[int, set[int]] = {}
            for state in states:
                touched.setdefault(group_of[state], set()).add(state)
            for number, inside in touched.items():
                group = groups[number]
                if len(inside) == len(group):
                    continue
                group -= inside
                new = len(groups)
                groups.append(inside)
                for state in inside:
                    group_of[state] = new
                if number in queued or len(inside) <= len(group):
                    work.append(new)
                    queued.add(new)
                else:
                    work.append(number)
                    queued.add(number)
    return {state: min(group) for group in groups for state in group}


def _numbered(
    rows: dict[int, dict[int, int]], accepting: set[int], merged: dict[int, int], blocks: Sequence[Ranges]
) -> CharDfa:
    start = merged[0]
    number = {start: 0}
    queue = [start]
    edges: list[tuple[tuple[int, int, int], ...]] = []
    for state in queue:
        parts = sorted(
            (low, high, merged[target])
            for block, target in rows[state].items()
            for low, high in blocks[block]
        )
        joined: list[tuple[int, int, int]] = []
        for low, high, target in parts:
            if joined and joined[-1][2] == target and joined[-1][1] + 1 == low:
                joined[-1] = (joined[-1][0], high, target)
            else:
                joined.append((low, high, target))
        for _, _, target in joined:
            if target not in number:
                number[target] = len(queue)
                queue.append(target)
        edges.append(tuple((low, high, number[target]) for low, high, target in joined))
    return CharDfa(tuple(edges), frozenset(number[s] for s in queue if s in accepting))
