"""Random programs with random hints: calls that run ahead change nothing that can be seen but time.

`SGLC_TEST_EXAMPLES=10000 pytest tests/vm/tasks/test_tasks_random.py` is the long run.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.hashed_engine import HashedEngine
from seen import seen, streams_of
from sglc.bytecode.code import Program
from sglc.bytecode.verify import verified
from sglc.driver import lowered
from sglc.emit.program import emit
from sglc.options import CompileOptions
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import Limits, Run
from sglc.runtime.vm.state.tasks import Task
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from strategies.programs.hints import hinted
from strategies.programs.source_programs import SourceProgram, source_program, source_programs


def with_hints(program: SourceProgram, random: Random, level: int) -> Program:
    """The bytecode of a program with random hints."""
    module, _ = lowered(Source("random.sgl", program.text), CompileOptions(level=level))
    assert module is not None
    made, faults = verified(emit(hinted(module, random)))
    assert not faults, [fault.reason for fault in faults]
    return made


@pytest.mark.slow
@given(
    program=source_programs(),
    hints=st.integers(0, 1 << 30),
    seed=st.integers(0, 99),
    delays=st.integers(0, 5),
    turns=st.integers(0, 300),
)
@settings(max_examples=examples(12))
def test_a_run_that_is_cancelled_has_told_a_beginning_of_its_trace_and_ends_all_tasks(
    program: SourceProgram, hints: int, seed: int, delays: int, turns: int
) -> None:
    made = with_hints(program, Random(hints), 2)
    cancel_tells_a_beginning(made, program.arguments, seed, delays, turns)


def cancel_tells_a_beginning(
    made: Program, arguments: dict[str, object], seed: int, delays: int, turns: int
) -> None:
    """Cancel a run after so many turns of the loop; what it has told is what the whole run tells first."""
    whole = seen(made, arguments, HashedEngine(seed=seed, delays=delays), seed=seed, concurrency=0)
    engine = HashedEngine(seed=seed, delays=delays)
    told: list[Event] = []

    async def run() -> None:
        session = Session(made, engine)
        job = asyncio.create_task(session.run("main", arguments, seed=seed, trace=told.append))
        for _ in range(turns):
            await asyncio.sleep(0)
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()} and engine.running == 0

    asyncio.run(run())
    for branch, events in streams_of(told).items():
        events = [event for event in events if event[1].get("name") != "Cancelled"]
        assert events == whole.events.get(branch, [])[: len(events)]


@pytest.mark.parametrize("turns", range(0, 60, 4))
def test_a_walk_that_is_cancelled_has_no_outcome(turns: int) -> None:
    text = "fn main() -> str:\n    assistant: | ?{x: str max 4 chars temp 1 decode exact}\n    return x\n"
    made = with_hints(SourceProgram(text, {}, False), Random(0), 2)
    cancel_tells_a_beginning(made, {}, 4, 5, turns)


@pytest.mark.slow
@given(
    program=source_programs(),
    hints=st.integers(0, 1 << 30),
    seed=st.integers(0, 99),
    delays=st.integers(0, 5),
    faults=st.sampled_from([0, 0, 0, 20, 60]),
    max_tokens=st.sampled_from([None, None, 5, 20, 60, 200]),
    steps=st.sampled_from([None, None, None, 100, 300, 1000]),
    level=st.sampled_from([0, 1, 2]),
    concurrency=st.sampled_from([1, 2, 8]),
)
@settings(max_examples=examples(24))
def test_calls_that_run_ahead_change_nothing_but_time(
    program: SourceProgram,
    hints: int,
    seed: int,
    delays: int,
    faults: int,
    max_tokens: int | None,
    steps: int | None,
    level: int,
    concurrency: int,
) -> None:
    if program.forks:  # branches that share a budget or steps race for them in any case
        max_tokens = steps = None
    made = with_hints(program, Random(hints), level)
    limits = None if steps is None else Limits(steps=steps)
    runs = [
        seen(
            made,
            program.arguments,
            HashedEngine(seed=seed, delays=delays, faults=faults),
            limits=limits,
            seed=seed,
            max_tokens=max_tokens,
            concurrency=ahead,
        )
        for ahead in (0, concurrency)
    ]
    assert runs[1] == runs[0]


@pytest.mark.slow
def test_random_programs_do_what_the_properties_are_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of runs with hints, budgets and faults, at least so many in a hundred meet each kind of event."""
    joined: list[bool] = []
    fits = Task.fits

    def watched(task: Task, run: Run) -> bool:
        joined.append(fits(task, run))
        return joined[-1]

    monkeypatch.setattr(Task, "fits", watched)
    counts: Counter[str] = Counter()
    for index in range(100):
        random = Random(index)
        program = source_program(random)
        tight = None if program.forks else random.choice([None, 5, 20, 60, 200])
        engine = HashedEngine(seed=1, delays=random.randrange(6), faults=random.choice([0, 0, 0, 40]))
        joined.clear()
        result = seen(with_hints(program, random, 2), program.arguments, engine, max_tokens=tight, seed=1)
        kinds = {kind for stream in result.events.values() for kind, *_ in stream}
        met = {"join": any(joined), "join refused": not all(joined), "overlap": engine.most_running > 2}
        met |= {"comprehension": " for x_" in program.text, "value": result.error is None}
        met |= {"branches with joins": len(result.events) > 1 and any(joined)}
        met |= {"retry with joins": "retry" in kinds and any(joined)}
        met |= {kind: kind in kinds for kind in ("retry", "check", "fork", "adopt", "error")}
        counts.update(name for name, it in met.items() if it)
        counts[str(result.error and result.error[0])] += 1
    least = {"join": 45, "join refused": 1, "overlap": 15, "comprehension": 80, "value": 30, "error": 40}
    least |= {"branches with joins": 8, "retry with joins": 4, "retry": 6, "check": 7, "fork": 12, "adopt": 7}
    least |= {"Failure": 10, "Odd": 5, "Rejected": 3, "Budget": 1, "Backend": 3, "Truncated": 2}
    assert {name: counts[name] for name, share in least.items() if counts[name] < share} == {}
