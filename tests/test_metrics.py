"""Accounts of runs: by hole, by function, in all; counted once however runs overlap, fail or fork."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.driver import compile_file
from sglc.options import CompileOptions
from sglc.runtime.engine.branch import Branch
from sglc.runtime.engine.engine import Engine
from sglc.runtime.engine.statistics import Statistics
from sglc.runtime.errors import SglError
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.figures import BOUNDS, Histogram
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session

PROGRAM = """\
enum Mood: calm, furious

error Angry(text: str)

fn feel(text: str) -> Mood:
    user: | ${text}
    assistant: | ?{mood: select Mood}
    return mood.top

fn f(text: str) -> int raises Angry:
    user: | ${text}
    assistant:
        | ?{n: int in 100..999} and
        | ?{word: str max 8 chars}
    if feel(text) == furious:
        raise Angry(text)
    return n

fn wide() -> int:
    user: | x
    let all = fork i in 0..3:
        assistant: | ?{n: int in 100..999}
        yield n
    return 1
"""


@pytest.fixture
def program(tmp_path: Path) -> Any:
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM, encoding="utf-8")
    compiled = compile_file(path, CompileOptions())
    assert compiled.program is not None, compiled.diagnostics
    return compiled.program


def session(program: Any, collector: Collector, answers: dict[str, Any] | None = None) -> Session:
    return Session(program, Engine(ScriptedModel(answers or {})), recorder=collector)


# -- histograms ----------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1000, allow_nan=False), min_size=1), st.floats(0.01, 1))
def test_a_quantile_lies_in_the_bucket_of_the_true_one(values: list[float], share: float) -> None:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    true = sorted(values)[max(0, -(-len(values) * share // 1).__int__() - 1)]
    edges = (0.0, *BOUNDS, float("inf"))
    index = next(i for i in range(1, len(edges)) if true <= edges[i])
    found = histogram.quantile(share)
    assert edges[index - 1] <= found <= min(edges[index], max(values)) or found == pytest.approx(true)
    assert histogram.count == len(values) and histogram.cumulative()[-1] == ("+Inf", len(values))
    assert [size for _, size in histogram.cumulative()][:-1] == [sum(v <= b for v in values) for b in BOUNDS]


# -- a hole's own work ---------------------------------------------------------------------------------


def test_work_apart_is_told_for_itself_and_counts_on() -> None:
    branch: Branch = Engine(ScriptedModel()).branch()
    branch.append([1, 2, 3])

    async def go() -> tuple[Statistics, Statistics]:
        await branch.logits()
        with branch.apart() as first:
            branch.append([4])
            await branch.logits()
        with pytest.raises(ZeroDivisionError), branch.apart() as second:
            branch.append([5, 6])
            await branch.logits()
            raise ZeroDivisionError
        return first, second

    first, second = asyncio.run(go())
    assert (first.forwards, first.tokens_fed, second.forwards, second.tokens_fed) == (1, 1, 1, 2)
    assert (branch.statistics.forwards, branch.statistics.tokens_fed) == (3, 6)


# -- the collector -------------------------------------------------------------------------------------


def test_every_hole_and_function_has_figures(program: Any) -> None:
    collector = Collector()
    joined = session(program, collector, {"n": 123, "word": "hello", "mood": "calm"})

    async def go() -> None:
        await asyncio.gather(*(joined.run("f", {"text": f"t{i}"}) for i in range(5)))

    asyncio.run(go())
    assert set(collector.holes) == {"f.n", "f.word", "feel.mood"}
    n, word, mood = (collector.holes[name] for name in ("f.n", "f.word", "feel.mood"))
    assert (n.fillings, n.tokens, n.sampled, n.failures) == (5, 15, 15, 0)
    assert word.fillings == 5 and word.tokens == 25 and word.prompt > n.prompt
    assert mood.mode == "select" and mood.fillings == 5 and mood.forwards > 0
    assert n.forwards == 15 and n.mask_seconds > 0 and n.seconds.count == 5
    assert collector.tokens == 40 and collector.total().fillings == 15
    assert collector.of_function("f").tokens == 40 and collector.of_function("feel").forwards == mood.forwards
    f = collector.functions["f"]
    assert (f.calls, f.runs, f.outcomes, collector.running) == (5, 5, {"ok": 5}, 0)
    assert collector.functions["feel"].calls == 5 and collector.functions["feel"].runs == 0
    assert collector.first_hole is not None


def test_the_work_of_holes_adds_up_to_the_engine_s(program: Any) -> None:
    collector = Collector()
    joined = session(program, collector, {"n": [123, 124, 125, 126], "word": "hello", "mood": "calm"})
    asyncio.run(joined.run("wide", {}))
    asyncio.run(joined.run("f", {"text": "a"}))
    engine = joined.engine
    assert engine is not None
    shared_prompt = 1  # the fork's prompt is read before its branches begin
    assert collector.total().forwards == engine.statistics.forwards - shared_prompt
    assert collector.holes["wide.n"].fillings == 3


def test_errors_are_counted_by_name(program: Any) -> None:
    collector = Collector()
    joined = session(program, collector, {"n": 123, "word": "hello", "mood": "furious"})
    with pytest.raises(SglError):
        asyncio.run(joined.run("f", {"text": "a"}))
    with pytest.raises(SglError):
        asyncio.run(joined.run("f", {"text": "a"}, max_tokens=1))

    async def cancelled() -> None:
        task = asyncio.create_task(joined.run("f", {"text": "a"}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    outcomes = collector.functions["f"].outcomes
    assert outcomes["Angry"] == 1 and outcomes["Cancelled"] == 1 and sum(outcomes.values()) == 3
    assert collector.holes["f.n"].failures == 2 and collector.running == 0


def test_a_test_of_a_program_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "p.sgl"
    path.write_text(
        PROGRAM + '\ntest "t":\n    mock f.n = 100\n    mock f.word = "x"\n    mock feel.mood = calm\n'
        '    expect f(text = "a") == 100\n',
        encoding="utf-8",
    )
    compiled = compile_file(path, CompileOptions())
    assert compiled.program is not None, compiled.diagnostics
    collector = Collector()
    joined = session(compiled.program, collector)
    assert asyncio.run(joined.run_test("t")).passed
    assert not collector.holes and not collector.functions
