"""The batching engine: whatever runs together, is cut, forked, taken away or fails, logits are those of the
branch's own tokens, as computed alone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from fake_executor import FakeExecutor, expected_logits
from sglc.runtime.engine.batching import BatchingEngine
from sglc.runtime.engine.branch import Branch
from sglc.runtime.engine.engine import log_probability
from sglc.runtime.engine.errors import (
    ContextOverflow,
    DeadlinePassed,
    EngineFault,
    MemoryFull,
    QueueFull,
    StepFailed,
)
from sglc.runtime.engine.schedule import StepLimits
from sglc.runtime.executor.plan import BLOCK_TOKENS
from sglc.runtime.kv.cache import KVCache


class Bench:
    """An engine over a fake executor, and what is expected of it."""

    def __init__(self, blocks: int = 64, limits: StepLimits | None = None, **options: Any) -> None:
        self.executor = FakeExecutor()
        self.executor.reserve(blocks)
        self.cache = KVCache(blocks, self.executor.block_bytes, copy_block=self.executor.copy_block)
        self.engine = BatchingEngine(self.executor, self.cache, limits=limits, **options)

    def branch(self, tokens: Sequence[int]) -> Branch:
        branch = self.engine.branch()
        branch.append(tokens)
        return branch

    def expected(self, tokens: Sequence[int]) -> np.ndarray:
        return expected_logits(tokens, self.executor.size)

    async def check(self, branch: Branch, drafts: Sequence[int] = ()) -> None:
        assert np.array_equal(await branch.logits(drafts), self.expected(branch.tokens))

    def fed(self) -> list[list[int]]:
        return [[len(piece.tokens) for piece in step] for step in self.executor.steps]

    def run(self, job: Coroutine[Any, Any, Any]) -> Any:
        try:
            return asyncio.run(job)
        finally:
            self.cache.check()


def test_branches_that_wait_together_are_one_step() -> None:
    bench = Bench()

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
    bench = Bench(limits=StepLimits(tokens=32))

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
    bench = Bench()
    shared = list(range(100, 150))

    async def job() -> None:
        branches = [bench.branch([*shared, number, 5]) for number in range(6)]
        await asyncio.gather(*map(bench.check, branches))

    bench.run(job())
    assert sum(map(sum, bench.fed())) <= 52 + 5 * (2 + BLOCK_TOKENS)
    statistics = bench.cache.stats()
    assert statistics.tokens_reused >= 5 * 48


def test_texts_that_only_look_alike_do_not_wait_for_each_other() -> None:
    bench = Bench(blocks=200)

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
    bench = Bench()

    async def job() -> None:
        branch = bench.branch([1, 2])
        await bench.check(branch, drafts=[3, 4, 5])
        for token in (3, 4, 9, 10):
            branch.append([token])
            await bench.check(branch)

    bench.run(job())
    assert bench.fed() == [[5], [1], [1]]
    statistics = bench.engine.statistics
    assert (statistics.drafted, statistics.accepted) == (3, 2)


def test_drafts_beyond_the_window_are_left_out() -> None:
    bench = Bench()
    bench.executor.context_length = 6

    async def job() -> None:
        branch = bench.branch([1, 2, 3, 4])
        await bench.check(branch, drafts=[5, 6, 7])
        branch.append([5, 6])
        await bench.check(branch)
        branch.append([7])
        with pytest.raises(ContextOverflow):
            await branch.logits()

    bench.run(job())
    assert bench.fed() == [[6]]


def test_scores_are_those_of_the_texts_alone() -> None:
    bench = Bench()
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
    bench = Bench(limits=StepLimits(tokens=24, rows=7))
    texts = [list(range(start, start + 60)) for start in (0, 7)]

    async def job() -> list[list[float]]:
        return await bench.branch([1]).score_many(texts)

    for text, values in zip(texts, bench.run(job()), strict=True):
        assert values == [
            log_probability(bench.expected([1, *text[:index]]), token) for index, token in enumerate(text)
        ]


def test_memory_goes_to_others_and_comes_back() -> None:
    bench = Bench(blocks=8)

    async def program(start: int) -> None:
        branch = bench.branch([start])
        for token in range(60):
            await bench.check(branch)
            branch.append([token])
        branch.close()

    async def job() -> None:
        await asyncio.gather(*(program(start) for start in range(6)))

    bench.run(job())
    assert bench.engine.statistics.preemptions > 0


def test_a_branch_that_waits_for_nothing_gives_its_memory_first() -> None:
    bench = Bench(blocks=4)

    async def job() -> None:
        idle = bench.branch(list(range(30)))
        await bench.check(idle)
        await bench.check(bench.branch(list(range(100, 150))))
        await bench.check(idle)

    bench.run(job())


def test_what_fits_into_no_pool_is_refused() -> None:
    bench = Bench(blocks=2)

    async def job() -> None:
        other = bench.branch([1])
        results = await asyncio.gather(
            bench.branch(list(range(33))).logits(), bench.check(other), return_exceptions=True
        )
        assert isinstance(results[0], MemoryFull) and "33 tokens" in str(results[0])
        assert results[1] is None
        await bench.check(other)

    bench.run(job())


def test_higher_priority_and_nearer_deadlines_go_first() -> None:
    bench = Bench(limits=StepLimits(requests=1))
    order: list[str] = []

    async def program(name: str, priority: int = 0, deadline: float | None = None) -> None:
        branch = bench.branch([1, 2, 3])
        branch.priority, branch.deadline = priority, deadline
        await branch.logits()
        order.append(name)

    async def job() -> None:
        soon = time.monotonic() + 100
        await asyncio.gather(
            program("late"), program("later deadline", deadline=soon + 1), program("deadline", deadline=soon),
            program("first", priority=1),
        )  # fmt: skip

    bench.run(job())
    assert order == ["first", "deadline", "later deadline", "late"]


def test_nobody_is_passed_over_for_ever() -> None:
    bench = Bench(limits=StepLimits(requests=1))
    done = asyncio.Event()

    async def busy() -> None:
        branch = bench.branch([1])
        branch.priority = 5
        for _ in range(500):
            await branch.logits()
            branch.append([2])
            if done.is_set():
                return
        raise AssertionError("the other never had its turn")

    async def patient() -> None:
        await bench.check(bench.branch([3]))
        done.set()

    async def job() -> None:
        await asyncio.gather(busy(), patient())

    bench.run(job())


def test_a_long_prompt_goes_along_with_more_branches_than_a_step_has_room_for() -> None:
    bench = Bench(blocks=400, limits=StepLimits(tokens=24, requests=8))
    done = asyncio.Event()

    async def busy(number: int) -> None:
        branch = bench.branch([number, 1])
        while not done.is_set():
            await branch.logits()
            branch.append([2])

    async def long() -> None:
        await bench.check(bench.branch([number % 200 for number in range(400)]))
        done.set()

    async def job() -> None:
        await asyncio.gather(*map(busy, range(12)), long())

    bench.run(job())
    # 64 steps of patience, and then 17 tokens a step beside the 7 others.
    assert len(bench.executor.steps) <= 64 + 400 // 17 + 4
    assert all(len(step) >= 8 for step in bench.executor.steps[2:-4])


def test_many_branches_of_one_family_leave_room_for_others() -> None:
    bench = Bench(blocks=400, limits=StepLimits(requests=8))
    done = asyncio.Event()

    async def busy(branch: Branch, number: int) -> None:
        branch.append([number])
        while not done.is_set():
            await branch.logits()
            branch.append([2])

    async def alone() -> int:
        for _ in range(10):
            await asyncio.sleep(0)
        branch = bench.branch([9] * 20)
        begun = len(bench.executor.steps)
        for _ in range(10):
            await bench.check(branch)
            branch.append([3])
        done.set()
        return len(bench.executor.steps) - begun

    async def job() -> int:
        root = bench.branch([7])
        results = await asyncio.gather(alone(), *(busy(root.fork(), number) for number in range(40)))
        return int(results[0])

    assert bench.run(job()) <= 12


def test_a_deadline_that_has_passed_is_told() -> None:
    bench = Bench()

    async def job() -> None:
        branch = bench.branch([1])
        branch.deadline = time.monotonic() - 1
        with pytest.raises(DeadlinePassed):
            await branch.logits()

    bench.run(job())
    assert bench.executor.steps == []


def test_a_full_queue_turns_requests_away() -> None:
    bench = Bench(max_queue=2)

    async def job() -> None:
        results = await asyncio.gather(
            *(bench.branch([n]).logits() for n in range(3)), return_exceptions=True
        )
        assert [isinstance(result, QueueFull) for result in results] == [False, False, True]

    bench.run(job())


def test_an_executors_error_in_one_request_leaves_the_others() -> None:
    bench = Bench()
    bench.executor.fault = lambda piece: 13 in piece.tokens

    async def job() -> None:
        good, bad = [bench.branch([n]) for n in range(3)], bench.branch([13])
        results = await asyncio.gather(bad.logits(), *map(bench.check, good), return_exceptions=True)
        assert isinstance(results[0], StepFailed) and "cannot be computed" in str(results[0])
        assert results[1:] == [None] * 3
        bench.executor.fault = None
        await bench.check(bad)

    bench.run(job())


def test_a_request_cancelled_in_the_middle_of_a_step_leaves_the_others() -> None:
    bench = Bench()

    async def job() -> None:
        bench.executor.gate = threading.Event()
        first, second = bench.branch([1, 2]), bench.branch([3, 4])
        given_up = asyncio.create_task(first.logits())
        kept = asyncio.create_task(bench.check(second))
        while bench.engine._running is None:
            await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        first.close()
        first.append([5])
        bench.executor.gate.set()
        await kept
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await bench.check(first)

    bench.run(job())


def test_an_event_loop_that_ends_in_a_step_leaves_the_engine_whole() -> None:
    bench = Bench()
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


def test_pinned_beginnings_stay() -> None:
    bench = Bench(blocks=12)
    pinned = list(range(50, 90))
    bench.engine.pin(pinned)

    async def job() -> None:
        branch = bench.branch([*pinned, 1])
        await bench.check(branch)
        branch.close()
        for start in range(5):
            other = bench.branch(list(range(start, start + 80)))
            await bench.check(other)
            other.close()
        bench.executor.steps.clear()
        await bench.check(bench.branch([*pinned, 2]))

    bench.run(job())
    assert sum(map(sum, bench.fed())) <= 1 + BLOCK_TOKENS


def test_pins_never_stand_in_the_way() -> None:
    bench = Bench(blocks=40)

    async def job() -> None:
        for number in range(50):
            pinned = [number, *range(40)]
            bench.engine.pin(pinned)
            bench.engine.pin(pinned)
            branch = bench.branch([*pinned, 1])
            await bench.check(branch)
            branch.close()
            assert bench.cache.stats().pinned <= 10
        assert bench.cache.stats().pinned > 0
        await bench.check(bench.branch([number % 250 for number in range(40 * BLOCK_TOKENS)]))

    bench.run(job())


def test_where_memory_is_short_the_order_decides_who_keeps_it() -> None:
    bench = Bench(blocks=5)

    async def job() -> None:
        low, high = bench.branch([1] * 31), bench.branch([2] * 31)
        high.priority = 1
        await asyncio.gather(bench.check(low), bench.check(high))
        low.append([3, 3])
        high.append([4, 4])
        bench.executor.steps.clear()
        await asyncio.gather(bench.check(low), bench.check(high))

    bench.run(job())
    assert [piece.tokens for piece in bench.executor.steps[0]] == [[4, 4]]


def test_what_never_fits_takes_nothing_from_others() -> None:
    bench = Bench(blocks=10)

    async def job() -> None:
        other = bench.branch([1] * 40)
        await bench.check(other)
        with pytest.raises(MemoryFull):
            await bench.branch([2] * 161).logits()
        assert len(bench.executor.steps) == 1
        assert bench.engine.statistics.preemptions == 0

    bench.run(job())


def test_memory_is_not_taken_where_it_would_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a request that runs a long one waits, rather than take what does not help it."""
    bench = Bench(blocks=10)
    seen: list[tuple[list[int], int]] = []
    run = bench.executor.run

    def watched(pieces: Sequence[Any]) -> np.ndarray:
        seen.append(([len(piece.tokens) for piece in pieces], bench.engine.statistics.preemptions))
        return run(pieces)

    async def job() -> None:
        idle, first, long = bench.branch([1] * 40), bench.branch([2] * 60), bench.branch([3] * 130)
        first.priority = 1
        await bench.check(idle)
        monkeypatch.setattr(bench.executor, "run", watched)
        await asyncio.gather(bench.check(first), bench.check(long))

    bench.run(job())
    assert seen[0] == ([60], 0)
    assert sum(seen[1][0]) == 130 and seen[1][1] > 0


