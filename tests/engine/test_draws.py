"""Tokens drawn where the logits are: those that the host draws, whoever waits beside them, whatever fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.drawing_executor import DrawingFake
from fakes.engine_bench import EngineBench
from fakes.fake_executor import expected_logits
from late import Late
from sglc.runtime.engine.core.errors import StepFailed
from sglc.runtime.engine.reference_engine import log_probability
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import NothingAllowed
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.executor.plan import ExecutorError, Picking

torch = Late("torch")


class Legal:
    """A set of tokens. `asked` is called when its mask is made; it may raise."""

    def __init__(self, tokens: Sequence[int], asked: Callable[[], object] = bool) -> None:
        self.tokens, self.asked = set(tokens), asked

    def ready(self) -> bool:
        return True

    def row(self) -> np.ndarray:
        self.asked()
        bits = np.zeros(9 * 32, bool)
        bits[list(self.tokens)] = True
        return np.packbits(bits, bitorder="little").view(np.int32)

    def allows(self, token: int) -> bool:
        return token in self.tokens


def sampling_request(
    tokens: Sequence[int] = range(0, 256, 3), warmth: float = 0.0, **more: Any
) -> SamplingRequest:
    return SamplingRequest(Sampling(warmth), more.pop("seed", 3), Legal(tokens), **more)


class Bench(EngineBench):
    """An engine over an executor that picks tokens."""

    executor: DrawingFake

    def __init__(self, blocks: int = 64, limits: StepLimits | None = None, speculate: bool = False) -> None:
        super().__init__(blocks, limits, DrawingFake(), speculate=speculate)

    async def draw(self, branch: Branch, asked: SamplingRequest, draft: Draft = NO_DRAFT) -> int:
        """A token, which must be the one that the host draws."""
        tokens = list(branch.tokens)
        drawn = await branch.draw(asked, draft)
        there = SamplingRequest(asked.sampling, asked.seed, asked.legal, asked.position, asked.scored)
        expected = there.sample(expected_logits(tokens, self.executor.size))
        assert drawn.token == expected.token
        assert drawn.logprob == pytest.approx(expected.logprob, abs=1e-5, nan_ok=True)
        assert branch.tokens == tokens
        return drawn.token

    def run(self, job: Any) -> Any:
        try:
            return super().run(job)
        finally:
            assert not self.engine._waiting


def test_all_kinds_of_requests_are_one_step_and_only_logits_that_are_asked_for_come_to_the_host() -> None:
    bench = Bench()

    async def job() -> None:
        scored = bench.branch([9, 9])
        await bench.check(scored)
        before = bench.executor.to_host
        (_, second), *_ = await asyncio.gather(
            scored.score_many([[1, 2], [3, 4]]),
            bench.draw(bench.branch([1]), sampling_request()),
            bench.draw(bench.branch([2, 3]), sampling_request(warmth=0.9)),
            bench.check(bench.branch([4] * 20)),
            bench.draw(bench.branch([5]), sampling_request(warmth=1.3, scored=True)),
            bench.draw(bench.branch([6]), sampling_request(scored=True)),
            bench.draw(bench.branch([7]), SamplingRequest(Sampling(0.8, 12, 0.9, 0.01), 5)),
        )
        row = expected_logits([9, 9, 3], bench.executor.size)
        assert second[1] == log_probability(row, 4)
        assert bench.executor.to_host - before == 3
        assert bench.executor.picked == [5] and len(bench.executor.steps) == 2
        assert bench.engine.statistics.forwards == 2

    bench.run(job())


def test_branches_that_draw_side_by_side_go_on_together() -> None:
    bench = Bench()

    async def program(number: int) -> None:
        branch = bench.branch([number, 1])
        asked = sampling_request(warmth=number / 4, seed=number)
        for position in range(6):
            asked.position = position
            branch.append([await bench.draw(branch, asked)])
        assert branch.statistics.forwards == 6 and asked.came > 0 and asked.picking > 0
        branch.close()

    async def job() -> None:
        await asyncio.gather(*map(program, range(8)))

    bench.run(job())
    assert bench.executor.picked == [8] * 6 and bench.executor.to_host == 0
    assert [sum(len(piece.tokens) for piece in step) for step in bench.executor.steps] == [16] + [8] * 5
    assert bench.cache.stats().held == 0


def test_a_prompt_in_chunks_is_asked_once() -> None:
    bench = Bench(limits=StepLimits(tokens=32))
    made: list[int] = []
    asked = SamplingRequest(Sampling(), 0, Legal(range(99), lambda: made.append(len(bench.executor.steps))))

    async def job() -> None:
        branch = bench.branch(list(range(100)))
        drawn = await branch.draw(asked)
        assert (
            drawn.token
            == SamplingRequest(Sampling(), 0, Legal(range(99)))
            .sample(expected_logits(branch.tokens, bench.executor.size))
            .token
        )

    bench.run(job())
    assert len(bench.executor.steps) == made[0] == 4 and bench.executor.picked == [1]


def test_logits_forks_and_scores_are_there_after_a_drawn_token() -> None:
    """A drawn token leaves no logits behind: its place is computed again for who wants them."""
    bench = Bench()

    async def job() -> None:
        branch = bench.branch(list(range(20)))
        token = await bench.draw(branch, sampling_request(warmth=0.7))
        assert branch.handle.rows is None
        await bench.check(branch)
        assert (
            await bench.draw(branch, sampling_request(warmth=0.7)) == token
        )  # from the logits that are there now
        branch.append([token])
        await bench.draw(branch, sampling_request())
        fork = branch.fork()
        await asyncio.gather(bench.check(branch), bench.draw(fork, sampling_request(warmth=0.4)))
        fork.append([8])
        other = fork.fork()
        await asyncio.gather(
            *(bench.draw(each, sampling_request(seed=9, warmth=1.0)) for each in (fork, other))
        )
        scores = await fork.score_many([[5, 6], [7]])
        assert scores[1] == [log_probability(expected_logits(fork.tokens, bench.executor.size), 7)]
        branch.rollback(11)
        await bench.draw(branch, sampling_request())

    bench.run(job())


def test_with_drafts_the_logits_are_kept() -> None:
    bench = Bench(speculate=True)

    async def job() -> None:
        branch = bench.branch([1, 2])
        tokens = []
        for draft in (Draft([3, 4]), NO_DRAFT):
            tokens.append(await bench.draw(branch, sampling_request(warmth=0.8), draft))
        branch.append([3])
        await bench.draw(branch, sampling_request())
        assert tokens[0] == tokens[1]

    bench.run(job())
    assert len(bench.executor.steps) == 1 and bench.executor.picked == []


def test_masks_are_made_by_the_loop_while_the_step_is_computed() -> None:
    """Between launch and pick, in the loop's thread; and all of it is there where steps are brief."""
    bench = Bench(speculate=True)
    events: list[tuple[str, int, int]] = []

    def note(what: str) -> None:
        events.append((what, len(bench.executor.steps), threading.get_ident()))

    bench.executor.before_pick = lambda pickings: note("pick")
    loop = threading.get_ident()

    async def job() -> None:
        branch = bench.branch([1])
        for brief in (False, True):
            if brief:
                bench.engine._is_brief = lambda pieces: True  # type: ignore[method-assign]
            drawn = await branch.draw(SamplingRequest(Sampling(), 0, Legal([5, 6], lambda: note("mask"))))
            branch.append([drawn.token])

    bench.run(job())
    assert [event[:2] for event in events] == [("mask", 1), ("pick", 1), ("mask", 2), ("pick", 2)]
    masked, picked, *brief = [thread for _, _, thread in events]
    assert masked == loop != picked and brief == [loop, loop]


