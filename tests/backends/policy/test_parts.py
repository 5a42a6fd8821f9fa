"""Breakers, budgets, rates, waits, accounts: each policy by itself, on both sides of its thresholds."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from backends.virtual_time import run
from sglc.project.prices import Price
from sglc.runtime.backends.exchange import BackendFault, Cause, Message, Query, Usage
from sglc.runtime.backends.policy import backoff, breaker, hedging, rates, retry_budget
from sglc.runtime.backends.policy.accounts import Accounts, estimate
from sglc.runtime.backends.policy.backoff import Backoff
from sglc.runtime.backends.policy.breaker import Breaker
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.errors import HINTS, language_error
from sglc.runtime.backends.policy.hedging import FirstTokens
from sglc.runtime.backends.policy.rates import RateLimits, TokenBucket
from sglc.runtime.backends.policy.retry_budget import RetryBudget
from sglc.runtime.backends.policy.settings import Allowance, Limits, Policy


@dataclass
class SetClock:
    """A clock that a test sets."""

    time: float = 0.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing sleeps here")


# -- virtual time ------------------------------------------------------------------------------------


def test_virtual_time_wakes_sleepers_in_order() -> None:
    woken: list[float] = []

    async def sleeper(seconds: float) -> None:
        await LoopClock().sleep(seconds)
        woken.append(LoopClock().now())

    async def main() -> None:
        await asyncio.gather(*(sleeper(seconds) for seconds in (3600.0, 0.5, 20.0, 0.5)))

    run(main())
    assert woken == pytest.approx([0.5, 0.5, 20.0, 3600.0])


def test_virtual_time_finds_what_would_wait_for_ever_and_what_is_left_over() -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    kept: list[asyncio.Task[None]] = []

    async def leaves() -> None:
        kept.append(asyncio.create_task(LoopClock().sleep(1.0)))  # type: ignore[arg-type]

    def fails(main: Coroutine[Any, Any, None], error: type[Exception]) -> None:
        with pytest.raises(error):
            run(main)

    fails(waits(), RuntimeError)
    fails(leaves(), AssertionError)


# -- breakers ----------------------------------------------------------------------------------------


def _after(outcomes: str, clock: SetClock, seconds: float = 0.0) -> Breaker:
    """A breaker behind outcomes (`+`, `-`), with so many seconds before each."""
    found = Breaker(clock)
    for outcome in outcomes:
        clock.time += seconds
        ticket = found.enter()
        assert ticket is not None
        (found.succeeded if outcome == "+" else found.failed)(ticket)
    return found


@pytest.mark.parametrize(
    ("outcomes", "seconds", "opens"),
    [
        ("-" * breaker.IN_A_ROW, 0.0, True),
        ("-" * (breaker.IN_A_ROW - 1), 0.0, False),
        ("----+----+", 0.0, False),
        ("+-" * 10, 0.0, True),
        ("+-" * 9 + "-", 0.0, False),
        ("++-" + "+-" * 8 + "+", 0.0, False),
        ("+-" * 10, 1.5, True),
        ("+-" * 10, 1.6, False),
    ],
)
def test_a_breaker_opens(outcomes: str, seconds: float, opens: bool) -> None:
    assert _after(outcomes, SetClock(), seconds).blocks == opens


def test_one_probe_after_five_seconds_doubling_to_a_minute() -> None:
    clock = SetClock()
    found = _after("-----", clock)
    for pause in (5.0, 10.0, 20.0, 40.0, 60.0, 60.0):
        assert found.pause == pytest.approx(pause)
        opened = clock.time
        clock.time = opened + pause - 0.001
        assert found.enter() is None
        clock.time = opened + pause
        probe = found.enter()
        assert probe is not None and found.enter() is None and found.blocks
        found.failed(probe)
    clock.time += 60
    probe = found.enter()
    assert probe is not None
    found.succeeded(probe)
    assert not found.blocks and _row_of_faults(found) == breaker.IN_A_ROW
    assert found.pause == breaker.FIRST_PAUSE


def _row_of_faults(found: Breaker) -> int:
    count = 0
    while (ticket := found.enter()) is not None:
        found.failed(ticket)
        count += 1
    return count


def test_a_probe_that_is_given_up_leaves_its_place() -> None:
    clock = SetClock()
    found = _after("-----", clock)
    clock.time = 5.0
    probe = found.enter()
    assert probe is not None
    found.left(probe)
    assert not found.blocks and found.enter() is not None and found.enter() is None


def test_requests_of_before_say_nothing_of_now() -> None:
    clock = SetClock()
    found = Breaker(clock)
    early = found.enter()
    assert early is not None
    _row_of_faults(found)
    found.succeeded(early)
    assert found.blocks
    clock.time = 5.0
    probe = found.enter()
    found.failed(early)
    found.succeeded(early)
    assert probe is not None and found.enter() is None
    found.succeeded(probe)
    assert not found.blocks


def test_those_who_wait_learn_of_the_probe() -> None:
    async def main() -> None:
        found = Breaker(LoopClock())
        _row_of_faults(found)
        await found.wait()
        probe = found.enter()
        assert probe is not None and LoopClock().now() == pytest.approx(5.0)
        waiting = asyncio.create_task(found.wait())
        await asyncio.sleep(1.0)
        assert not waiting.done()
        found.succeeded(probe)
        await waiting
        await found.wait()
        assert LoopClock().now() == pytest.approx(6.0)

    run(main())


@pytest.mark.parametrize(
    ("cause", "against"),
    [("connection", True), ("overloaded", True), ("protocol", True)]
    + [("rate", False), ("access", False), ("request", False)],
)
def test_which_faults_speak_against_an_endpoint(cause: Cause, against: bool) -> None:
    assert breaker.counts(BackendFault(cause, "")) == against


# -- retries -----------------------------------------------------------------------------------------


def test_waits_have_full_jitter_below_a_bound_that_doubles() -> None:
    fault = BackendFault("overloaded", "", again=True)
    for failures, bound in enumerate([0.5, 1, 2, 4, 8, 8, 8]):
        waits = [_wait(seed, failures, fault) for seed in range(300)]
        assert 0 <= min(waits) < bound / 20 and bound * 0.95 < max(waits) <= bound
    assert _wait(7, 900, fault) == _wait(7, 900, fault) <= backoff.LONGEST


def _wait(seed: int, failures: int, fault: BackendFault) -> float:
    wait = Backoff(seed).wait(failures, fault)
    assert wait is not None
    return wait


def test_what_stays_is_not_waited_for() -> None:
    assert Backoff(0).wait(0, BackendFault("overloaded", "")) is None


def test_retries_are_a_fifth_of_the_requests_of_a_minute() -> None:
    clock = SetClock()
    budget = RetryBudget(clock)
    assert _taken(budget) == retry_budget.FLOOR
    for _ in range(100):
        budget.request()
    assert _taken(budget) == 20
    clock.time = 59.9
    assert _taken(budget) == 0
    clock.time = 60.0
    assert _taken(budget) == retry_budget.FLOOR
    clock.time = 500.0
    assert _taken(budget) == retry_budget.FLOOR


def _taken(budget: RetryBudget) -> int:
    count = 0
    while budget.take():
        count += 1
    return count


def test_a_single_call_is_never_short_of_retries() -> None:
    assert Policy().retries <= retry_budget.FLOOR


# -- rates -------------------------------------------------------------------------------------------


def test_a_bucket_holds_a_tenth_of_a_minute() -> None:
    clock = SetClock()
    bucket = TokenBucket(600, clock)
    assert bucket.missing(60) == 0
    bucket.take(60)
    assert bucket.missing(1) == pytest.approx(0.1)
    clock.time = 2.0
    assert bucket.missing(20) == 0 and bucket.missing(21) == pytest.approx(0.1)
    clock.time = 1000.0
    assert bucket.missing(60) == 0
    bucket.take(60)
    assert bucket.missing(1) == pytest.approx(0.1)


def test_more_than_a_bucket_holds_passes_when_it_is_full() -> None:
    clock = SetClock()
    bucket = TokenBucket(600, clock)
    bucket.take(10)
    assert bucket.missing(5000) == pytest.approx(1.0)
    clock.time = 1.0
    assert bucket.missing(5000) == 0
    bucket.take(5000)
    assert bucket.missing(1) == pytest.approx(494.1)


def test_a_rate_below_one_in_six_seconds_still_lets_one_pass() -> None:
    clock = SetClock()
    bucket = TokenBucket(1, clock)
    assert bucket.missing(1) == 0
    bucket.take(1)
    assert bucket.missing(1) == pytest.approx(60.0)


def test_any_minute_has_at_most_a_tenth_more_than_it_should() -> None:
    times: list[float] = []

    async def main() -> None:
        limits = RateLimits(Limits(requests_per_minute=120), LoopClock())
        await asyncio.sleep(500)
        for _ in range(500):
            async with limits.slot(1):
                times.append(LoopClock().now())

    run(main())
    assert max(sum(since <= each < since + 60 for each in times) for since in times) <= 132
    assert rates.BURST == 10 and len(times) == 500


def test_reserved_tokens_are_put_right_by_what_was_used() -> None:
    async def main(used: Usage | None) -> float:
        limits = RateLimits(Limits(tokens_per_minute=6000), LoopClock())
        async with limits.slot(600) as slot:
            slot.correct(used)
        async with limits.slot(300):
            return LoopClock().now()

    assert run(main(Usage(100, 50))) == 0.0
    assert run(main(None)) == pytest.approx(3.0)
    assert run(main(Usage(600, 300))) == pytest.approx(6.0)


def test_who_is_cancelled_gives_the_place_back() -> None:
    async def main() -> None:
        limits = RateLimits(Limits(at_once=1, requests_per_minute=1), LoopClock())

        async def one() -> None:
            async with limits.slot(1):
                await asyncio.sleep(1.0)

        await one()
        waiting = [asyncio.create_task(one()) for _ in range(3)]
        await asyncio.sleep(5.0)
        assert not limits.is_free
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert limits.is_free

    run(main())


# -- first tokens, accounts, errors -------------------------------------------------------------------


def test_the_95th_of_100_first_tokens() -> None:
    known = FirstTokens()
    for seconds in range(hedging.LEAST - 1):
        known.note(float(seconds))
    assert (
        known.hedge_after("p95") is None and known.hedge_after(3.0) == 3.0 and known.hedge_after(None) is None
    )
    for seconds in range(1, 101):
        known.note(float(seconds))
    for _ in range(100):
        known.note(0.0)
    assert known.hedge_after("p95") == 90.0


def test_an_estimate_is_by_bytes_and_by_the_longest_answer() -> None:
    query = Query((Message("system", "abc"), Message("user", "é" * 3)), begun="ab", max_tokens=7)
    assert estimate(query) == Usage(4 + 12, 7)
    assert estimate(Query(())).output == 512
    assert estimate(Query((Message("user", "\ud800"),))).prompt > 0


def test_reserved_and_used_tokens_count_against_a_budget() -> None:
    accounts, policy = Accounts(), Policy(budget=Allowance(tokens=100))
    accounts.reserve("m", Usage(30, 20), policy)
    accounts.reserve("m", Usage(30, 20), policy)
    accounts.reserve("other", Usage(30, 20), policy)
    with pytest.raises(BackendFault, match="0 of 100 tokens are used, and a request may take 1"):
        accounts.reserve("m", Usage(1, 0), policy)
    accounts.settle("m", Usage(30, 20), Usage(10, 5), policy, told=True)
    accounts.settle("m", Usage(30, 20), None, policy, told=True)
    accounts.reserve("m", Usage(80, 5), policy)
    spent = accounts.spendings["m"]
    assert (spent.requests, spent.tokens, spent.estimated) == (1, 15, 0)


@pytest.mark.parametrize("policy", [Policy(), Policy(price=Price(Decimal(1), Decimal(2)))])
def test_money_is_counted_where_a_price_is_known(policy: Policy) -> None:
    accounts = Accounts()
    accounts.reserve("m", Usage(30, 20), policy)
    accounts.settle("m", Usage(30, 20), Usage(1_000_000, 500_000, 10), policy, told=False)
    spent = accounts.spendings["m"]
    assert spent.cost == (0 if policy.price is None else 2) and spent.estimated == 1_500_000
    assert spent.currency == ("" if policy.price is None else "USD")


def test_faults_are_errors_of_the_language() -> None:
    fault = BackendFault(
        *("overloaded", "too much to do"),
        **{"endpoint": "http://one/v1", "status": 503, "attempts": 4, "retry_after": 2.0, "partial": "Hel"},
    )
    error = language_error(fault)
    assert (error.name, error.code, error.partial, error.fatal) == ("Backend", "E0707", "Hel", False)
    assert error.message == "http://one/v1: too much to do (status 503), after 4 requests"
    assert error.fields == {
        "cause": "overloaded",
        "endpoint": "http://one/v1",
        "attempts": 4,
        "retry_after": 2.0,
    }
    assert error.hint == HINTS["overloaded"]
    assert language_error(BackendFault("request", "no")).message == "no"


@pytest.mark.parametrize(("cause", "name"), [("deadline", "Timeout"), ("budget", "Budget")])
def test_what_policies_give_up_for_has_its_own_error(cause: Cause, name: str) -> None:
    error = language_error(BackendFault(cause, "it is over", partial="Hel"))
    assert (error.name, error.partial, error.fields) == (name, "Hel", {})


def test_equal_seeds_wait_equally_and_others_do_not() -> None:
    fault = BackendFault("rate", "", again=True)
    lists = [[source.wait(n, fault) for n in range(5)] for source in map(Backoff, (1, 1, 2))]
    assert lists[0] == lists[1] != lists[2]
    assert any(one != other for one, other in pairwise(lists[0]))
