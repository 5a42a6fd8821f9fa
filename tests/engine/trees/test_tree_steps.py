"""Trees of drafts in the engine: logits, keys and values are those of the path that came."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.engine_bench import EngineBench
from fakes.fake_executor import FakeExecutor
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.runtime.engine.scheduling.schedule import StepLimits

#      1 ── 2 ── 3
#  ────┤    └─── 4 ── 5
#      6 ── 7
TREE = Draft([1, 2, 3, 6, 4, 7, 5], [-1, 0, 1, -1, 1, 3, 4])
PATHS = [[1, 2, 3], [1, 2, 4, 5], [6, 7]]


class TreeFake(FakeExecutor):
    trees = True


def bench_of(blocks: int = 64, **options: Any) -> EngineBench:
    return EngineBench(blocks=blocks, executor=TreeFake(), **options)


def free(bench: EngineBench) -> bool:
    """Whether nothing is held."""
    stats = bench.engine.get_cache_stats()
    return stats.held == 0 and stats.free + stats.cached == stats.blocks


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("before", [1, 10, 14, 15, 16, 29])
def test_a_path_of_a_tree_needs_no_step_of_its_own(path: list[int], before: int) -> None:
    """Its tokens count as computed, wherever a block ends; the next step computes one token."""
    bench = bench_of()

    async def job() -> None:
        branch = bench.branch([9] * before)
        await bench.check(branch, TREE)
        for token in path:
            branch.append([token])
            await bench.check(branch)
        assert len(bench.executor.steps) == 1
        branch.append([8])
        await bench.check(branch)
        assert bench.fed() == [[before + 7], [1]]
        assert bench.executor.moved == (0 if path == PATHS[0] else len(path) - (2 if path[0] == 1 else 0))
        statistics = branch.statistics
        assert (statistics.drafted, statistics.accepted) == (7, len(path))
        branch.close()
        assert free(bench)
        # What was moved is found by others.
        other = bench.branch([*[9] * before, *path, 8])
        await bench.check(other)
        assert bench.fed()[-1] == [1]
        other.close()

    bench.run(job())
    assert free(bench)


@pytest.mark.parametrize("kept", range(6))
def test_a_branch_may_be_cut_back_anywhere_and_go_another_way(kept: int) -> None:
    """Along one path to its end, back to any place before, and along the others."""
    bench = bench_of()

    async def job() -> None:
        branch = bench.branch([9, 8])
        await bench.check(branch, TREE)
        for first in PATHS:
            for second in PATHS:
                branch.rollback(2)
                branch.append(first)
                await bench.check(branch)
                branch.rollback(min(kept + 1, len(branch.tokens)))
                branch.append(([8] if kept == 0 else []) + second)
                await bench.check(branch)
        assert len(bench.executor.steps) > (kept > 1)
        branch.close()

    bench.run(job())
    assert free(bench)


def test_rows_of_a_tree_are_read_in_any_order_without_a_step() -> None:
    bench = bench_of()

    async def job() -> None:
        branch = bench.branch([9, 8])
        await bench.check(branch, TREE)
        for path in (*PATHS, *PATHS[::-1]):
            for size in (len(path), 1, 2):
                branch.rollback(2)
                branch.append(path[:size])
                await bench.check(branch)
        assert len(bench.executor.steps) == 1
        branch.rollback(2)
        branch.append([6, 2])  # a token of another path
        await bench.check(branch)
        assert bench.fed() == [[9], [1]]  # the 6 was moved
        branch.close()

    bench.run(job())
    assert free(bench)


def test_what_stood_beside_a_path_is_not_taken_for_what_follows_it() -> None:
    """Rows of a tree stand one after the other; tokens in that order are another text."""
    bench = bench_of()

    async def job() -> None:
        for cut in range(4, 8):
            branch = bench.branch([9, cut])
            await bench.check(branch, TREE)
            branch.append(TREE.tokens[:cut])
            await bench.check(branch)
            branch.append([8])
            await bench.check(branch)
            branch.close()

    bench.run(job())
    assert free(bench)


@pytest.mark.parametrize("first", ["branch", "fork"])
def test_forks_of_a_tree_part_as_forks_do(first: str) -> None:
    """Both read all rows; the one that has what was computed beside the first path moves it, the other
    computes it again; neither writes into what the other has."""
    bench = bench_of()

    async def job() -> None:
        branch = bench.branch([9, 8])
        await bench.check(branch, TREE)
        fork = branch.fork()
        branch.append([1, 2, 4, 5])
        fork.append([6, 7])
        for each in (branch, fork) if first == "branch" else (fork, branch):
            await bench.check(each)
            each.append([3])
            await bench.check(each)
        assert sorted(map(sum, bench.fed()[1:])) == [1, 3]
        assert bench.executor.moved == 2
        for each in (branch, fork):
            each.append([2])
            await bench.check(each)
            each.close()

    bench.run(job())
    assert free(bench)


def test_a_request_with_a_tree_may_be_cancelled_before_and_in_its_step() -> None:
    bench = bench_of()

    async def job() -> None:
        branch, other = bench.branch([9, 8]), bench.branch([7, 7])
        for turns in range(8):
            task = asyncio.create_task(branch.logits(TREE))
            beside = asyncio.create_task(bench.check(other, TREE))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, beside, return_exceptions=True)
            assert beside.exception() is None
            await bench.check(branch)
            branch.append([6, 7, turns])
            other.append([1, 2, 4, 5, turns])
            await asyncio.gather(bench.check(branch), bench.check(other))
        branch.close()
        other.close()

    bench.run(job())
    assert free(bench)


def test_a_step_with_no_room_computes_a_part_of_a_tree() -> None:
    """Rows and tokens of a step are bounded: what is left out is computed again when it comes."""
    for limits in (StepLimits(rows=4), StepLimits(tokens=5)):
        bench = bench_of(limits=limits)

        async def job(bench: EngineBench = bench) -> None:
            branch = bench.branch([9])
            await bench.check(branch, TREE)
            for token in [1, 2, 4, 5]:
                branch.append([token])
                await bench.check(branch)
            branch.close()

        bench.run(job())
        assert bench.fed()[0][0] < 8 and len(bench.executor.steps) > 1 and free(bench)


def test_no_branch_gives_memory_up_for_a_tree() -> None:
    bench = bench_of(blocks=2)

    async def job() -> None:
        held, branch = bench.branch([5] * 3), bench.branch([9] * 4)
        await bench.check(held)
        await bench.check(branch, TREE)
        branch.append([6])
        await bench.check(branch)
        assert branch.statistics.accepted == bench.engine.statistics.preemptions == 0
        branch.close()
        held.close()

    bench.run(job())
    assert bench.fed() == [[3], [4], [1]] and free(bench)


def test_where_a_path_cannot_be_moved_it_is_computed_again() -> None:
    """A branch whose last block is shared needs another one to move to; there is none."""
    bench = bench_of(blocks=3)

    async def job() -> None:
        branch = bench.branch([9] * 17)
        await bench.check(branch, TREE)
        fork = branch.fork()
        branch.append([6, 7, 8])
        held = bench.branch([5] * 3)
        await bench.check(held)  # takes the last block
        await bench.check(branch)
        for each in (branch, fork, held):
            each.close()

    bench.run(job())
    assert free(bench)


def test_trees_are_refused_where_the_executor_computes_none() -> None:
    bench = EngineBench()

    async def job() -> None:
        branch = bench.branch([9])
        with pytest.raises(ValueError, match="no trees"):
            await branch.logits(TREE)
        await bench.check(branch, TREE.first(3))  # a chain
        branch.close()

    assert not bench.engine.trees and bench_of().engine.trees
    bench.run(job())


def test_a_beginning_of_a_tree_is_a_tree_and_may_be_a_chain() -> None:
    assert TREE.first(3) == Draft([1, 2, 3], ()) and TREE.first(4) == Draft([1, 2, 3, 6], [-1, 0, 1, -1])
    assert TREE.trunk == 3 and TREE.first(2).trunk == 2
    assert TREE.path([1, 2, 4, 9]) == [0, 1, 4] and Draft([1, 2]).path([1, 3]) == [0]
    assert TREE.compared([1, 4]) == [(0, True), (3, False), (1, False)]
    assert Draft([1, 2, 3]).compared([1, 4, 3]) == [(0, True), (1, False)]


@st.composite
def trees(draw: Any) -> tuple[Draft, list[int]]:
    """A tree, and tokens that mostly are a path of it."""
    size = draw(st.integers(0, 8))
    parents = [draw(st.integers(-1, number - 1)) for number in range(size)]
    draft = Draft(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)), parents)
    node = draw(st.integers(-1, size - 1))
    path: list[int] = []
    while node >= 0:
        path.insert(0, draft.tokens[node])
        node = parents[node]
    return draft.first(size), path + draw(st.lists(st.integers(0, 3), max_size=2))


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.integers(0, 3), max_size=20)),
        st.tuples(st.just("rollback"), st.integers(0, 30)),
        st.tuples(st.just("fork"), st.just(0)),
        st.tuples(st.just("close"), st.just(0)),
        st.tuples(st.just("follow"), trees()),
        st.tuples(st.just("follow"), trees()),
        st.tuples(st.just("score"), st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=3)),
        st.tuples(st.just("breathe"), st.just(0)),
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(MOVES, min_size=1, max_size=4), st.integers(9, 40), st.sampled_from([1, 5, 64]))
def test_any_branches_with_trees_see_the_logits_of_their_own_tokens(
    programs: list[list[tuple[str, Any]]], blocks: int, most: int
) -> None:
    """Trees of any shape in one step, forks, cuts, and memory that is short: no wrong logits, and no block
    is left behind."""
    bench = bench_of(blocks, limits=StepLimits(tokens=24, requests=most))

    async def job() -> None:
        await asyncio.gather(*map(bench.wander, programs))

    bench.run(job())
    assert free(bench) and np.all(np.array(bench.cache.pool.references) <= 1)
