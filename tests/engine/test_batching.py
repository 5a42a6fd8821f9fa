"""The batching engine: whatever runs together, is cut, forked, taken away or fails, logits are those of the
branch's own tokens, as computed alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.engine_bench import EngineBench
from sglc.runtime.engine.core.errors import (
    ContextOverflow,
    EngineFault,
    StepFailed,
)
from sglc.runtime.engine.reference_engine import log_probability
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.kv.blocks import BLOCK_TOKENS


def test_branches_that_wait_together_are_one_step() -> None:
    bench = EngineBench()

    async def program(start: int) -> None:
        branch = bench.branch([start, 1, 2])
        for token in range(5):
            await bench.check(branch)
            branch.append([token + start])
        branch.close()

    async def job() -> None:
        await asyncio.gather(*(program(start) for start in range(8)))

    bench.run(job())
    assert bench.fed() == [[3] * 8] + [[1] * 8] * 4
    assert bench.engine.statistics.forwards == 5
    assert bench.cache.stats().held == 0


def test_long_prompts_are_cut_and_go_along_with_single_tokens() -> None:
    bench = EngineBench(limits=StepLimits(tokens=32))

    async def long() -> None:
        await bench.check(bench.branch(list(range(100))))

    async def short() -> None:
        branch = bench.branch([7])
        for token in range(6):
            await bench.check(branch)
            branch.append([token])

    async def job() -> None:
        await asyncio.gather(short(), long())

    bench.run(job())
    assert all(sum(step) <= 32 for step in bench.fed())
    assert bench.fed()[:4] == [[1, 31], [1, 31], [1, 31], [7, 1]]


def test_a_common_beginning_is_computed_once() -> None:
    bench = EngineBench()
    shared = list(range(100, 150))

    async def job() -> None:
        branches = [bench.branch([*shared, number, 5]) for number in range(6)]
        await asyncio.gather(*map(bench.check, branches))

    bench.run(job())
    assert sum(map(sum, bench.fed())) <= 52 + 5 * (2 + BLOCK_TOKENS)
    statistics = bench.cache.stats()
    assert statistics.tokens_reused >= 5 * 48


def test_texts_that_only_look_alike_do_not_wait_for_each_other() -> None:
    bench = EngineBench(blocks=200)

    async def job() -> None:
        branches = [bench.branch([number, 1, 2]) for number in range(8)]
        await asyncio.gather(*map(bench.check, branches))
        bench.executor.steps.clear()
        for branch in branches:
            branch.append(range(100, 120))  # the same for all, behind different beginnings
        await asyncio.gather(*map(bench.check, branches))

    bench.run(job())
    assert bench.fed() == [[20] * 8]


def test_drafts_that_come_need_no_step_of_their_own() -> None:
    bench = EngineBench()

    async def job() -> None:
        branch = bench.branch([1, 2])
        await bench.check(branch, Draft([3, 4, 5]))
        for token in (3, 4, 9, 10):
            branch.append([token])
            await bench.check(branch)

    bench.run(job())
    assert bench.fed() == [[5], [1], [1]]
    statistics = bench.engine.statistics
    assert (statistics.drafted, statistics.accepted) == (3, 2)


def test_drafts_beyond_the_window_are_left_out() -> None:
    bench = EngineBench()
    bench.executor.context_length = 6

    async def job() -> None:
        branch = bench.branch([1, 2, 3, 4])
        await bench.check(branch, Draft([5, 6, 7]))
        branch.append([5, 6])
        await bench.check(branch)
        branch.append([7])
        with pytest.raises(ContextOverflow):
            await branch.logits()

    bench.run(job())
    assert bench.fed() == [[6]]


def test_scores_are_those_of_the_texts_alone() -> None:
    bench = EngineBench()
    texts = [[4], [4, 5, 6], [], list(range(40)), [9, 9]]

    async def job() -> list[list[float]]:
        branch = bench.branch([1, 2, 3])
        scores = await branch.score_many(texts)
        assert await branch.score(texts[1]) == scores[1]
        assert branch.tokens == [1, 2, 3]
        branch.close()
        return scores

    scores = bench.run(job())
    for text, values in zip(texts, scores, strict=True):
        tokens = [1, 2, 3]
        for token, value in zip(text, values, strict=True):
            assert value == log_probability(bench.expected(tokens), token)
            tokens.append(token)
        assert len(values) == len(text)
    assert bench.cache.stats().held == 0
    assert len(bench.executor.steps) <= 3


def test_scores_of_a_text_that_is_cut_into_chunks() -> None:
    bench = EngineBench(limits=StepLimits(tokens=24, rows=7))
    texts = [list(range(start, start + 60)) for start in (0, 7)]

    async def job() -> list[list[float]]:
        return await bench.branch([1]).score_many(texts)

    for text, values in zip(texts, bench.run(job()), strict=True):
        assert values == [
            log_probability(bench.expected([1, *text[:index]]), token) for index, token in enumerate(text)
        ]


def test_an_executors_error_in_one_request_leaves_the_others() -> None:
    bench = EngineBench()
    bench.executor.fault = lambda piece: 13 in piece.tokens

    async def job() -> None:
        good, bad = [bench.branch([n]) for n in range(3)], bench.branch([13])
        results = await asyncio.gather(bad.logits(), *map(bench.check, good), return_exceptions=True)
        assert isinstance(results[0], StepFailed) and "cannot be computed" in str(results[0])
        assert results[1:] == [None] * 3
        bench.executor.fault = None
        await bench.check(bad)

    bench.run(job())


@pytest.mark.parametrize("change", [Branch.close, lambda branch: branch.rollback(1)], ids=["closed", "cut"])
def test_a_request_cancelled_in_the_middle_of_a_step_leaves_the_others(
    change: Callable[[Branch], None],
) -> None:
    bench = EngineBench()

    async def job() -> None:
        bench.executor.gate = threading.Event()
        first, second = bench.branch([1, 2]), bench.branch([3, 4])
        given_up = asyncio.create_task(first.logits())
        kept = asyncio.create_task(bench.check(second))
        while bench.engine._running is None:
            await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        change(first)
        first.append([5])
        bench.executor.gate.set()
        await kept
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await bench.check(first)

    bench.run(job())


def test_an_event_loop_that_ends_in_a_step_leaves_the_engine_whole() -> None:
    bench = EngineBench()
    branch = bench.branch([1, 2])

    async def interrupted() -> None:
        bench.executor.gate = threading.Event()
        asyncio.create_task(branch.logits()).add_done_callback(lambda task: None)
        while bench.engine._running is None:
            await asyncio.sleep(0)

    asyncio.run(interrupted())
    assert bench.executor.gate is not None
    bench.executor.gate.set()
    bench.run(bench.check(branch))


def test_an_error_inside_the_engine_says_so_and_concerns_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = EngineBench()

    def computed(tokens: list[int]) -> None:
        if tokens[0] == 13:
            raise IndexError("no such pin")

    async def job() -> None:
        monkeypatch.setattr(bench.engine._pinned_prefixes, "computed", computed)
        bad, good = bench.branch([13] * 20), [bench.branch([n] * 20) for n in range(3)]
        results = await asyncio.gather(bad.logits(), *map(bench.check, good), return_exceptions=True)
        assert isinstance(results[0], EngineFault) and isinstance(results[0].__cause__, IndexError)
        assert "fault of the engine" in str(results[0]) and "no such pin" in str(results[0])
        assert results[1:] == [None] * 3
        monkeypatch.undo()
        await bench.check(bad)

        def plan(waiting: object) -> list[object]:
            raise KeyError("who")

        monkeypatch.setattr(bench.engine._scheduler, "plan", plan)
        for branch in good:
            branch.append([5])
        results = await asyncio.gather(*(branch.logits() for branch in good), return_exceptions=True)
        assert all(isinstance(result, EngineFault) for result in results)
        assert len({id(result) for result in results}) == 3
        monkeypatch.undo()
        await asyncio.gather(*map(bench.check, good))

    bench.run(job())


def test_a_step_counts_once_for_all_forks_in_it() -> None:
    bench = EngineBench()

    async def job() -> None:
        branch = bench.branch([1, 2, 3])
        with branch.apart() as work:
            await branch.score_many([[4, 5, 6], [7, 8], [9, 9, 9]])
        assert work.forwards == bench.engine.statistics.forwards == len(bench.executor.steps) == 2
        assert work.tokens_fed == bench.engine.statistics.tokens_fed == 3 + 2 + 1 + 2

    bench.run(job())


def test_a_block_that_cannot_be_copied_is_an_error_of_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = EngineBench()

    def refuse(source: int, target: int) -> None:
        raise RuntimeError("no copy")

    async def job() -> None:
        first, others = bench.branch([1] * 20), [bench.branch([number]) for number in range(2, 5)]
        await bench.check(first)
        second = first.fork()
        first.append([5])
        second.append([6])
        monkeypatch.setattr(bench.cache, "_copy_block", refuse)
        results = await asyncio.gather(
            first.logits(), bench.check(second), *map(bench.check, others), return_exceptions=True
        )
        assert isinstance(results[0], StepFailed) and "no copy" in str(results[0])
        assert results[1:] == [None] * 4
        monkeypatch.undo()
        await bench.check(first)

    bench.run(job())


def test_logits_of_idle_branches_do_not_keep_those_of_their_steps() -> None:
    bench = EngineBench(blocks=200)

    async def job() -> None:
        branches = [bench.branch([number, 1]) for number in range(30)]
        for count in range(30, 0, -1):  # each is part of one step less than the one before
            await asyncio.gather(*map(bench.check, branches[:count]))
            for branch in branches[: count - 1]:
                branch.append([5])
        other = bench.branch([99])
        for _ in range(40):
            await bench.check(other)
            other.append([1])
        twin = branches[7].fork()
        steps = len(bench.executor.steps)
        await asyncio.gather(*map(bench.check, (*branches, twin)))
        assert len(bench.executor.steps) == steps  # they are still known
        bases = [branch.handle.rows.base for branch in branches]
        kept = {id(base): len(base) for base in bases if base is not None}
        assert sum(kept.values()) <= len(branches)

    bench.run(job())


def test_a_closed_engine_says_so() -> None:
    bench = EngineBench()
    bench.engine.close()
    bench.engine.close()

    async def job() -> None:
        with pytest.raises(StepFailed, match="closed"):
            await bench.branch([1]).logits()

    bench.run(job())


moves = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.integers(0, 3), max_size=20)),
        st.tuples(st.just("rollback"), st.integers(0, 30)),
        st.tuples(st.just("fork"), st.just(0)),
        st.tuples(st.just("close"), st.just(0)),
        st.tuples(st.just("logits"), st.lists(st.integers(0, 3), max_size=4).map(Draft)),
        st.tuples(st.just("score"), st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=3)),
        st.tuples(st.just("breathe"), st.just(0)),
    ),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(st.lists(moves, min_size=1, max_size=4), st.integers(9, 40), st.sampled_from([1, 5, 64]))
def test_any_branches_see_the_logits_of_their_own_tokens(
    programs: list[list[tuple[str, Any]]], blocks: int, most: int
) -> None:
    bench = EngineBench(blocks=blocks, limits=StepLimits(tokens=24, requests=most))

    async def job() -> None:
        await asyncio.gather(*map(bench.wander, programs))

    bench.run(job())
    assert bench.cache.stats().held == 0
