"""Places for runs: tenants take turns, priority within a tenant, a bounded queue, calls that give up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.runtime.serve.access import ANYONE, Access
from sglc.runtime.serve.admission import Admission
from sglc.runtime.serve.functions import Answer, Job
from sglc.runtime.serve.options import CallOptions, ServeLimits
from sglc.runtime.serve.problems import Refusal
from sglc.runtime.serve.runs import Runs


@asynccontextmanager
async def _place(admission: Admission, tenant: str, priority: int = 0) -> AsyncIterator[None]:
    turn = admission.enter(tenant, priority)
    try:
        await turn.come()
        yield
    finally:
        turn.leave()


async def _order(calls: Sequence[tuple[str, int]], running: int = 1) -> list[int]:
    """The order in which calls (tenant, priority) get places, all asking while all places are taken."""
    admission = Admission(running, len(calls))
    found: list[int] = []
    gate = asyncio.Event()

    async def first() -> None:
        async with _place(admission, "first"):
            await gate.wait()

    async def call(number: int, tenant: str, priority: int) -> None:
        async with _place(admission, tenant, priority):
            found.append(number)
            await asyncio.sleep(0)

    holders = [asyncio.ensure_future(first()) for _ in range(running)]
    await asyncio.sleep(0)
    waiting = []
    for number, (tenant, priority) in enumerate(calls):
        waiting.append(asyncio.ensure_future(call(number, tenant, priority)))
        await asyncio.sleep(0)
    assert admission.waiting == len(calls) and not found
    gate.set()
    await asyncio.gather(*holders, *waiting)
    assert (admission.running, admission.waiting) == (0, 0)
    return found


def test_tenants_take_turns() -> None:
    calls = [("many", 0)] * 4 + [("few", 0)] * 2
    assert asyncio.run(_order(calls)) == [0, 4, 1, 5, 2, 3]


def test_priority_decides_within_a_tenant_only() -> None:
    calls = [("a", 0), ("a", 5), ("b", -5), ("a", 5)]
    assert asyncio.run(_order(calls)) == [1, 2, 3, 0]


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 2)), max_size=12), st.integers(1, 3))
def test_nobody_is_served_twice_before_who_waited_longer(calls: list[tuple[str, int]], running: int) -> None:
    """While a tenant waits, another gets at most one place between two of its own."""
    order = asyncio.run(_order(calls, running))
    assert sorted(order) == list(range(len(calls)))
    tenants = [calls[number][0] for number in order]
    for at, tenant in enumerate(tenants):
        following = next((i for i in range(at + 1, len(tenants)) if tenants[i] == tenant), None)
        between = tenants[at + 1 : following] if following is not None else []
        assert all(between.count(each) <= 1 for each in between)


def test_one_too_many_is_refused_with_a_time() -> None:
    async def whole() -> None:
        admission = Admission(1, 0)
        async with _place(admission, "a"):
            with pytest.raises(Refusal) as refused:
                async with _place(admission, "b"):
                    pass
        assert refused.value.problem.status == 429 and refused.value.problem.retry_after
        async with _place(admission, "b"):
            pass

    asyncio.run(whole())


def test_those_who_are_refused_together_come_back_apart() -> None:
    """From half of the expected wait to one and a half of it."""

    async def whole() -> list[float]:
        dice = iter([0.0, 0.5, 1.0])
        admission = Admission(2, 4, dice=lambda: next(dice))
        admission.running, admission.waiting = 2, 4
        told = []
        for _ in range(3):
            with pytest.raises(Refusal) as refused:
                admission.check()
            told.append(refused.value.problem.retry_after or 0.0)
        return [each / admission.expected_wait() for each in told]

    assert asyncio.run(whole()) == [0.5, 1.0, 1.5]


@pytest.mark.parametrize("late", [False, True])
def test_a_call_that_gives_up_keeps_no_place(late: bool) -> None:
    """Also one that gives up in the moment in which its turn comes."""

    async def whole() -> None:
        admission = Admission(1, 5)
        gate = asyncio.Event()

        async def hold() -> None:
            async with _place(admission, "a"):
                await gate.wait()

        async def short() -> None:
            async with _place(admission, "b"):
                pass

        holder = asyncio.ensure_future(hold())
        await asyncio.sleep(0)
        giving, other = asyncio.ensure_future(short()), asyncio.ensure_future(short())
        await asyncio.sleep(0)
        if late:
            gate.set()
            await asyncio.sleep(0)  # the place has gone to it, and it does not know yet
            giving.cancel()
        else:
            giving.cancel()
            gate.set()
        await asyncio.gather(holder, giving, other, return_exceptions=True)
        assert giving.cancelled() and (admission.running, admission.waiting) == (0, 0)

    asyncio.run(whole())


def test_places_to_wait_are_counted_before_a_call_first_waits() -> None:
    """Calls that come in one moment are refused in that moment, not when they begin to wait."""

    async def whole() -> None:
        admission = Admission(1, 1)
        turns = [admission.enter("a"), admission.enter("a")]
        with pytest.raises(Refusal):
            admission.enter("a")
        for turn in turns:
            turn.leave()
        assert (admission.running, admission.waiting) == (0, 0)

    asyncio.run(whole())


def test_a_run_that_is_cancelled_before_it_begins_has_an_answer_and_no_place() -> None:
    class Never:
        name = "never"

        def check(self, arguments: object) -> None:
            pass

        async def answer(self, *_: object) -> Answer:
            raise AssertionError("it has begun")

    async def whole() -> None:
        admission = Admission(1, 0)
        runs = Runs(ServeLimits(), admission, Access())
        run = runs.start(cast(Job, Never()), {}, CallOptions(), ANYONE, told=False)
        run.cancel()
        told = await asyncio.wait_for(run.log.after(0), 5)
        assert [event.name for event in told] == ["error"] and run.ended
        assert run.answer is not None and run.answer.problem is not None
        assert run.answer.problem.name == "Cancelled"
        assert (admission.running, admission.waiting) == (0, 0)

    asyncio.run(whole())
