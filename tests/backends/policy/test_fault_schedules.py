"""Random schedules of faults on virtual time: each query ends once, in its answer or in an error."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.faults import ISSUE_RATES, Fault, FaultyTransport, Kind, Scheduled, Seeded
from backends.lines import LineBackend, LineServer, answer_of
from backends.virtual_time import run
from example_budget import examples
from sglc.runtime.backends.exchange import Backend, BackendFault, Ending, Message, Query
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.breaker import IN_A_ROW
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.guarded import guarded
from sglc.runtime.backends.policy.retrying import LONGEST_OUTAGE
from sglc.runtime.backends.policy.settings import Limits, Policy
from sglc.runtime.backends.transport import Timeouts
from sglc.targets.projection.core.capabilities import Capabilities

HARMLESS: frozenset[Kind] = frozenset({"delay", "shred"})
QUERY = Query((Message("user", "q"),), max_tokens=100)

_where = st.floats(0, 1)
FAULTS = st.one_of(
    st.builds(
        Fault,
        st.just("status"),
        st.sampled_from([429, 500, 503, 529]),
        retry_after=st.sampled_from([None, 0.0, 2.0, 30.0]),
    ),
    st.builds(Fault, st.sampled_from(["drop", "shred"])),
    st.builds(Fault, st.just("delay"), seconds=st.floats(0.1, 20)),
    st.builds(Fault, st.sampled_from(["stall", "cut", "truncate", "duplicate", "garble"]), where=_where),
)
SCHEDULES = st.lists(st.one_of(st.none(), FAULTS), max_size=24)


@dataclass
class Endpoint:
    """A server behind faults, and the backend that asks it."""

    server: LineServer
    transport: FaultyTransport
    backend: LineBackend


def endpoint(source: Seeded | Scheduled, name: str, *, continues: bool = False) -> Endpoint:
    server = LineServer()
    transport = FaultyTransport(server, source, LoopClock())
    able = Capabilities(continues=continues)
    backend = LineBackend(transport, server, f"lines:{name}", f"http://{name}", able, Timeouts(between=5.0))
    return Endpoint(server, transport, backend)


@dataclass
class Outcome:
    """What a reader had of one query."""

    text: str = ""
    ending: Ending | None = None
    fault: BackendFault | None = None
    at: float = 0.0


async def outcome(backend: Backend, query: Query) -> Outcome:
    """Read a query to its end."""
    found = Outcome()
    try:
        async for event in backend.stream(query):
            assert found.ending is None, "an event behind the end"
            if isinstance(event, Ending):
                found.ending = event
            else:
                found.text += event.text
    except BackendFault as fault:
        assert found.ending is None
        found.fault = fault
    found.at = LoopClock().now()
    return found


def reserved(accounts: Accounts) -> list[Any]:
    return [(each.tokens, each.cost) for each in accounts._reserved.values()]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    schedules=st.lists(SCHEDULES, min_size=1, max_size=2),
    queries=st.lists(
        st.tuples(st.booleans(), st.one_of(st.none(), st.floats(0.05, 60)), st.floats(0, 5)),
        min_size=1,
        max_size=6,
    ),
    retries=st.integers(0, 5),
    at_once=st.sampled_from([None, 1, 2]),
    hedge=st.sampled_from([None, 0.05, 1.0]),
    continues=st.booleans(),
)
def test_each_query_ends_once(
    schedules: list[list[Fault | None]],
    queries: list[tuple[bool, float | None, float]],
    retries: int,
    at_once: int | None,
    hedge: float | None,
    continues: bool,
) -> None:
    async def main() -> None:
        ends = [
            endpoint(Scheduled(schedule), str(number), continues=continues)
            for number, schedule in enumerate(schedules)
        ]
        accounts = Accounts()
        policy = Policy(retries=retries, limits=Limits(at_once=at_once), hedge=hedge)
        chain = guarded([end.backend for end in ends], policy, LoopClock(), accounts)
        asked = [
            replace(QUERY, purpose=f"row{number}", live=live, deadline=deadline)
            for number, (live, deadline, _) in enumerate(queries)
        ]

        async def later(query: Query, seconds: float) -> Outcome:
            await asyncio.sleep(seconds)
            return await outcome(chain, query)

        found = await asyncio.gather(
            *(later(query, seconds) for query, (_, _, seconds) in zip(asked, queries, strict=True))
        )
        sent: Counter[str] = sum((end.server.asked for end in ends), Counter())
        for query, (_, _, began), each in zip(asked, queries, found, strict=True):
            wanted = answer_of(query.purpose)
            assert wanted.startswith(each.text)
            if each.ending is not None:
                assert each.text == wanted and each.ending.attempts == sent[query.purpose]
                assert each.ending.answered_by in {end.backend.name for end in ends}
            else:
                assert each.fault is not None and each.fault.attempts == sent[query.purpose]
                assert wanted.startswith(each.fault.partial) and each.fault.partial.startswith(each.text)
            assert sent[query.purpose] <= (retries + 1) * len(ends) * (1 if hedge is None else 2)
            if query.deadline is not None:
                assert each.at <= max(query.deadline, began) + 1e-6
        assert all(end.server.open == 0 for end in ends)
        assert all(end.server.most_open <= (at_once or 99) for end in ends)
        assert sum(each.requests for each in accounts.spendings.values()) == sum(sent.values())
        assert all(each == (0, 0) for each in reserved(accounts))
        await asyncio.sleep(60.0)
        for end in ends:
            end.transport.source = Scheduled(())
        again = await outcome(chain, replace(QUERY, purpose="again"))
        assert again.ending is not None and again.text == answer_of("again")
        assert again.ending.attempts <= (1 if hedge != 0.05 else 2), "the breaker does not recover"

    run(main())


# -- a plain simulation ------------------------------------------------------------------------------


Expected = tuple[bool, int]
"""Whether a query is answered, and by how many requests."""


def simulated(schedule: list[Fault | None], queries: int, retries: int) -> set[tuple[Expected, ...]]:
    """What may come of queries one after the other at one endpoint that begins answers anew. Time is not
    simulated: where the breaker is open, its pause may be over when the next request is due, or not."""

    @lru_cache(None)
    def whole(
        query: int, failures: int, sent: int, waited: float, at: int, row: int, pause: float
    ) -> frozenset[Any]:
        """From the state before a request: `pause` is 0 where the breaker is closed, `waited` the most
        seconds that the query can have waited for it."""
        if query == queries:
            return frozenset({()})
        ways = request(query, failures, sent, waited + pause, at, row, pause)
        if waited + pause > LONGEST_OUTAGE:
            ways |= after(query, (False, sent), at, row, pause)
        return ways

    def request(
        query: int, failures: int, sent: int, waited: float, at: int, row: int, pause: float
    ) -> frozenset[Any]:
        fault = schedule[at] if at < len(schedule) else None
        if fault is None or fault.kind in HARMLESS:
            return after(query, (True, sent + 1), at + 1, 0, 0.0)
        if fault.kind == "status" and fault.status == 429:
            row, pause = 0, 0.0
        elif pause:
            row, pause = 0, min(60.0, 2 * pause)
        else:
            row, pause = (row + 1, 0.0) if row + 1 < IN_A_ROW else (0, 5.0)
        if failures >= retries:
            return after(query, (False, sent + 1), at + 1, row, pause)
        return whole(query, failures + 1, sent + 1, waited, at + 1, row, pause)

    def after(query: int, one: Expected, at: int, row: int, pause: float) -> frozenset[Any]:
        return frozenset((one, *rest) for rest in whole(query + 1, 0, 0, 0.0, at, row, pause))

    return set(whole(0, 0, 0, 0.0, 0, 0, 0.0))


@settings(max_examples=examples(60), deadline=None)
@given(
    schedule=st.lists(
        st.one_of(
            st.none(),
            st.builds(
                Fault,
                st.sampled_from(["drop", "shred", "delay", "cut", "truncate"]),
            ),
            st.builds(Fault, st.just("status"), st.sampled_from([429, 500])),
        ),
        max_size=16,
    ),
    queries=st.integers(1, 4),
    retries=st.integers(0, 6),
    live=st.booleans(),
)
def test_one_after_the_other_does_what_a_plain_simulation_may_do(
    schedule: list[Fault | None], queries: int, retries: int, live: bool
) -> None:
    async def main() -> tuple[Expected, ...]:
        end = endpoint(Scheduled(schedule), "one")
        chain = guarded([end.backend], Policy(retries=retries), LoopClock(), Accounts())
        found = []
        for number in range(queries):
            each = await outcome(chain, replace(QUERY, purpose=f"row{number}", live=live))
            found.append((each.ending is not None, end.server.asked[f"row{number}"]))
        return tuple(found)

    assert run(main()) in simulated(schedule, queries, retries)


# -- rows at the rates of the issue -------------------------------------------------------------------


def rows(count: int, seed: int, *, live: bool = False) -> tuple[int, int, float, Counter[str]]:
    """Rows at one endpoint, 16 at a time: answers, requests, seconds, and faults by kind."""

    async def main() -> tuple[int, int, float, Counter[str]]:
        end = endpoint(Seeded(ISSUE_RATES, seed), "one")
        accounts = Accounts()
        policy = Policy(limits=Limits(at_once=16), seed=seed)
        chain = guarded([end.backend], policy, LoopClock(), accounts)
        names = [f"row{number}" for number in range(count)]
        deadline = LoopClock().now() + 3600
        found = await asyncio.gather(
            *(outcome(chain, replace(QUERY, purpose=name, live=live, deadline=deadline)) for name in names)
        )
        right = sum(each.text == answer_of(name) for name, each in zip(names, found, strict=True))
        assert all(each.at <= deadline for each in found)
        sent = sum(end.server.asked.values())
        assert accounts.spendings["lines:one"].requests == sent and end.server.open == 0
        return right, sent, LoopClock().now(), Counter(end.transport.happened)

    return run(main())


@pytest.mark.slow
@pytest.mark.parametrize("live", [False, True])
def test_rows_at_the_rates_of_a_bad_day(live: bool) -> None:
    """A fifth of 429, a tenth of 5xx, a twentieth broken: every row, at most 1.6 requests each."""
    count = examples(300)
    right, sent, _, happened = rows(count, 2, live=live)
    assert right == count
    assert sent <= 1.6 * count, happened
    assert sum(happened.values()) > 0.3 * sent


def test_tables_do_not_grow_with_calls() -> None:
    async def main() -> None:
        end = endpoint(Seeded(ISSUE_RATES, 3), "one")
        accounts = Accounts()
        chain: Any = guarded([end.backend], Policy(hedge="p95"), LoopClock(), accounts)
        sizes = []
        for count in (210, 60, 60):
            for number in range(count):
                await outcome(chain, replace(QUERY, purpose=f"row{number % 10}", live=False))
            sizes.append(_size(chain) + _size(accounts))
        assert sizes[1] == sizes[2]

    run(main())


def _size(thing: Any, seen: set[int] | None = None) -> int:
    """Items of all containers that a policy's objects hold, backends left out."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, LineBackend):
        return 0
    seen.add(id(thing))
    if isinstance(thing, dict):
        return len(thing) + sum(_size(each, seen) for each in thing.values())
    if isinstance(thing, list | tuple | set) or type(thing).__name__ == "deque":
        return len(thing) + sum(_size(each, seen) for each in thing)
    if not type(thing).__module__.startswith(("sglc", "asyncio")):
        return 0
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    held = [getattr(thing, name, None) for name in slots] + list(getattr(thing, "__dict__", {}).values())
    return sum(_size(each, seen) for each in held)
