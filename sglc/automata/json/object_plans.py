"""The cheapest entries that complete an object."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sglc.automata import work
from sglc.automata.json.counters import MOST_STEPS, Vector
from sglc.automata.json.object_states import ObjectStates
from sglc.automata.json.unit_propagation import bits_of

Plan = list[tuple[int, int]]
"""(label, option) of each entry to come, in no special order."""

_Chain = tuple["_Chain", int, int] | None
"""Entries from the last to the first: (those before, label, option)."""
_Reached = dict[tuple[int, Vector, bool], tuple[int, _Chain]]
"""By (entries, counters, whether an entry has been added): the least cost, and the entries as a chain."""


def cheapest_entries(
    states: ObjectStates,
    state: int,
    at_least: int,
    cost: Callable[[int, int], int | None],
    keys: Callable[[int, int], Sequence[int]],
) -> tuple[int, Plan] | None:
    """The least cost of entries that complete the object, `at_least` (0 or 1) of them, and which.

    `cost(label, option)` is that of an entry, of a family's without its key; None for what is not known
    yet (the whole may be None then). `keys(family, n)` gives the costs of its n cheapest new keys,
    ascending; fewer if there are fewer.
    """
    if not at_least and states.may_end(state):
        return 0, []
    residue = states.residue(state)
    if residue is None:
        return None
    known: dict[int, tuple[int, int] | None] = {}

    def least(label: int) -> tuple[int, int] | None:
        if label not in known:
            costs = [
                (c, option)
                for option in range(len(states.labels[label].options))
                if (c := cost(label, option)) is not None
            ]
            known[label] = min(costs, default=None)
        return known[label]

    best: tuple[int, Plan] | None = None

    def wanted(must: int) -> bool:
        total = 0
        for label in bits_of(must):
            found = least(label)
            if found is None:
                return False
            total += found[0]
        return best is None or total < best[0]

    for free, must, _ in states.models(state, residue, wanted):
        if states.counts.zero:
            found = _cheapest_counts(states, state, at_least, free, must, cost, keys)
        else:
            found = _cheapest_extra(states, state, at_least, free, must, least, keys)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return best


def _cheapest_extra(
    states: ObjectStates,
    state: int,
    at_least: int,
    free: int,
    must: int,
    least: Callable[[int], tuple[int, int] | None],
    keys: Callable[[int, int], Sequence[int]],
) -> tuple[int, Plan] | None:
    """Without counters: what must be there, and the cheapest others as far as their number is needed."""
    entries = states.values[state][2]
    total = 0
    plan: Plan = []
    for label in bits_of(must):
        found = least(label)
        assert found is not None
        total += found[0]
        plan.append((label, found[1]))
    missing = max(states.minimum - entries, at_least) - len(plan)
    if missing <= 0:
        return total, plan
    if states.maximum is not None and entries + len(plan) + missing > states.maximum:
        return None
    others: list[tuple[int, int, int]] = []
    for label in bits_of(free):
        found = least(label)
        if found is not None:
            others.append((found[0], label, found[1]))
    for label in states.families:
        found = least(label)
        if found is not None:
            others += [(found[0] + key, label, found[1]) for key in keys(label, missing)]
    if len(others) < missing:
        return None
    others.sort()
    total += sum(c for c, _, _ in others[:missing])
    return total, plan + [(label, option) for _, label, option in others[:missing]]


def _cheapest_counts(
    states: ObjectStates,
    state: int,
    at_least: int,
    free: int,
    must: int,
    cost: Callable[[int, int], int | None],
    keys: Callable[[int, int], Sequence[int]],
) -> tuple[int, Plan] | None:
    """The same with counters: dynamic programming over what has been counted, label by label."""
    _, _, entries, counts, _ = states.values[state]
    reached: _Reached = {(entries, counts, not at_least): (0, None)}
    steps = 0

    def grown(these: _Reached, label: int, key: int) -> _Reached:
        nonlocal steps
        out: _Reached = {}
        for (n, done, _), (total, plan) in these.items():
            for option, vector in enumerate(states.labels[label].options):
                more = cost(label, option)
                new = None if more is None else states.plus((n, done), vector)
                if more is not None and new is not None:
                    spot = (*new, True)
                    if spot not in out or total + more + key < out[spot][0]:
                        out[spot] = (total + more + key, (plan, label, option))
        steps += len(out) + 1
        work.spend(2 * len(out) + 1)
        if steps > MOST_STEPS:
            raise states.error("the counts of an object are too complex")
        return out

    def better(new: _Reached) -> _Reached:
        """Add what is new or cheaper; returns that."""
        gained = {s: v for s, v in new.items() if s not in reached or v[0] < reached[s][0]}
        reached.update(gained)
        return gained

    for label in bits_of(must):
        reached = grown(reached, label, 0)
    for label in bits_of(free):
        better(grown(dict(reached), label, 0))
    for label in states.families:
        fresh = dict(reached)
        asked, costs = 0, [0]
        number = 0
        while fresh:
            if number >= asked:
                asked = 2 * asked + 4
                costs = list(keys(label, asked))
            if number >= len(costs):
                break
            fresh = better(grown(fresh, label, costs[number]))
            number += 1
    ends = [
        (total, plan)
        for (n, done, enough), (total, plan) in reached.items()
        if enough and n >= states.minimum and states.counts.met(done)
    ]
    if not ends:
        return None
    total, chain = min(ends, key=lambda end: end[0])
    plan: Plan = []
    while chain is not None:
        chain, label, option = chain
        plan.append((label, option))
    return total, plan[::-1]