# -- what fails and is given up ----------------------------------------------------------------------


def test_what_nothing_is_left_for_is_told_to_who_asked() -> None:
    bench = Bench()

    def broken() -> None:
        raise KeyError("no such rule")

    async def job() -> None:
        empty, fault = bench.branch([1]), bench.branch([2])
        results = await asyncio.gather(
            empty.draw(sampling_request([])),
            fault.draw(SamplingRequest(Sampling(0.5), 0, Legal([1], broken))),
            *(bench.draw(bench.branch([number]), sampling_request(warmth=0.5)) for number in (3, 4)),
            return_exceptions=True,
        )
        assert isinstance(results[0], NothingAllowed) and str(results[0]) == "no token is allowed here"
        assert isinstance(results[1], KeyError) and all(isinstance(token, int) for token in results[2:])
        await asyncio.gather(*(bench.draw(branch, sampling_request()) for branch in (empty, fault)))

    bench.run(job())
    assert bench.executor.picked == [4, 2]


@pytest.mark.parametrize("where", ["launch", "pick"])
def test_a_piece_that_fails_leaves_the_others(where: str) -> None:
    bench = Bench()
    if where == "launch":
        bench.executor.fault = lambda piece: 13 in piece.tokens

    def fail(pickings: Sequence[Picking]) -> None:
        if where == "pick" and any(picking.temperature == 0.5 for picking in pickings):
            raise ExecutorError("this piece cannot be computed")

    bench.executor.before_pick = fail

    async def job() -> None:
        bad = bench.branch([13])
        results = await asyncio.gather(
            bad.draw(sampling_request(warmth=0.5)),
            *(bench.draw(bench.branch([number]), sampling_request(warmth=0.4)) for number in range(3)),
            bench.check(bench.branch([8])),
            return_exceptions=True,
        )
        assert isinstance(results[0], StepFailed) and "cannot be computed" in str(results[0])
        assert not any(isinstance(result, BaseException) for result in results[1:])
        bench.executor.fault, bench.executor.before_pick = None, bool
        await bench.draw(bad, sampling_request(warmth=0.5))

    bench.run(job())


