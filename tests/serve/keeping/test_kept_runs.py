"""The memory of kept runs: counted to the byte, bounded, and nothing dropped that nobody has had."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.runtime.serve.keeping.kept_runs import RUN_BYTES, Kept, KeptRuns, NoRoom
from sglc.runtime.serve.keeping.log import EVENT_BYTES, KEPT_BYTES, KEPT_EVENTS, Log

TENANTS = ("a", "b", "c")


@dataclass
class Held:
    """A run as the test knows it, in its own books."""

    tenant: str
    log: Log
    kept: Kept | None = None
    told: list[int] = field(default_factory=list)
    """Sizes of its events."""
    watched: bool = True
    had: bool = False
    dropped: bool = False
    forgotten: bool = False


def _data(size: int) -> str:
    return "x" * size


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["enter", "enter", "enter", "tell", "tell", "leave", "watch", "had", "forget"]),
        st.integers(0, 40),
        st.integers(0, 9000),
    ),
    max_size=120,
)


@settings(max_examples=examples(150), deadline=None)
@given(OPERATIONS, st.integers(RUN_BYTES, 60_000), st.integers(RUN_BYTES, 60_000))
def test_bytes_are_those_of_the_runs_and_within_the_bounds(
    operations: list[tuple[str, int, int]], most: int, share: int
) -> None:
    """The oracle is what the logs of all runs that were not given up hold, added up."""
    kept = KeptRuns(most, share, clock=lambda: 0.0)
    runs: list[Held] = []

    def drop(run: Held) -> None:
        assert run.had and not run.watched, "a run was dropped that somebody watches or nobody has had"
        run.dropped = True

    for what, at, size in operations:
        there = [run for run in runs if not run.dropped and not run.forgotten]
        if what == "enter":
            made = Held(TENANTS[at % 3], Log())
            try:
                made.kept = kept.enter(made.tenant, made.log, lambda run=made: drop(run))
            except NoRoom as full:
                assert full.after > 0 and full.bytes in (most, min(share, most))
                mine = kept.bytes_of(made.tenant)
                assert mine + RUN_BYTES > min(share, most) or kept.bytes + RUN_BYTES > most
                assert not any(
                    run.had and not run.watched and run.tenant == made.tenant
                    for run in runs
                    if not run.dropped and not run.forgotten
                ), "a call was refused while its own tenant had something to give"
            else:
                runs.append(made)
        elif there:
            run = there[at % len(there)]
            assert run.kept is not None
            if what == "tell":
                run.log.put("text", _data(size))
            elif what == "leave":
                run.watched = False
                kept.leave(run.kept, 10.0)
            elif what == "watch":
                run.watched = True
                kept.watch(run.kept)
            elif what == "had":
                run.had = True
                kept.had(run.kept)
            else:
                run.forgotten = True
                kept.forget(run.kept)
        _check(kept, runs, most, share)
    for run in runs:
        if run.kept is not None:
            kept.forget(run.kept)
            kept.forget(run.kept)  # twice is once
            run.log.put("value", "late")
    assert (kept.bytes, len(kept)) == (0, 0) and not any(map(kept.bytes_of, TENANTS))


def _check(kept: KeptRuns, runs: list[Held], most: int, share: int) -> None:
    there = [run for run in runs if not run.dropped and not run.forgotten]
    assert len(kept) == len(there)
    held = {tenant: 0 for tenant in TENANTS}
    for run in there:
        held[run.tenant] += RUN_BYTES + run.log.bytes
    assert {tenant: kept.bytes_of(tenant) for tenant in TENANTS} == held
    assert kept.bytes == sum(held.values())
    # beyond the bounds lie only runs that are watched, and the newest event of each other one
    firm = {tenant: 0 for tenant in TENANTS}
    for run in there:
        if run.watched:
            firm[run.tenant] += RUN_BYTES + run.log.bytes
        else:
            firm[run.tenant] += RUN_BYTES + EVENT_BYTES + 9100
    for tenant in TENANTS:
        assert held[tenant] <= max(min(share, most), firm[tenant])
    assert sum(held.values()) <= max(most, sum(firm.values()))


def test_a_run_that_is_watched_stays_though_its_end_was_had() -> None:
    """As where a second client comes back to it."""
    kept = KeptRuns(RUN_BYTES, RUN_BYTES)
    dropped: list[int] = []
    run = kept.enter("a", Log(), lambda: dropped.append(1))
    kept.leave(run, math.inf)
    kept.had(run)
    kept.watch(run)
    with pytest.raises(NoRoom):
        kept.enter("a", Log(), lambda: None)
    kept.leave(run, math.inf)
    kept.enter("a", Log(), lambda: None)
    assert dropped == [1]


def test_the_oldest_run_that_was_had_gives_its_room() -> None:
    kept = KeptRuns(4 * RUN_BYTES, 4 * RUN_BYTES)
    dropped: list[int] = []
    runs = [kept.enter("a", Log(), lambda number=number: dropped.append(number)) for number in range(4)]
    for number in (2, 1):
        kept.had(runs[number])
        kept.leave(runs[number], math.inf)
    for _ in range(2):
        kept.enter("b", Log(), lambda: None)
    assert dropped == [2, 1] and kept.dropped == 2


def test_a_refusal_says_when_the_first_run_will_have_run_out() -> None:
    kept = KeptRuns(2 * RUN_BYTES, RUN_BYTES, clock=lambda: 100.0)
    first = kept.enter("a", Log(), lambda: None)
    kept.leave(first, 107.0)
    with pytest.raises(NoRoom) as full:
        kept.enter("a", Log(), lambda: None)
    assert (full.value.after, full.value.bytes, kept.refused) == (7.0, RUN_BYTES, 1)
    kept.enter("b", Log(), lambda: None)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(0, 2_000_000), max_size=30), st.integers(0, 3_000_000))
def test_a_log_loses_its_oldest_events_and_tells_which(sizes: list[int], trimmed: int) -> None:
    log = Log()
    for size in sizes:
        log.put("text", _data(size))
    log.put("value", "1")
    assert log.bytes <= KEPT_BYTES
    before = log.bytes
    freed = log.trim(trimmed)
    assert log.bytes == before - freed and (freed >= trimmed or log.bytes < 1000)
    left = asyncio.run(log.after(0))
    assert [each.number for each in left] == list(range(log.lost + 1, len(sizes) + 2))
    assert sum(each.bytes for each in left) == log.bytes and left[-1].last


def test_a_log_has_a_bound_on_its_events() -> None:
    log = Log()
    for _ in range(KEPT_EVENTS + 10):
        log.put("text", "")
    assert log.lost == 10


def test_what_is_new_is_read_at_the_lull() -> None:
    async def job() -> None:
        lull = asyncio.Event()

        async def wait() -> None:
            await lull.wait()

        log = Log(wait)
        reading = asyncio.ensure_future(log.after(0))
        await asyncio.sleep(0)
        log.put("generated", "1")
        for _ in range(5):
            await asyncio.sleep(0)
        assert not reading.done()
        log.put("generated", "2")
        lull.set()
        assert [each.data for each in await reading] == ["1", "2"]

    asyncio.run(job())
