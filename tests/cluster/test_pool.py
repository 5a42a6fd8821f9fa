"""Calls on workers that die: each is answered once, or is an error after three tries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.fake_workers import Fleet
from sglc.runtime.cluster import pool as pools
from sglc.runtime.cluster.messages import Asked, WorkerFault, event_line, written
from sglc.runtime.cluster.pool import MOST_DEATHS, TRIES, Pool
from sglc.runtime.cluster.router import Beginning
from sglc.runtime.cluster.scaling import IDLE, Scaling, Sizes
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.vm.state.trace import Event


@pytest.fixture(autouse=True)
def no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "BACK_OFF", 0.0)


def unheard(event: Event) -> None:
    """Nobody listens."""


def asked(number: int) -> Asked:
    return Asked("f", f'{{"n": {number}}}')


def go(work: Callable[[Pool], Awaitable[None]], fleet: Fleet, sizes: Sizes | None = None) -> None:
    async def whole() -> None:
        pool = Pool(fleet.start, written(setup={}), sizes or Sizes(2, 2))
        await pool.open()
        try:
            await asyncio.wait_for(work(pool), 20)
        finally:
            await pool.close()
        assert not fleet.alive

    asyncio.run(whole())


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_calls_are_answered_side_by_side_up_to_the_width() -> None:
    fleet = Fleet(held=True)

    async def work(pool: Pool) -> None:
        calls = [asyncio.ensure_future(pool.call(asked(n), unheard)) for n in range(9)]
        await settled()
        assert [len(each.calls) for each in fleet.links] == [2, 2]
        while not all(call.done() for call in calls):
            for link in fleet.links:
                for number in list(link.calls):
                    link.release(number)
            await settled()
        assert [(await call).value for call in calls] == [asked(n).arguments for n in range(9)]

    go(work, fleet)


def test_nobody_takes_what_its_own_worker_can_begin() -> None:
    """Workers that have read the same beginning share its calls evenly."""
    fleet = Fleet(held=True, width=16, shared=True)
    known = Beginning((b"beginning",), 16)

    async def work(pool: Pool) -> None:
        calls = [asyncio.ensure_future(pool.call(asked(n), unheard, known)) for n in range(12)]
        await settled()
        assert sorted(len(each.calls) for each in fleet.links) in ([5, 7], [6, 6])
        for link in fleet.links:
            for number in list(link.calls):
                link.release(number)
        await asyncio.gather(*calls)

    go(work, fleet)


@given(count=st.integers(1, 12), seed=st.integers(0, 10_000))
def test_whatever_dies_each_call_is_answered_once(count: int, seed: int) -> None:
    fleet = Fleet(held=True, width=3)
    draws = Random(seed)
    dead = 0

    async def work(pool: Pool) -> None:
        nonlocal dead
        calls = [asyncio.ensure_future(pool.call(asked(n), unheard)) for n in range(count)]
        while not all(call.done() for call in calls):
            await settled()
            for link in fleet.alive:
                kills = dead < TRIES - 1 and draws.random() < 0.5
                for number in list(link.calls):
                    if draws.random() < 0.5:
                        link.release(number)
                if kills:
                    dead += 1
                    link.die()
        assert [(await call).value for call in calls] == [asked(n).arguments for n in range(count)]
        assert pool.calls == 0

    go(work, fleet)


def test_a_call_goes_back_twice_and_is_then_an_error() -> None:
    fleet = Fleet(held=True, width=1)

    async def work(pool: Pool) -> None:
        call = asyncio.ensure_future(pool.call(asked(1), unheard))
        for _ in range(TRIES):
            await settled()
            next(link for link in fleet.alive if link.calls).die()
        with pytest.raises(SglError) as caught:
            await call
        assert caught.value.name == "Backend" and caught.value.code == "E0707"
        assert caught.value.known_fields["attempts"] == TRIES and "3 workers died" in caught.value.message
        other = asyncio.ensure_future(pool.call(asked(2), unheard))
        await settled()
        link = next(link for link in fleet.alive if link.calls)
        link.release(next(iter(link.calls)))
        assert (await other).value == asked(2).arguments

    go(work, fleet)


def test_a_late_answer_is_dropped() -> None:
    fleet = Fleet(held=True, width=4)

    async def work(pool: Pool) -> None:
        call = asyncio.ensure_future(pool.call(asked(1), unheard))
        await settled()
        link = next(link for link in fleet.alive if link.calls)
        number = next(iter(link.calls))
        call.cancel()
        await settled()
        assert link.cancelled == [number]
        link.calls[number] = asked(1)
        link.release(number)  # it had not heard of the cancelling yet
        await settled()
        again = asyncio.ensure_future(pool.call(asked(2), unheard))
        await settled()
        for each in fleet.alive:
            for number in list(each.calls):
                each.release(number)
        assert (await again).value == asked(2).arguments

    go(work, fleet)


def test_workers_that_die_at_once_are_given_up() -> None:
    fleet = Fleet(lambda asked: None, width=1)

    async def work(pool: Pool) -> None:
        calls = [asyncio.ensure_future(pool.call(asked(n), unheard)) for n in range(9)]
        while not all(call.done() for call in calls):
            await settled()
            for link in fleet.alive:
                link.die()
        assert len(fleet.links) <= 2 + MOST_DEATHS
        for call in calls:
            with pytest.raises(SglError, match="Backend"):
                await call
        with pytest.raises(SglError, match="before they answer"):
            await pool.call(asked(0), unheard)

    go(work, fleet)


@pytest.mark.parametrize(
    "problem",
    [
        SglError("Rejected", "no", fields={"n": 2**70}, partial="part", hint="h", fatal=True),
        ArgumentError("E0715", "wrong", reason="why", hint="h"),
        WorkerFault("ZeroDivisionError: by zero"),
    ],
)
def test_failures_come_as_they_were(problem: Exception) -> None:
    async def work(pool: Pool) -> None:
        with pytest.raises(type(problem)) as caught:
            await pool.call(asked(1), unheard)
        found = caught.value
        assert str(found) == str(problem)
        for name in ("name", "fields", "partial", "hint", "fatal", "code", "reason"):
            assert getattr(found, name, None) == getattr(problem, name, None)

    go(work, Fleet(lambda asked: problem))


def test_events_are_told_and_a_listener_that_fails_ends_its_call() -> None:
    fleet = Fleet(held=True)
    event = Event("text", {"text": "x\u2028y", "n": 1.5}, "0.1", "a:1:2")

    async def work(pool: Pool) -> None:
        heard: list[Event] = []
        call = asyncio.ensure_future(pool.call(asked(1), heard.append))
        await settled()
        link = next(link for link in fleet.alive if link.calls)
        number = next(iter(link.calls))
        link.told.put_nowait(event_line(number, event))
        await settled()
        assert heard == [event]
        link.release(number)
        await call

        def fails(event: Event) -> None:
            raise ZeroDivisionError

        call = asyncio.ensure_future(pool.call(asked(2), fails))
        await settled()
        link = next(link for link in fleet.alive if link.calls)
        number = next(iter(link.calls))
        link.told.put_nowait(event_line(number, event))
        with pytest.raises(ZeroDivisionError):
            await call
        assert link.cancelled == [number]

    go(work, fleet)


@pytest.mark.parametrize(
    "line", ["no json", "[1]", '{"answer": "x"}', '{"gone": 3}', '{"event": 1, "kind": 2}']
)
def test_a_worker_that_talks_nonsense_is_ended_and_its_calls_go_on(line: str) -> None:
    fleet = Fleet(held=True)

    async def work(pool: Pool) -> None:
        call = asyncio.ensure_future(pool.call(asked(1), unheard))
        await settled()
        link = next(link for link in fleet.alive if link.calls)
        number = next(iter(link.calls))
        link.told.put_nowait(line.replace('"event": 1', f'"event": {number}'))
        await settled()
        assert link.ended
        link = next(link for link in fleet.alive if link.calls)
        link.release(next(iter(link.calls)))
        assert (await call).value == asked(1).arguments

    go(work, fleet)


def test_an_idle_worker_takes_what_waits_elsewhere() -> None:
    fleet = Fleet(held=True, width=1)

    async def work(pool: Pool) -> None:
        calls = [asyncio.ensure_future(pool.call(asked(n), unheard)) for n in range(8)]
        await settled()
        first, second = fleet.links
        while not all(call.done() for call in calls):
            for number in list(second.calls):
                second.release(number)
            await settled()
            if len(second.seen) >= 7:
                for number in list(first.calls):
                    first.release(number)
            await settled()
        assert len(second.seen) == 7

    go(work, fleet)


def test_more_workers_come_with_more_work_and_go_when_they_are_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "TICK", 0.001)
    monkeypatch.setattr("sglc.runtime.cluster.scaling.IDLE", 0.0)
    fleet = Fleet(held=True, width=1)

    async def work(pool: Pool) -> None:
        calls = [asyncio.ensure_future(pool.call(asked(n), unheard)) for n in range(30)]
        while len(fleet.alive) < 4:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.02)
        assert len(fleet.alive) == 4
        while not all(call.done() for call in calls):
            for link in fleet.alive:
                for number in list(link.calls):
                    link.release(number)
            await settled()
        while len(fleet.alive) > 1:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.02)
        assert len(fleet.alive) == 1 and pool.deaths == 0
        assert {(await call).value for call in calls} == {asked(n).arguments for n in range(30)}

    go(work, fleet, Sizes(1, 4))


def test_the_number_of_workers_follows_the_work() -> None:
    scaling = Scaling(Sizes(1, 8))
    assert scaling.wanted(1000, 3, 4, 1, 0.0) == 1  # nothing is known of a call yet
    scaling.ended(2.0)
    assert scaling.wanted(100, 4, 4, 1, 0.0) == 5  # 2 calls a second of one worker, 10 s
    assert scaling.wanted(10_000, 4, 4, 5, 0.0) == 8
    assert scaling.wanted(0, 0, 4, 8, 1.0) == 8
    assert scaling.wanted(0, 0, 4, 8, IDLE) == 8
    assert scaling.wanted(0, 0, 4, 8, IDLE + 1) == 7


def test_what_cannot_be_had_is_told_at_the_beginning() -> None:
    async def start() -> Any:
        raise ArgumentError("E0840", "nowhere")

    async def whole() -> None:
        pool = Pool(start, "", Sizes(1, 1))
        with pytest.raises(ArgumentError, match="nowhere"):
            await pool.open()
        await pool.close()

    asyncio.run(whole())
