"""States of arrays and objects: what may come next, held against all ways to go on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata.json.array_states import ArrayStates
from sglc.automata.json.counters import Counts, TooComplex
from sglc.automata.json.object_plans import cheapest_entries
from sglc.automata.json.object_states import Label, ObjectStates
from sglc.automata.term import Counter
from sglc.automata.work import WorkAccount, charged

Vector = tuple[int, ...]
COUNTERS = st.lists(st.builds(Counter, st.integers(0, 3), st.none() | st.integers(0, 3)), max_size=2).map(
    tuple
)


@st.composite
def vectors(draw: st.DrawFn, counters: tuple[Counter, ...], most: int = 3) -> tuple[Vector, ...]:
    size = len(Counts(counters).kept)
    one = st.tuples(*[st.integers(0, 2)] * size)
    return tuple(draw(st.lists(one, unique=True, max_size=most)))


def within(counters: tuple[Counter, ...], totals: Vector) -> bool:
    kept = [counters[index] for index in Counts(counters).kept]
    return all(
        total >= c.minimum and (c.maximum is None or total <= c.maximum)
        for c, total in zip(kept, totals, strict=True)
    )


def added(vectors: list[Vector], size: int) -> Vector:
    return tuple([sum(vector[i] for vector in vectors) for i in range(size)])


# Objects


@st.composite
def object_cases(draw: st.DrawFn) -> dict:
    counters = draw(COUNTERS)
    number = draw(st.integers(0, 5))
    labels = [Label(draw(vectors(counters, 2))) for _ in range(number)]
    for _ in range(draw(st.integers(0, 1))):
        labels.append(Label(draw(vectors(counters, 2)), draw(st.none() | st.integers(0, 2))))
    literals = st.tuples(st.integers(0, max(number - 1, 0)), st.booleans())
    clauses = draw(st.lists(st.frozensets(literals, min_size=1, max_size=3), max_size=5)) if number else []
    return {
        "labels": labels,
        "properties": number,
        "clauses": clauses,
        "counters": counters,
        "minimum": draw(st.integers(0, 4)),
        "maximum": draw(st.none() | st.integers(0, 5)),
        "declared": draw(st.booleans()),
    }


Entries = tuple[tuple[int, int], ...]
"""(label, option) of each entry, in order."""


def finished(case: dict, entries: Entries) -> bool:
    """Whether the entries make a legal object, order aside."""
    present = {label for label, _ in entries}
    if len(entries) < case["minimum"] or (case["maximum"] is not None and len(entries) > case["maximum"]):
        return False
    if not all(any((index in present) == there for index, there in clause) for clause in case["clauses"]):
        return False
    size = len(Counts(case["counters"]).kept)
    return within(case["counters"], added([case["labels"][a].options[b] for a, b in entries], size))


def all_endings(case: dict, entries: Entries) -> Iterator[Entries]:
    """Sets of further entries (in one order) that make a legal object of some entries."""
    number = case["properties"]
    present = {label for label, _ in entries}
    late = number if any(label >= number for label in present) else max(present, default=-1) + 1
    choices: list[list[tuple[int, ...]]] = []
    for label in range(number):
        options: list[tuple[int, ...]] = [()]
        if label not in present and not (case["declared"] and label < late):
            options += [(option,) for option in range(len(case["labels"][label].options))]
        choices.append(options)
    for label in range(number, len(case["labels"])):
        family = case["labels"][label]
        # More than this is never needed: minimum and counters are met by then.
        most = 7 if family.capacity is None else family.capacity - sum(l == label for l, _ in entries)
        some: list[tuple[int, ...]] = [()]
        level: list[tuple[int, ...]] = [()]
        for _ in range(max(most, 0)):
            level = [
                (*use, o) for use in level for o in range(len(family.options)) if not use or o >= use[-1]
            ]
            some += level
        choices.append(some)
    for picks in product(*choices):
        more = tuple([(label, option) for label, options in enumerate(picks) for option in options])
        if finished(case, entries + more):
            yield more


@given(object_cases(), st.lists(st.integers(0, 30), max_size=4))
def test_objects_offer_exactly_what_can_be_completed(case: dict, steps: list[int]) -> None:
    states = ObjectStates(**case)
    state, entries = 0, ()
    assert states.feasible(0) == any(True for _ in all_endings(case, ()))
    if not states.feasible(0):
        return
    for step in [*steps, 0]:
        endings = list(all_endings(case, entries))
        assert states.may_end(state) == (() in endings)
        firsts = set()
        for ending in endings:
            # Any order, or the first in declared order (families among themselves in any).
            able = ending
            if case["declared"] and ending:
                known = [entry for entry in ending if entry[0] < case["properties"]]
                able = (known[0],) if known else ending
            firsts.update(able)
        offered = {
            (label, option): (end, go)
            for outcome, bits in states.profile(state)
            for label in range(bits.bit_length())
            if bits >> label & 1
            for option, end, go in outcome
        }
        assert set(offered) == firsts
        assert states.goes_on(state) == bool(firsts)
        for (label, option), (end, go) in offered.items():
            behind = list(all_endings(case, (*entries, (label, option))))
            assert end == (() in behind)
            assert go == any(behind)
        if not firsts:
            break
        label, option = sorted(firsts)[step % len(firsts)]
        state = states.advance(state, label, option)
        entries = (*entries, (label, option))


@given(object_cases(), st.lists(st.integers(0, 30), max_size=3), st.lists(st.integers(0, 9), min_size=24))
def test_the_cheapest_entries_are_as_cheap_as_any(case: dict, steps: list[int], costs: list[int]) -> None:
    states = ObjectStates(**case)
    if not states.feasible(0):
        return
    state, entries = 0, ()

    def cost(label: int, option: int) -> int:
        return costs[(5 * label + option) % len(costs)]

    def keys(label: int, count: int) -> list[int]:
        capacity = case["labels"][label].capacity
        used = sum(other == label for other, _ in entries)
        if capacity is None:
            return [2] * count
        return list(range(used, min(capacity, used + count)))

    def total(ending: Entries) -> int:
        uses: dict[int, int] = {}
        out = 0
        for label, option in ending:
            out += cost(label, option)
            if label >= case["properties"]:
                costs_of_keys = keys(label, uses.get(label, 0) + 1)
                out += costs_of_keys[-1]
                uses[label] = uses.get(label, 0) + 1
        return out

    for step in [*steps, 0]:
        endings = list(all_endings(case, entries))
        for at_least in (0, 1):
            expected = [total(ending) for ending in endings if len(ending) >= at_least]
            found = cheapest_entries(states, state, at_least, cost, keys)
            assert (found is None) == (not expected)
            if found is not None:
                assert found[0] == min(expected)
                assert finished(case, (*entries, *found[1]))
                assert found[0] == total(tuple(sorted(found[1])))
        offered = sorted(
            (label, outcome[0][0])
            for outcome, bits in states.profile(state)
            for label in range(bits.bit_length())
            if bits >> label & 1
        )
        if not offered:
            break
        label, option = offered[step % len(offered)]
        state = states.advance(state, label, option)
        entries = (*entries, (label, option))


# Arrays


@st.composite
def array_cases(draw: st.DrawFn) -> dict:
    counters = draw(COUNTERS)
    return {
        "places": draw(st.lists(vectors(counters), max_size=3)),
        "rest": draw(vectors(counters)),
        "minimum": draw(st.integers(0, 4)),
        "maximum": draw(st.none() | st.integers(0, 5)),
        "counters": counters,
    }


def all_arrays(case: dict) -> Iterator[tuple[int, ...]]:
    """Options of all legal arrays of up to ten items; longer ones are never needed."""
    size = len(Counts(case["counters"]).kept)
    level: list[tuple[tuple[int, ...], Vector]] = [((), (0,) * size)]
    for items in range(11):
        if case["maximum"] is not None and items > case["maximum"]:
            return
        for options, totals in level:
            if items >= case["minimum"] and within(case["counters"], totals):
                yield options
        place = case["places"][items] if items < len(case["places"]) else case["rest"]
        following = {}
        for options, totals in level:
            for option, vector in enumerate(place):
                more = tuple([min(a + b, 7) for a, b in zip(totals, vector, strict=True)])
                # Of several ways to the same totals one will do, but for the first items.
                key = (options[:3], option if items < 3 else 0, more)
                following.setdefault(key, ((*options, option), more))
        level = list(following.values())


@given(array_cases(), st.lists(st.integers(0, 5), max_size=2))
def test_arrays_offer_exactly_what_can_be_completed(case: dict, steps: list[int]) -> None:
    states = ArrayStates(**case)
    arrays = list(all_arrays(case))
    assert states.feasible(0) == bool(arrays)
    if not arrays:
        return
    state, done = 0, ()
    for step in [*steps, 0]:
        begun = [array for array in arrays if array[: len(done)] == done]
        assert states.may_end(state) == (done in begun)
        offered = dict(states.options(state))
        assert set(offered) == {array[len(done)] for array in begun if len(array) > len(done)}
        least = states.cheapest(state, 0, lambda place, option: 1 + option)
        assert least is not None
        if not states.counts.zero:
            assert len(least[1]) == min(len(array) for array in begun) - len(done)
        if not offered:
            break
        option = sorted(offered)[step % len(offered)]
        state, done = offered[option], (*done, option)


FAMILIES = (
    ((0,), (1,), (2,), (3,), (1, 2)),
    ((0, 1, 2, 3), (0, 1), (2, 3), (2,)),
    ((0, 1), (0, 1), (3,), (0, 1, 3)),
    ((0, 1, 2), (2,), ()),
)
"""Options that counters count: any two have none in common, or all of one."""


@st.composite
def tree_cases(draw: st.DrawFn) -> dict:
    family = draw(st.sampled_from(FAMILIES))
    bound = st.builds(Counter, st.integers(0, 2), st.none() | st.integers(1, 3))
    counters = tuple(draw(bound) for _ in family)
    kept = Counts(counters).kept
    vectors = [tuple([int(option in family[index]) for index in kept]) for option in range(4)]
    return {
        "places": draw(st.sampled_from(([], [vectors[:2]]))),
        "rest": vectors,
        "minimum": draw(st.integers(0, 4)),
        "maximum": draw(st.none() | st.integers(0, 6)),
        "counters": counters,
    }


@given(tree_cases(), st.permutations([1, 2, 3, 4]), st.lists(st.integers(0, 5), max_size=3))
def test_bounds_of_counters_inside_each_other_decide_what_a_search_decides(
    case: dict, costs: list[int], steps: list[int]
) -> None:
    by_tree, by_search = ArrayStates(**case), ArrayStates(**case)
    assert by_tree._tree is not None
    by_search._tree = None
    assert by_tree.feasible(0) == by_search.feasible(0)
    state = other = 0
    for step in [*steps, 0]:
        if not by_tree.feasible(state):
            break
        offered, searched = dict(by_tree.options(state)), dict(by_search.options(other))
        assert list(offered) == list(searched)
        for at_least in (0, 1) if offered else (0,):
            least = by_tree.cheapest(state, at_least, lambda place, option: costs[option])
            wanted = by_search.cheapest(other, at_least, lambda place, option: costs[option])
            assert least is not None and wanted is not None
            assert least[0] == wanted[0] == sum(costs[option] for _, option in least[1])
        if not offered:
            break
        option = sorted(offered)[step % len(offered)]
        state, other = offered[option], searched[option]


def test_counters_inside_each_other_need_no_search() -> None:
    # Forty values, each at most once, of which one is there, and two to four of ten others.
    singles = [Counter(0, 1)] * 40
    vectors = [
        (*[int(option == other) for other in range(40)], int(option == 17), int(20 <= option < 30))
        for option in range(40)
    ]
    with charged(WorkAccount()) as account:
        states = ArrayStates([], vectors, 0, 30, [*singles, Counter(1), Counter(2, 4)])
        assert states.feasible(0)
        assert len(states.options(0)) == 40
        found = states.cheapest(0, 0, lambda place, option: option)
        assert found is not None
        assert found[1] == [(0, 17), (0, 20), (0, 21)]
    assert account.spent < 500


def test_a_long_array_with_counters_is_decided_quickly() -> None:
    counters = (Counter(5), Counter(0, 900))
    states = ArrayStates([], [(1, 0), (0, 1)], 1000, 2000, counters)
    assert states.feasible(0)
    assert len(states.options(0)) == 2
    found = states.cheapest(0, 0, lambda place, option: 1)
    assert found is not None
    assert found[0] == 1000


def test_what_cannot_be_decided_is_refused() -> None:
    # A pigeonhole problem: nine pigeons, eight holes.
    holes, pigeons = 8, 9
    at = [[pigeon * holes + hole for hole in range(holes)] for pigeon in range(pigeons)]
    clauses = [frozenset((index, True) for index in row) for row in at]
    for hole in range(holes):
        for one in range(pigeons):
            clauses += [frozenset({(at[one][hole], False), (at[two][hole], False)}) for two in range(one)]
    labels = [Label(((),))] * (holes * pigeons)
    states = ObjectStates(labels, holes * pigeons, clauses, (), 0, None, False)
    with pytest.raises(TooComplex, match="clauses of an object are too complex"):
        states.feasible(0)
