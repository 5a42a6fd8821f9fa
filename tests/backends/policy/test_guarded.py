"""Chains, retries, deadlines, hedges, broken answers: what a reader gets of a guarded backend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from backends.acted import END, ActedBackend, Step, overloaded, read
from backends.virtual_time import run
from sglc.project.prices import Price
from sglc.runtime.backends.exchange import Backend, BackendFault, Ending, Message, Piece, Query, Usage
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.retrying import MOST_GARBLED
from sglc.runtime.backends.policy.settings import Allowance, Limits, Policy
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement

QUERY = Query((Message("user", "Say hello."),), max_tokens=50, live=False)
LIVE = replace(QUERY, live=True)
CONTINUES = Capabilities(continues=True)


def acted(*scripts: Sequence[Step], **more: object) -> ActedBackend:
    """The scripts one by one; the last one from then on."""
    return ActedBackend(lambda number, _: scripts[min(number, len(scripts) - 1)], **more)  # type: ignore[arg-type]


def guard(*backends: Backend, accounts: Accounts | None = None, **settings: object) -> Backend:
    return guarded(backends, Policy(**settings), LoopClock(), accounts or Accounts())  # type: ignore[arg-type]


def answer(backend: Backend, query: Query = QUERY) -> tuple[str, Ending]:
    async def main() -> tuple[str, Ending]:
        return await read(backend.stream(query))

    return run(main())


def fault(backend: Backend, query: Query = QUERY) -> BackendFault:
    with pytest.raises(BackendFault) as caught:
        answer(backend, query)
    return caught.value


def test_an_answer_passes_as_it_is() -> None:
    backend = acted(["Hel", "lo", END])
    text, ending = answer(guard(backend))
    assert text == "Hello" and backend.queries == [QUERY]
    assert ending == replace(END, answered_by="acted:one", attempts=1)


def test_faults_that_may_pass_are_tried_again() -> None:
    backend = acted([overloaded()], [overloaded()], ["ok", END])
    text, ending = answer(guard(backend))
    assert (text, ending.attempts) == ("ok", 3)
    assert 0 < backend.times[1] <= 0.5 and backend.times[1] < backend.times[2] <= 1.5


@pytest.mark.parametrize("cause", ["access", "request"])
def test_faults_that_stay_are_not(cause: str) -> None:
    backend = acted([BackendFault(cause, "no", status=400)])  # type: ignore[arg-type]
    found = fault(guard(backend))
    assert (found.cause, found.attempts, len(backend.queries)) == (cause, 1, 1)


def test_the_last_fault_is_told_when_retries_are_used_up() -> None:
    backend = acted(["par", overloaded(endpoint="http://one", retry_after=0.5)])
    found = fault(guard(backend, retries=3))
    assert (found.attempts, found.status, found.retry_after, found.partial) == (4, 503, 0.5, "par")
    assert (found.cause, found.endpoint) == ("overloaded", "http://one")


def test_no_retries_is_one_request() -> None:
    backend = acted([overloaded()])
    assert fault(guard(backend, retries=0)).attempts == 1


def garbled() -> BackendFault:
    return BackendFault("protocol", "it is no JSON", again=True)


@pytest.mark.parametrize("count", [MOST_GARBLED, MOST_GARBLED + 1])
def test_answers_that_break_the_protocol_are_asked_for_twice_more(count: int) -> None:
    backend = acted(*[[garbled()]] * count, [overloaded()], ["ok", END])
    if count == MOST_GARBLED:
        assert answer(guard(backend))[1].attempts == count + 2
    else:
        assert (fault(guard(backend)).cause, len(backend.queries)) == ("protocol", count)


def test_a_stream_without_an_end_is_asked_for_again() -> None:
    assert answer(guard(acted(["Hel", None], ["Hello", END])))[0] == "Hello"


def test_what_a_backend_asks_to_wait_is_kept() -> None:
    backend = acted(
        [BackendFault("rate", "slow down", status=429, again=True, retry_after=20.0)], ["ok", END]
    )
    assert answer(guard(backend))[0] == "ok"
    assert 20 <= backend.times[1] <= 20.5


@pytest.mark.parametrize(("seconds", "asked"), [(300.0, 2), (301.0, 1), (float("nan"), 2), (-5.0, 2)])
def test_nobody_waits_for_days(seconds: float, asked: int) -> None:
    backend = acted([overloaded(retry_after=seconds)], ["ok", END])
    guarded_backend = guard(backend)
    if asked == 1:
        assert fault(guarded_backend).retry_after == seconds
    else:
        assert answer(guarded_backend)[0] == "ok"
    assert len(backend.queries) == asked


def test_no_wait_goes_past_the_deadline() -> None:
    backend = acted([overloaded(retry_after=20.0)], ["ok", END])

    async def main() -> float:
        with pytest.raises(BackendFault) as caught:
            await read(guard(backend).stream(replace(QUERY, deadline=19.0)))
        assert (caught.value.cause, caught.value.attempts) == ("overloaded", 1)
        return LoopClock().now()

    assert run(main()) == 0.0
    assert answer(guard(acted([overloaded(retry_after=20.0)], ["ok", END])), replace(QUERY, deadline=21.0))


@pytest.mark.parametrize("query", [QUERY, LIVE])
def test_a_deadline_ends_a_request_that_is_under_way(query: Query) -> None:
    backend = acted(["par", 100.0, "tial", END])

    async def main() -> float:
        with pytest.raises(BackendFault) as caught:
            await read(guard(backend).stream(replace(query, deadline=7.5)))
        assert (caught.value.cause, caught.value.partial, caught.value.attempts) == ("deadline", "par", 1)
        assert backend.open == 0
        return LoopClock().now()

    assert run(main()) == pytest.approx(7.5)


@pytest.mark.parametrize(("cause", "asked"), [("deadline", 8), ("connection", 5)])
def test_what_a_deadline_ended_opens_no_breaker(cause: str, asked: int) -> None:
    """Five faults in a row open it, of those that speak against the endpoint."""
    backend = acted([BackendFault(cause, "not whole")])  # type: ignore[arg-type]
    chain = guard(backend)

    async def main() -> None:
        for _ in range(8):
            with pytest.raises(BackendFault) as caught:
                await read(chain.stream(replace(QUERY, deadline=4.0)))
            assert caught.value.cause in (cause, "overloaded")

    run(main())
    assert len(backend.queries) == asked


def test_nothing_is_asked_after_the_deadline() -> None:
    backend = acted(["ok", END])
    assert fault(guard(backend), replace(QUERY, deadline=0.0)).attempts == 0
    assert backend.queries == []


def test_a_reader_who_leaves_ends_the_request() -> None:
    backend = acted(["a", 1.0, "b", 1.0, "c", END])

    async def main() -> None:
        async with aclosing(guard(backend).stream(LIVE)) as stream:  # type: ignore[type-var]
            assert await anext(stream) == Piece("a")
        assert backend.open == 0

    run(main())


def test_a_bug_of_a_backend_is_no_fault() -> None:
    def broken(number: int, query: Query) -> Sequence[Step]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        answer(guard(ActedBackend(broken)))


def test_a_backend_that_cancels_itself_leaves_nobody_waiting() -> None:
    def cancelled(number: int, query: Query) -> Sequence[Step]:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        answer(guard(ActedBackend(cancelled)))


# -- chains -------------------------------------------------------------------------------------------


def test_the_next_backend_is_asked_when_retries_are_used_up() -> None:
    first = acted([overloaded()])
    second = acted(["second", END], name="acted:two", endpoint="http://two")
    text, ending = answer(guard(first, second, retries=2))
    assert (text, ending.answered_by, ending.attempts) == ("second", "acted:two", 4)


def test_the_next_backend_is_asked_when_a_key_is_refused() -> None:
    first = acted([BackendFault("access", "no key", status=401)])
    assert answer(guard(first, acted(["two", END], endpoint="http://two")))[0] == "two"


def test_a_backend_that_cannot_do_it_is_passed_over() -> None:
    query = replace(QUERY, enforced=Enforcement("gbnf", 'root ::= "a"'))
    first = acted(["x", END])
    second = acted(["a", END], endpoint="http://two", capabilities=Capabilities(frozenset({"gbnf"})))
    assert answer(guard(first, second), query)[0] == "a" and first.queries == []
    alone = fault(guard(first), query)
    assert (alone.cause, alone.attempts) == ("request", 0)
    begun = replace(QUERY, begun="Hel")
    assert fault(guard(first), begun).cause == "request"


def test_another_backend_continues_no_text_that_it_has_not_written() -> None:
    first = acted(["Hel", overloaded()], capabilities=CONTINUES)
    second = acted(["Good day", END], endpoint="http://two", capabilities=CONTINUES)
    assert answer(guard(first, second, retries=0))[0] == "Good day" and second.queries == [QUERY]
    first = acted(["Hel", overloaded()], capabilities=CONTINUES)
    second = acted(["lo", END], endpoint="http://two", capabilities=CONTINUES)
    assert answer(guard(first, second, retries=0), LIVE)[0] == "Hello"


def test_a_probe_that_ends_at_its_deadline_lets_the_next_one_try() -> None:
    async def main() -> None:
        backend = acted(*[[overloaded()]] * 5, [100.0, END], ["ok", END])
        chain = guard(backend, retries=0)
        for _ in range(5):
            with pytest.raises(BackendFault):
                await read(chain.stream(QUERY))
        await asyncio.sleep(5.0)
        with pytest.raises(BackendFault, match="time was up"):
            await read(chain.stream(replace(QUERY, deadline=6.0)))
        assert (await read(chain.stream(replace(QUERY, deadline=7.0))))[0] == "ok"

    run(main())


def test_faults_of_rates_take_nothing_of_the_retry_budget() -> None:
    limited = BackendFault("rate", "slow", status=429, again=True)

    async def main(fault: BackendFault) -> list[int]:
        chain: Any = guard(acted([fault], [fault], ["x", END]))
        await read(chain.stream(QUERY))
        return [each for each in chain.members[0].retry_budget._retries if each]

    assert run(main(limited)) == [] and sum(run(main(overloaded()))) == 2


def test_an_answer_that_is_refused_is_an_answer() -> None:
    first = acted([Ending("refused", message="no")])
    second = acted(["two", END], endpoint="http://two")
    assert answer(guard(first, second))[1].reason == "refused" and second.queries == []


def test_an_open_breaker_passes_to_the_next_at_once_and_is_waited_for_at_the_end_of_a_chain() -> None:
    async def main() -> None:
        first = acted(*[[overloaded()]] * 5, ["first", END])
        second = acted(["second", END], endpoint="http://two", name="acted:two")
        chain, alone = guard(first, second, retries=0), guard(first, retries=8)
        for _ in range(5):
            assert (await read(chain.stream(QUERY)))[0] == "second"
        assert len(first.queries) == 5
        assert (await read(chain.stream(QUERY)))[0] == "second" and len(first.queries) == 5
        assert LoopClock().now() == 0.0
        await asyncio.sleep(5.0)
        assert (await read(chain.stream(QUERY)))[1].answered_by == "acted:one"
        first.queries.clear()
        assert (await read(alone.stream(QUERY)))[0] == "first"
        assert first.times[-1] - first.times[-2] == pytest.approx(5.0)

    run(main())


def test_a_chain_can_do_what_its_weakest_can() -> None:
    strong = Capabilities(frozenset({"gbnf", "choice"}), "whole", True, True, True, 20, True, None)
    weak = Capabilities(
        frozenset({"choice", "regex"}), "openai", False, False, True, 5, True, 2000, False, frozenset(), 8000
    )
    chain = guard(acted([END], capabilities=strong), acted([END], capabilities=weak))
    assert chain.capabilities == replace(weak, notations=frozenset({"choice"}))
    assert guard(acted([END], capabilities=strong)).capabilities == strong


# -- answers that break off --------------------------------------------------------------------------


@pytest.mark.parametrize("query", [QUERY, LIVE])
def test_a_broken_answer_is_continued_where_the_backend_continues_texts(query: Query) -> None:
    backend = acted(["Hel", "lo ", overloaded()], ["world", END], capabilities=CONTINUES)
    assert answer(guard(backend), query)[0] == "Hello world"
    assert backend.queries[1] == replace(query, begun="Hello ", max_tokens=48)


def test_what_is_enforced_or_may_be_a_stop_begins_anew() -> None:
    for query in (
        replace(QUERY, enforced=Enforcement("regex", "Hello")),
        replace(QUERY, stops=("ll!",)),
    ):
        able = replace(CONTINUES, notations=frozenset({"regex"}))
        backend = acted(["Hel", overloaded()], ["Hello", END], capabilities=able)
        assert answer(guard(backend), query)[0] == "Hello"
        assert backend.queries[1] == query


def test_a_reader_gets_no_text_twice() -> None:
    backend = acted(["Hel", "lo", overloaded()], ["He", overloaded()], ["H", "ello wor", "ld", END])

    async def main() -> list[str]:
        return [event.text async for event in guard(backend).stream(LIVE) if isinstance(event, Piece)]

    assert run(main()) == ["Hel", "lo", " wor", "ld"]


@pytest.mark.parametrize("second", [["Help me out", END], ["Help", END], ["He", END], ["Yes", END], [END]])
def test_an_answer_that_turns_out_another_one_is_a_fault(second: Sequence[Step]) -> None:
    backend = acted(["Hello", overloaded()], second, ["Hello", END])
    found = fault(guard(backend, acted(["Hello", END], endpoint="http://two")), LIVE)
    assert (found.cause, found.partial, found.attempts) == ("connection", "Hello", 2)


def test_an_answer_that_nobody_has_read_may_turn_out_another_one() -> None:
    assert answer(guard(acted(["Hello", overloaded()], ["Yes", END])))[0] == "Yes"


# -- hedges ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [QUERY, LIVE])
def test_a_second_request_joins_a_silent_one(query: Query) -> None:
    backend = acted([30.0, "slow", END], [1.0, "fast", END])
    accounts = Accounts()
    text, ending = answer(guard(backend, accounts=accounts, hedge=2.0), query)
    assert (text, ending.attempts, ending.usage) == ("fast", 2, END.usage)
    assert backend.times == [0.0, 2.0] and backend.open == 0
    spent = accounts.spendings["acted:one"]
    assert spent.requests == 2 and spent.usage.output == 5 and spent.usage.prompt > 10 and spent.estimated > 0


def test_the_first_that_is_done_counts() -> None:
    scripts = [[3.0, "first", END], [0.5, "sec", 9.0, "ond", END]]
    assert answer(guard(acted(*scripts), hedge=2.0))[0] == "first"
    assert answer(guard(acted(*scripts), hedge=2.0), LIVE)[0] == "second"


def test_no_second_request_joins_one_that_speaks() -> None:
    backend = acted([1.0, "a", 30.0, "b", END])
    assert answer(guard(backend, hedge=2.0))[0] == "ab" and len(backend.queries) == 1


def test_a_hedge_outlives_the_first_request() -> None:
    backend = acted([3.0, overloaded()], [4.0, "two", END])
    assert answer(guard(backend, hedge=2.0)) == ("two", replace(END, answered_by="acted:one", attempts=2))
    both = acted([3.0, overloaded()], [4.0, overloaded()], ["three", END])
    assert answer(guard(both, hedge=2.0))[0] == "three"


def test_a_hedge_waits_for_the_95th_of_100_first_tokens() -> None:
    async def main() -> None:
        backend = ActedBackend(lambda number, _: [1.0 if number < 20 else 50.0, "x", END])
        chain = guard(backend, hedge="p95")
        for _ in range(20):
            await read(chain.stream(QUERY))
        assert len(backend.queries) == 20
        await read(chain.stream(QUERY))
        assert len(backend.queries) == 22 and backend.times[21] - backend.times[20] == pytest.approx(1.0)

    run(main())


# -- rates and budgets -------------------------------------------------------------------------------


def test_requests_at_once_are_bounded_and_take_turns() -> None:
    async def main() -> None:
        backend = ActedBackend(lambda _, query: [1.0, query.purpose, END])
        chain = guard(backend, limits=Limits(at_once=3))
        queries = [replace(QUERY, purpose=str(number)) for number in range(10)]
        texts = await asyncio.gather(*(read(chain.stream(query)) for query in queries))
        assert [text for text, _ in texts] == [str(number) for number in range(10)]
        assert [query.purpose for query in backend.queries] == [str(number) for number in range(10)]
        assert backend.most_open == 3 and LoopClock().now() == pytest.approx(4.0)

    run(main())


def test_requests_of_a_minute_are_bounded() -> None:
    async def main() -> None:
        backend = acted(["x", END])
        chain = guard(backend, limits=Limits(requests_per_minute=60))
        await asyncio.gather(*(read(chain.stream(QUERY)) for _ in range(66)))
        assert backend.times[5] == 0.0 and backend.times[6] == pytest.approx(1.0)
        assert backend.times[65] == pytest.approx(60.0)

    run(main())


def test_a_pause_that_one_is_asked_for_holds_for_all() -> None:
    async def main() -> None:
        limited = BackendFault("rate", "slow", status=429, again=True, retry_after=10.0)
        backend = acted([limited], ["x", END])
        chain = guard(backend)
        first = asyncio.create_task(read(chain.stream(QUERY)))
        await asyncio.sleep(1.0)
        await read(chain.stream(QUERY))
        await first
        assert backend.times[:2] == [0.0, 10.0] and 10.0 <= backend.times[2] <= 10.5

    run(main())


def test_what_a_request_took_less_than_expected_is_there_for_the_next() -> None:
    async def main(usage: Usage | None) -> float:
        backend = acted(["x", Ending("stop", usage)])
        chain = guard(backend, limits=Limits(tokens_per_minute=600))
        for _ in range(3):
            await read(chain.stream(QUERY))
        return backend.times[-1]

    # The bucket has ten a second, and has to be full for what is expected: it lacks what was taken.
    assert run(main(Usage(10, 5))) == pytest.approx(3.0)
    assert run(main(Usage(60, 60))) == pytest.approx(24.0)
    assert run(main(None)) == pytest.approx(2.6), "a prompt of 12 tokens and a piece"


def test_a_budget_of_tokens_is_looked_at_before_asking() -> None:
    backend = acted(["x", Ending("stop", Usage(20, 10))])
    chain = guard(backend, budget=Allowance(tokens=150))

    async def main() -> None:
        for _ in range(3):
            await read(chain.stream(QUERY))
        with pytest.raises(BackendFault) as caught:
            await read(chain.stream(QUERY))
        assert caught.value.cause == "budget" and "90 of 150 tokens" in caught.value.message

    run(main())
    assert len(backend.queries) == 3


def test_a_budget_of_money_counts_by_prices() -> None:
    price = Price(Decimal("1000"), Decimal("2000"), Decimal("100"), "EUR")
    backend = acted(["x", Ending("stop", Usage(20, 10, 10))])
    accounts = Accounts()
    chain = guard(backend, accounts=accounts, price=price, budget=Allowance(cost=Decimal("0.2")))

    async def main() -> None:
        for _ in range(3):
            await read(chain.stream(QUERY))
        with pytest.raises(BackendFault, match=r"0\.093 EUR of 0\.20 EUR are spent"):
            await read(chain.stream(QUERY))

    run(main())
    spent = accounts.spendings["acted:one"]
    assert spent.cost == 3 * Decimal("0.031") and (spent.currency, spent.estimated) == ("EUR", 0)
    assert spent.usage == Usage(60, 30, 30)


def test_a_used_up_budget_asks_no_other_backend() -> None:
    other = acted(["x", END], endpoint="http://two")
    assert fault(guard(acted(["x", END]), other, budget=Allowance(tokens=5))).cause == "budget"
    assert other.queries == []


# -- scores ------------------------------------------------------------------------------------------


def test_scores_are_tried_again_and_end_at_the_deadline() -> None:
    able = Capabilities(scores=True)

    async def main(backend: ActedBackend, query: Query) -> object:
        return await guard(backend).score(query, ["a", "b"])

    found = run(main(acted([overloaded()], [END], capabilities=able), QUERY))
    assert [score.tokens for score in found] == [("a",), ("b",)]  # type: ignore[attr-defined]
    for backend, cause in (
        (acted([30.0, END], capabilities=able), "deadline"),
        (acted([END]), "request"),
    ):
        with pytest.raises(BackendFault) as caught:
            run(main(backend, replace(QUERY, deadline=5.0)))
        assert caught.value.cause == cause and backend.open == 0


def test_closing_closes_all() -> None:
    backends = [acted([END]), acted([END])]
    run(guard(*backends).close())  # type: ignore[arg-type]
    assert [backend.closed for backend in backends] == [1, 1]
