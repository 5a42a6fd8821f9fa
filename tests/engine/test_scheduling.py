"""Who goes first, who waits, and whose memory is taken, in the batching engine."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.engine_bench import EngineBench
from sglc.runtime.engine.core.errors import (
    DeadlinePassed,
    MemoryFull,
    QueueFull,
)
from sglc.runtime.engine.scheduling.branch import Admission, Branch
from sglc.runtime.engine.scheduling.schedule import StepLimits, agreement
from sglc.runtime.kv.blocks import BLOCK_TOKENS

TOKENS = st.lists(st.integers(0, 2), max_size=12)


@given(st.data(), TOKENS, TOKENS, TOKENS)
def test_a_request_goes_on_behind_the_longest_beginning_that_is_computed(
    data: st.DataObject, shared: list[int], asked: list[int], computed: list[int]
) -> None:
    tokens, held = shared + asked, shared + computed
    settled = data.draw(st.integers(0, len(shared)))
    request: Any = SimpleNamespace(branch=SimpleNamespace(settled=settled), tokens=tokens)
    sequence: Any = SimpleNamespace(tokens=held, length=len(held))
    found = agreement(request, sequence)
    assert tokens[:found] == held[:found]
    assert found == min(len(tokens), len(held)) or tokens[found] != held[found]


def test_what_can_wait_goes_beside_a_step() -> None:
    bench = EngineBench()
    gate = bench.executor.gate = threading.Event()
    computed: list[bool] = []

    async def send() -> None:
        await bench.engine.step_begun()
        step = bench.engine._running
        computed.append(step is not None and not step.done())
        gate.set()

    async def job() -> None:
        branch = bench.branch([1])
        for token in range(6):
            gate.clear()
            sending = asyncio.create_task(send())
            await bench.check(branch)
            await sending
            branch.append([token])

    bench.run(job())
    assert computed == [False, True, True, True, True, True]  # before the first there is nothing to wait for


@pytest.mark.parametrize("seed", range(5))
def test_nobody_waits_for_a_step_that_does_not_come(seed: int) -> None:
    bench, random = EngineBench(blocks=12), Random(seed)
    sent = 0

    async def send() -> None:
        nonlocal sent
        await bench.engine.step_begun()
        sent += 1

    async def program(start: int) -> None:
        branch = bench.branch([start])
        for token in range(20):
            sending = asyncio.create_task(send())
            await bench.check(branch)
            branch.append([token])
            await sending
        branch.close()

    async def job() -> None:
        tasks = [asyncio.create_task(program(start)) for start in range(8)]
        for task in random.sample(tasks, 4):
            for _ in range(random.randrange(40)):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        before = sent
        await asyncio.wait_for(send(), 10)
        assert sent > before

    bench.run(job())
    assert sent > 4 * 20


def test_memory_goes_to_others_and_comes_back() -> None:
    bench = EngineBench(blocks=8)

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
    bench = EngineBench(blocks=4)

    async def job() -> None:
        idle = bench.branch(list(range(30)))
        await bench.check(idle)
        await bench.check(bench.branch(list(range(100, 150))))
        await bench.check(idle)

    bench.run(job())


def test_what_fits_into_no_pool_is_refused() -> None:
    bench = EngineBench(blocks=2)

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
    bench = EngineBench(limits=StepLimits(requests=1))
    order: list[str] = []

    async def program(name: str, priority: int = 0, deadline: float | None = None) -> None:
        branch = bench.branch([1, 2, 3])
        branch.priority, branch.deadline = priority, deadline
        await branch.logits()
        order.append(name)

    async def job() -> None:
        soon = time.monotonic() + 100
        await asyncio.gather(
            program("late"),
            program("later deadline", deadline=soon + 1),
            program("deadline", deadline=soon),
            program("first", priority=1),
        )

    bench.run(job())
    assert order == ["first", "deadline", "later deadline", "late"]


def test_nobody_is_passed_over_for_ever() -> None:
    bench = EngineBench(limits=StepLimits(requests=1))
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
    bench = EngineBench(blocks=400, limits=StepLimits(tokens=24, requests=8))
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
    bench = EngineBench(blocks=400, limits=StepLimits(requests=8))
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


def test_a_tenant_of_one_run_has_short_steps_beside_one_of_many() -> None:
    """The small tenant is in every step, and with no more rows beside it than a short step has."""
    bench = EngineBench(blocks=400)
    for rows in (1, 2, 4, 8, 16, 32, 64):  # a step of six rows takes 1.3 times as long as one of two
        for _ in range(20):
            bench.engine.measured_cost.record(rows, (12 + rows) / 1000)
    bench.engine.measured_cost.record = lambda *_: None  # type: ignore[method-assign]
    done, width = asyncio.Event(), 8

    async def busy(number: int) -> None:
        branch = bench.branch([7, number])
        branch.tenant = "many"
        while not done.is_set():
            await bench.check(branch)
            branch.append([2])

    async def alone() -> list[int]:
        for _ in range(10):
            await asyncio.sleep(0)
        branch = bench.branch([9] * 20)
        branch.tenant = "one"
        begun = len(bench.executor.steps)
        for _ in range(10):
            await bench.check(branch)
            branch.append([3])
        done.set()
        return [len(step) for step in bench.executor.steps[begun:]]

    async def job() -> list[int]:
        results = await asyncio.gather(alone(), *(busy(number) for number in range(40)))
        return list(results[0])

    steps = bench.run(job())
    assert len(steps) <= 12
    assert all(2 < rows <= width for rows in steps[1:11]), steps


def test_tenants_with_one_request_each_share_steps_as_before() -> None:
    bench = EngineBench()

    async def run(tenant: str) -> None:
        branch = bench.branch([ord(tenant)])
        branch.tenant = tenant
        for token in range(20):
            await bench.check(branch)
            branch.append([token])

    async def job() -> None:
        await asyncio.gather(*map(run, "abcdefgh"))

    bench.run(job())
    assert len(bench.executor.steps) <= 22


def _finish_steps(programs: int, holes: int, tokens: int) -> tuple[list[int], int, int]:
    """The step at which each program ends, the steps in all, and the most blocks that were held at once."""
    bench = EngineBench(blocks=6000)
    ended: list[int] = []
    most = 0

    async def program(number: int) -> None:
        nonlocal most
        branch = bench.branch([number % 250])
        for hole in range(holes):
            branch.append([(number * 7 + hole * 31 + place) % 250 for place in range(60 + number % 50)])
            for token in range(tokens):
                await branch.logits()
                branch.append([(number + token) % 250])
        stats = bench.cache.stats()
        most = max(most, stats.held)
        branch.close()
        ended.append(len(bench.executor.steps))

    async def job() -> None:
        await asyncio.gather(*map(program, range(programs)))

    bench.run(job())
    return ended, len(bench.executor.steps), most


@pytest.mark.slow
@pytest.mark.parametrize(("holes", "tokens"), [(1, 40), (1, 300), (4, 10)])
def test_programs_end_one_after_the_other_however_many_there_are(holes: int, tokens: int) -> None:
    ended, steps, held = _finish_steps(250, holes, tokens)
    assert ended[125] <= 0.6 * steps
    assert ended[25] <= 0.35 * steps
    blocks = 1 + holes * (110 + tokens) // BLOCK_TOKENS
    assert held <= 1.25 * StepLimits().requests * blocks


def test_runs_that_have_begun_share_their_admission_with_what_they_open() -> None:
    """A run whose second conversation begins with a long prompt does not queue behind runs that wait."""
    bench = EngineBench(blocks=2000, limits=StepLimits(requests=4))
    ended: list[str] = []

    async def program(name: str, start: int) -> None:
        admission = Admission()
        for part in range(2):
            branch = bench.branch([(start + part * 50 + place) % 250 for place in range(80)])
            branch.admission = admission
            for token in range(10):
                await branch.logits()
                branch.append([token])
            branch.close()
        ended.append(name)

    async def job() -> None:
        await asyncio.gather(*(program(str(number), number * 3) for number in range(30)))

    bench.run(job())
    assert set(ended[:4]) == {"0", "1", "2", "3"}


def test_a_deadline_that_has_passed_is_told() -> None:
    bench = EngineBench()

    async def job() -> None:
        branch = bench.branch([1])
        branch.deadline = time.monotonic() - 1
        with pytest.raises(DeadlinePassed):
            await branch.logits()

    bench.run(job())
    assert bench.executor.steps == []


def test_a_full_queue_turns_requests_away() -> None:
    bench = EngineBench(max_queue=2)

    async def job() -> None:
        results = await asyncio.gather(
            *(bench.branch([n]).logits() for n in range(3)), return_exceptions=True
        )
        assert [isinstance(result, QueueFull) for result in results] == [False, False, True]

    bench.run(job())


def test_pinned_beginnings_stay() -> None:
    bench = EngineBench(blocks=12)
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
    bench = EngineBench(blocks=40)

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
    bench = EngineBench(blocks=5)

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
    bench = EngineBench(blocks=10)

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
    bench = EngineBench(blocks=10)
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


def test_prompts_that_hold_up_nobody_are_read_in_one_step() -> None:
    bench = EngineBench(blocks=400, limits=StepLimits(prompt_tokens=1000))

    async def job() -> None:
        await asyncio.gather(
            *(bench.check(bench.branch([n * 40 + place % 30 for place in range(90)])) for n in range(6))
        )
        short = bench.branch([7])
        await asyncio.gather(short.logits(), *(bench.branch([n] * 100 + [9]).logits() for n in range(6)))

    bench.run(job())
    sizes = [sum(step) for step in bench.fed()]
    assert sizes[0] == 540
    assert sizes[1] <= StepLimits().tokens  # the one with the short request