@pytest.mark.parametrize("where", ["launch", "pick"])
def test_a_request_cancelled_in_the_middle_of_a_step_leaves_the_others(where: str) -> None:
    bench = Bench()
    reached, go_on = threading.Event(), threading.Event()

    def stop(*_: object) -> None:
        reached.set()
        assert go_on.wait(10)

    async def job() -> None:
        made: list[int] = []
        if where == "pick":
            bench.executor.before_pick = stop
        else:
            bench.executor.fault = lambda piece: bool(stop())
        first, second = bench.branch([1, 2]), bench.branch([3, 4])
        asked = SamplingRequest(Sampling(), 0, Legal([7], lambda: made.append(1)))
        given_up = asyncio.create_task(first.draw(asked))
        kept = asyncio.create_task(bench.draw(second, sampling_request()))
        while not reached.is_set():
            await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        first.close()
        first.append([5])
        go_on.set()
        await kept
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert made == ([1] if where == "pick" else [])  # no mask is made for who has gone
        await bench.draw(first, sampling_request())

    bench.run(job())


@pytest.mark.parametrize("where", ["launch", "pick"])
def test_an_event_loop_that_ends_in_a_step_leaves_the_engine_whole(where: str) -> None:
    bench = Bench()
    branch = bench.branch([1, 2])
    reached, go_on = threading.Event(), threading.Event()

    def stop(*_: object) -> None:
        reached.set()
        assert go_on.wait(10)

    if where == "pick":
        bench.executor.before_pick = stop
    else:
        bench.executor.fault = lambda piece: bool(stop())

    async def interrupted() -> None:
        asyncio.create_task(branch.draw(sampling_request())).add_done_callback(lambda task: None)
        while not reached.is_set():
            await asyncio.sleep(0)

    asyncio.run(interrupted())
    go_on.set()
    bench.run(bench.draw(branch, sampling_request()))


def test_an_engine_closed_in_the_middle_of_a_step_gives_up() -> None:
    bench = Bench()
    reached, go_on = threading.Event(), threading.Event()

    def stop(*_: object) -> bool:
        reached.set()
        return not go_on.wait(10)

    async def job() -> None:
        bench.executor.fault = stop
        task = asyncio.create_task(bench.branch([1]).draw(sampling_request()))
        while not reached.is_set():
            await asyncio.sleep(0)
        bench.engine.close()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(StepFailed, match="closed"):
            await bench.branch([2]).draw(sampling_request())

    bench.run(job())


# -- all of it ---------------------------------------------------------------------------------------

moves = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.integers(0, 3), max_size=20)),
        st.tuples(st.just("rollback"), st.integers(0, 30)),
        st.tuples(st.just("fork"), st.just(0)),
        st.tuples(st.just("close"), st.just(0)),
        st.tuples(st.just("logits"), st.just(NO_DRAFT)),
        st.tuples(st.just("draw"), st.sampled_from([0.0, 0.0, 0.6, 1.5])),
        st.tuples(st.just("given up"), st.integers(0, 6)),
        st.tuples(st.just("score"), st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=3)),
    ),
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(moves, min_size=1, max_size=4),
    st.integers(9, 40),
    st.sampled_from([1, 5, 64]),
    st.sets(st.integers(0, 30), max_size=5),
)
def test_any_branches_draw_what_the_host_draws(
    programs: list[list[tuple[str, Any]]], blocks: int, most: int, failing: set[int]
) -> None:
    bench = Bench(blocks=blocks, limits=StepLimits(tokens=24, requests=most))

    def fail(pickings: Sequence[Picking]) -> None:
        calls.append(len(pickings))
        if len(calls) in failing:
            raise ExecutorError("for now")

    calls: list[int] = []
    bench.executor.before_pick = fail

    async def ask(branch: Branch, index: int, move: str, argument: Any) -> None:
        if move == "draw":
            try:
                token = await bench.draw(branch, sampling_request(warmth=argument, position=index))
                branch.append([token])
            except StepFailed as error:
                assert "for now" in str(error)
        else:
            task = asyncio.create_task(branch.draw(sampling_request()))
            for _ in range(argument):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def job() -> None:
        await asyncio.gather(*[bench.wander(moves, ask) for moves in programs])

    bench.run(job())
    assert bench.cache.stats().held == 0