def test_an_error_inside_the_engine_says_so_and_concerns_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()

    def computed(tokens: list[int]) -> None:
        if tokens[0] == 13:
            raise IndexError("no such pin")

    async def job() -> None:
        monkeypatch.setattr(bench.engine._pins, "computed", computed)
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
    bench = Bench()

    async def job() -> None:
        branch = bench.branch([1, 2, 3])
        with branch.apart() as work:
            await branch.score_many([[4, 5, 6], [7, 8], [9, 9, 9]])
        assert work.forwards == bench.engine.statistics.forwards == len(bench.executor.steps) == 2
        assert work.tokens_fed == bench.engine.statistics.tokens_fed == 3 + 2 + 1 + 2

    bench.run(job())


def test_a_block_that_cannot_be_copied_is_an_error_of_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()

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
    bench = Bench(blocks=200)

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
        bases = [branch.held.rows.base for branch in branches]
        kept = {id(base): len(base) for base in bases if base is not None}
        assert sum(kept.values()) <= len(branches)

    bench.run(job())


def test_a_closed_engine_says_so() -> None:
    bench = Bench()
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
        st.tuples(st.just("logits"), st.lists(st.integers(0, 3), max_size=4)),
        st.tuples(st.just("score"), st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=3)),
        st.tuples(st.just("breathe"), st.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(moves, min_size=1, max_size=4), st.integers(9, 40), st.sampled_from([1, 5, 64]))
