"""Who has read what, against an oracle that keeps whole prefixes; and the rule by which calls are given."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.simulated_workers import Traffic, simulated
from sglc.runtime.cluster.attended import Call, most_alike
from sglc.runtime.cluster.messages import Asked
from sglc.runtime.cluster.prefix_tree import ReadPrefixes
from sglc.runtime.cluster.router import NOTHING, Beginning, Router, is_overloaded
from sglc.runtime.kv.blocks import BLOCK_TOKENS
from sglc.runtime.kv.names import names_of


class Prefixes:
    """The oracle: of each worker the prefixes that it has, as tuples of blocks."""

    def __init__(self) -> None:
        self.has: dict[int, set[tuple[int, ...]]] = {}

    def note(self, worker: int, blocks: Sequence[int]) -> None:
        own = self.has.setdefault(worker, set())
        own.update(tuple(blocks[:end]) for end in range(1, len(blocks) + 1))

    def gone(self, worker: int, prefix: tuple[int, ...]) -> None:
        own = self.has.get(worker, set())
        self.has[worker] = {each for each in own if each[: len(prefix)] != prefix}

    def matches(self, blocks: Sequence[int]) -> dict[int, int]:
        found = {}
        for worker, own in self.has.items():
            length = 0
            while length < len(blocks) and tuple(blocks[: length + 1]) in own:
                length += 1
            if length:
                found[worker] = length
        return found


def tokens(blocks: Sequence[int]) -> list[int]:
    """Blocks are named by a digit each."""
    return [digit for digit in blocks for _ in range(BLOCK_TOKENS)]


BLOCKS = st.lists(st.integers(0, 2), min_size=1, max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.integers(0, 3), BLOCKS),
        st.tuples(st.just("gone"), st.integers(0, 3), BLOCKS),
        st.tuples(st.just("forget"), st.integers(0, 3), st.just([0])),
    ),
    max_size=30,
)


@given(steps=STEPS, asked=st.lists(BLOCKS, min_size=1, max_size=4))
def test_the_tree_knows_what_an_oracle_knows(
    steps: list[tuple[str, int, list[int]]], asked: list[list[int]]
) -> None:
    tree, oracle = ReadPrefixes(), Prefixes()
    for what, worker, blocks in steps:
        names = names_of(tokens(blocks))
        assert len(names) == len(blocks)
        if what == "note":
            tree.note(worker, names)
            oracle.note(worker, blocks)
        elif what == "gone":
            tree.gone(worker, names[-1])
            oracle.gone(worker, tuple(blocks))
        else:
            tree.forget(worker)
            oracle.has.pop(worker, None)
        for each in [*asked, blocks]:
            known = oracle.matches(each)
            assert tree.matches(names_of(tokens(each))) == known
            deep = {worker: length for worker, length in known.items() if length >= 3}
            assert tree.matches(names_of(tokens(each)), 3) == deep
        assert {worker: tree.held[worker] for worker in range(4)} == {
            worker: len(oracle.has.get(worker, ())) for worker in range(4)
        }
    assert len(tree) == len(set().union(*oracle.has.values()))


@given(steps=st.lists(st.tuples(st.integers(0, 3), BLOCKS), max_size=40), most=st.integers(5, 12))
def test_a_full_tree_forgets_and_never_makes_up(steps: list[tuple[int, list[int]]], most: int) -> None:
    tree, oracle = ReadPrefixes(most), Prefixes()
    for worker, blocks in steps:
        tree.note(worker, names_of(tokens(blocks)))
        oracle.note(worker, blocks)
        assert len(tree) <= most and sum(tree.held.values()) >= len(tree)
        known = oracle.matches(blocks)
        assert tree.matches(names_of(tokens(blocks)))[worker] == len(blocks)
        for other, length in tree.matches(names_of(tokens(blocks))).items():
            assert length <= known[other]


def beginning(*blocks: int, more: int = 0) -> Beginning:
    read = [*tokens(blocks), *range(100, 100 + more)]
    return Beginning(tuple(names_of(read)), len(read))


def test_the_longest_match_gets_the_call() -> None:
    router = Router()
    router.read.note(1, beginning(1, 2).names)
    router.read.note(2, beginning(1, 2, 3).names)
    assert router.choose(beginning(1, 2, 3, 4), {1: 0, 2: 1, 3: 0}, 8) == 2
    assert router.choose(beginning(1, 2, 9), {1: 3, 2: 2, 3: 1}, 8) == 2  # as much; the less loaded


def test_a_worker_may_have_as_many_calls_more_as_write_what_the_other_had_to_read() -> None:
    long = beginning(*range(20))  # 320 tokens; a call is taken to write 16
    router = Router()
    router.read.note(1, long.names)
    assert router.choose(long, {1: 20, 2: 0}, 64) == 1
    assert router.choose(long, {1: 21, 2: 0}, 64) == 2  # which has read it, too, from now on
    assert router.choose(long, {1: 3, 2: 1}, 64) == 2 and router.choose(long, {1: 2, 2: 1}, 64) == 2
    assert router.choose(beginning(*range(20), 77, 78), {1: 2, 2: 4}, 64) == 1
    for tokens, calls in ((160, 2), (1, 128), (10_000, 1)):
        router = Router()
        for _ in range(200):
            router.answered(tokens)
        assert round(router.leeway(320, 64)) == calls  # never more than two rounds of the width
        router.read.note(1, long.names)
        assert router.choose(long, {1: calls, 2: 0}, 64) == 1
        assert router.choose(long, {1: calls + 1, 2: 0}, 64) == 2


def test_a_match_below_a_tenth_does_not_count() -> None:
    long = beginning(1, *range(2, 12))  # 11 blocks
    for first, wins in ((beginning(1), False), (beginning(1, 2), True)):
        router = Router()
        router.read.note(7, first.names)
        assert (router.choose(long, {7: 9, 8: 0, 9: 0}, 4) == 7) is False  # overloaded, whatever it has read
        router = Router()
        router.read.note(7, first.names)
        chosen = {Router(seed).choose(long, {7: 1, 8: 0}, 8) for seed in range(8)}
        assert chosen == {8}
        assert (router.choose(long, {7: 1, 8: 0}, 8) == 7) is wins


def test_overload_is_both_times_and_more_while_another_could_do_with_more() -> None:
    assert not is_overloaded(8, 0, 1, 8) and is_overloaded(9, 0, 1, 8)
    assert (
        not is_overloaded(45, 30, 64, 5)
        and is_overloaded(46, 30, 64, 5)
        and not is_overloaded(46, 30, 64, 16)
    )
    assert not is_overloaded(129, 32, 64, 8) and is_overloaded(129, 31, 64, 8)
    assert not is_overloaded(2, 1, 64, 1) and is_overloaded(2, 0, 64, 1)


@given(seed=st.integers(0, 100), loads=st.lists(st.integers(0, 16), min_size=8, max_size=8))
def test_beginnings_that_nobody_has_read_are_divided_evenly(seed: int, loads: list[int]) -> None:
    """Two workers whose loads differ by their leeway at most."""
    router = Router(seed)
    chosen = [router.choose(beginning(*[n] * 16), {1: loads[n], 2: 0}, 8) for n in range(8)]
    assert sorted(chosen) == [1] * 4 + [2] * 4
    far = {1: 17, 2: 0}
    assert router.choose(beginning(*[9] * 16), far, 8) == 2 and router.choose(NOTHING, {1: 1, 2: 0}, 8) == 2


def test_who_runs_dry_takes_what_most_have_in_common() -> None:
    def waiting(*blocks: int) -> Call:
        known = beginning(*blocks)
        return Call(0, Asked("f", "{}"), known, lambda event: None, lambda place: None, asyncio.Future())

    async def whole() -> None:
        calls = [waiting(1, 5), waiting(2, 6), waiting(1, 7), waiting(3, 8), waiting(4, 9)]
        assert most_alike(calls) is calls[2]
        assert most_alike(calls[3:]) is calls[4]

    asyncio.run(whole())


@pytest.mark.slow
@pytest.mark.parametrize("slow", [1.0, 1.5])
def test_eight_beginnings_on_two_workers_are_computed_once(slow: float) -> None:
    """In simulated time; also where the second worker takes half as long again for everything."""
    traffic = Traffic(slow=slow)
    shares = [simulated(traffic, "affinity", seed)[0] for seed in range(20)]
    assert max(shares) <= 1.1
    assert min(simulated(traffic, "round robin", seed)[0] for seed in range(5)) > 1.5


@given(loads=st.dictionaries(st.integers(0, 20), st.integers(0, 30), min_size=1), seed=st.integers(0, 5))
def test_without_a_match_never_the_most_loaded_of_several(loads: dict[int, int], seed: int) -> None:
    chosen = Router(seed).choose(Beginning(), loads, 4)
    assert chosen in loads
    if len(loads) > 1 and sorted(loads.values())[-2] < max(loads.values()):
        assert loads[chosen] < max(loads.values())