def test_any_branches_see_the_logits_of_their_own_tokens(
    programs: list[list[tuple[str, Any]]], blocks: int, most: int
) -> None:
    bench = Bench(blocks=blocks, limits=StepLimits(tokens=24, requests=most))

    async def program(moves: list[tuple[str, Any]]) -> None:
        branches = [bench.branch([1])]
        for index, (move, argument) in enumerate(moves):
            branch = branches[index % len(branches)]
            if move == "append":
                branch.append(argument)
            elif move == "rollback":
                branch.rollback(min(len(branch.tokens), max(1, len(branch.tokens) - argument)))
            elif move == "fork":
                branches.append(branch.fork())
            elif move == "close":
                branch.close()
                branch.append([2])
            elif move == "breathe":
                await asyncio.sleep(0)
            elif len(branch.tokens) > 100:
                branch.rollback(50)
            elif move == "logits":
                await bench.check(branch, argument)
            else:
                scores = await branch.score_many(argument)
                for text, values in zip(argument, scores, strict=True):
                    tokens = list(branch.tokens)
                    for token, value in zip(text, values, strict=True):
                        assert value == log_probability(bench.expected(tokens), token)
                        tokens.append(token)
        for branch in branches:
            branch.close()

    async def job() -> None:
        await asyncio.gather(*map(program, programs))

    bench.run(job())
    assert bench.cache.stats().held == 0
