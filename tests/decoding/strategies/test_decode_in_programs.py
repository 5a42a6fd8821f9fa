"""`decode` in programs: records and events, samples, budgets, retries, and what is refused at run time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fakes.fake_executor import FakeExecutor
from fakes.hashed_engine import HashedEngine
from fakes.small_models import FickleModel, small_tokenizer
from sglc.driver import compile_source
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

ENGINES: list[Callable[[], Any]] = [
    lambda: HashedEngine(seed=2),
    lambda: HashedEngine(seed=2, delays=3),
    lambda: ReferenceEngine(FickleModel(1)),
]


def session(
    options: str, engine: Any, more: str = "", result: str = "int", head: str = "", most: int = 400
) -> Session:
    """With `most` above 1,024 there are too many values to be scored at once: `decode exact` walks."""
    text = (
        f"pub fn f(heat: float = 0.0) -> {result}{head}:\n    user: | how many?\n"
        f"    assistant: | Well: ?{{x: int in 1..{most} {options}}}\n{more}    return x\n"
    )
    compiled = compile_source(Source("p.sgl", text))
    assert compiled.program is not None, compiled.diagnostics
    return Session(compiled.program, engine)


def run(made: Session, seed: int = 0, **options: Any) -> RunResult:
    return asyncio.run(made.run("f", {}, seed=seed, **options))


@pytest.mark.parametrize("engine", ENGINES)
def test_events_tell_walks_particles_and_beams(engine: Callable[[], Any]) -> None:
    heard: list[Event] = []
    found = run(session("temp 1.0 decode exact", engine(), most=4000), on_event=heard.append)
    walks = [event.data for event in heard if event.kind == "walk"]
    assert [walk["walk"] for walk in walks] == list(range(found.holes[0].walks or 0))
    assert [walk["outcome"] for walk in walks] == ["illegal"] * (len(walks) - 1) + ["kept"]
    assert walks[-1]["text"] == found.holes[0].text and "weight" not in walks[-1]
    heard.clear()
    found = run(session("temp 1.0 decode smc(4)", engine()), on_event=heard.append)
    walks = [event.data for event in heard if event.kind == "walk"]
    assert len(walks) == 4 and [walk["text"] for walk in walks if walk["outcome"] == "kept"] == [
        found.holes[0].text
    ]
    assert all(isinstance(walk["weight"], float) for walk in walks if walk["outcome"] != "illegal")
    heard.clear()
    found = run(session("decode beam(3)", engine()), on_event=heard.append)
    steps = [event.data for event in heard if event.kind == "beam"]
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1)) and steps
    assert all(len(step["texts"]) == len(step["scores"]) <= 3 for step in steps)
    assert any(found.holes[0].text.startswith(text) for text in steps[0]["texts"]) or not steps[0]["texts"]
    heard.clear()
    run(session("decode beam(3)", engine()), on_event=heard.append, detailed=False)
    assert not any(event.kind in ("walk", "beam") for event in heard)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("decode", "told", "silent"),
    [
        ("temp 1.0 decode exact", {"walks", "bound"}, {"weight", "ess", "ancestors", "proved"}),
        ("temp 1.0 decode smc(4)", {"weight", "ess", "ancestors"}, {"walks", "bound", "proved"}),
        ("decode beam(3)", {"proved"}, {"walks", "bound", "weight", "ess", "ancestors"}),
        ("temp 1.0 decode local", set(), {"walks", "bound", "weight", "ess", "ancestors", "proved"}),
    ],
)
def test_records_and_events_tell_what_a_strategy_found(
    engine: Callable[[], Any], decode: str, told: set[str], silent: set[str]
) -> None:
    events: list[Event] = []
    result = run(session(decode, engine(), most=4000), on_event=events.append, detailed=True)
    record = result.holes[0]
    end = next(event.data for event in events if event.kind == "hole_end")
    for name in told:
        figure = getattr(record, name)
        assert figure is not None
        assert end[name] == (round(figure, 4) if isinstance(figure, float) else figure)
    for name in silent:
        assert getattr(record, name) is None and name not in end
    pieces = "".join(e.data["text"] for e in events if e.kind in ("generated", "forced"))
    tokens = [event for event in events if event.kind == "token"]
    assert pieces == record.text == str(result.value)
    assert tokens and "".join(e.data["text"] for e in tokens).strip() in record.text


@pytest.mark.parametrize("engine", ENGINES)
def test_few_values_are_scored_without_a_walk(engine: Callable[[], Any]) -> None:
    events: list[Event] = []
    made = session("temp 1.0 decode exact", engine(), most=40)
    result = run(made, on_event=events.append, detailed=True, pressure=True)
    end = next(event.data for event in events if event.kind == "hole_end")
    assert (end["ended"], end["walks"], end["text"]) == ("choose", 0, str(result.value))
    record = result.holes[0]
    assert record.bound is not None and record.bound < 0 and record.pressure == -record.bound
    assert end["bound"] == round(record.bound, 4) and record.sampled == end["sampled"] > 0
    assert not any(event.kind in ("walk", "token") for event in events)
    assert "".join(event.data["text"] for event in events if event.kind == "generated") == record.text


def test_few_values_take_two_steps_of_the_engine() -> None:
    """The prompt with the first place, and all others; samples compute the prompt before them."""
    steps = []
    for options in ("", "n 3 ", "n 9 "):
        executor = FakeExecutor(small_tokenizer())
        engine = open_engine(executor, memory=executor.block_bytes * 2000)
        result = "[int]" if options else "int"
        found = run(session(f"temp 1.0 {options}decode exact", engine, result=result, most=40))
        engine.close()
        assert found.holes[0].sampled > 2
        steps.append(engine.statistics.forwards)
    assert steps == [2, 3, 3]


@pytest.mark.parametrize("decode", ["temp 1.0 decode exact", "temp 1.0 decode smc(4)", "decode beam(3)"])
def test_results_depend_on_tokens_and_seeds_alone(decode: str) -> None:
    seen = [run(session(decode, HashedEngine(seed=3, delays=delays)), 5).value for delays in (0, 1, 4)]
    assert len(set(seen)) == 1


def test_local_takes_the_place_of_every_strategy() -> None:
    for seed in range(10):
        local = run(session("temp 1.0", HashedEngine()), seed).value
        for decode in ("temp 1.0 decode exact", "temp 1.0 decode smc(4)"):
            found = run(session(decode, HashedEngine()), seed, decode="local")
            assert found.value == local and found.holes[0].walks is None
    assert run(session("decode beam(2)", HashedEngine()), decode="local").holes[0].proved is None


@pytest.mark.parametrize("most", [40, 4000])
def test_samples_share_a_tree(most: int) -> None:
    made = session("temp 1.0 n 6 decode exact", HashedEngine(seed=2), result="[int]", most=most)
    alone = [run(session("temp 1.0 decode exact", HashedEngine(seed=2), most=most), s) for s in range(6)]
    together = run(made)
    assert len(together.value) == 6
    assert together.statistics.sampled_tokens < sum(each.statistics.sampled_tokens for each in alone)
    assert together.holes[0].text == alone[0].holes[0].text


def test_beams_give_different_samples_from_one_search() -> None:
    found = run(session("n 3 decode beam(5)", HashedEngine(seed=2), result="[int]"))
    assert len(set(found.value)) == 3 and len(found.holes) == 1
    assert found.value[0] == run(session("decode beam(5)", HashedEngine(seed=2))).value
    with pytest.raises(SglError) as caught:
        run(session("where x < 3 n 3 decode beam(5)", HashedEngine(seed=2), result="[int]"))
    assert caught.value.name == "Unsatisfiable"


@pytest.mark.parametrize("decode", ["temp 1.0 decode exact", "temp 1.0 decode smc(4)", "decode beam(3)"])
def test_tokens_of_all_texts_count_against_budgets(decode: str) -> None:
    for seed in range(20):
        whole = run(session(decode, HashedEngine(seed=seed), most=4000), seed)
        if whole.statistics.sampled_tokens > 3:
            break
    most = whole.statistics.sampled_tokens + 4
    again = run(session(decode, HashedEngine(seed=seed), most=4000), seed, max_tokens=most)
    assert again.value == whole.value
    # One token is enough for the first beam, which may end with it.
    if decode.endswith("beam(3)"):
        return
    with pytest.raises(SglError) as caught:
        run(session(decode, HashedEngine(seed=seed), head=" within 1 tok", most=4000), seed)
    assert caught.value.name == "Truncated"


@pytest.mark.parametrize("decode", ["temp 1.0 decode exact", "temp 1.0 decode smc(4)", "decode beam(3)"])
def test_a_retry_draws_another_value(decode: str) -> None:
    first = run(session(decode, HashedEngine(seed=2))).value
    more = f'    ensure x != {first} else "not this"\n        retry 2 resample\n'
    again = run(session(decode, HashedEngine(seed=2), more))
    assert again.value != first and again.statistics.retries == 1


@pytest.mark.parametrize("decode", ["temp 1.0 decode exact", "temp 1.0 decode smc(4)", "decode beam(3)"])
def test_a_scripted_model_writes_its_answer(decode: str) -> None:
    made = session(decode, ReferenceEngine(ScriptedModel({"x": "37"})))
    assert run(made).value == 37


@pytest.mark.parametrize("decode", ["decode exact", "decode smc(4)"])
def test_a_temperature_that_is_0_at_run_time_is_refused(decode: str) -> None:
    with pytest.raises(SglError) as caught:
        run(session(f"temp heat {decode}", HashedEngine()))
    assert caught.value.name == "Unsupported" and "its temperature is 0" in caught.value.message


@pytest.mark.parametrize(
    "decode",
    ["temp 1.0 decode exact", "temp 1.0 n 3 decode exact", "temp 1.0 decode smc(6)", "decode beam(4)"],
)
def test_memory_is_given_back(decode: str) -> None:
    executor = FakeExecutor(small_tokenizer())
    engine = open_engine(executor, memory=executor.block_bytes * 2000)
    made = session(decode, engine, result="[int]" if " n 3" in decode else "int")
    for seed in range(4):
        try:
            run(made, seed)
        except SglError as error:
            assert error.name == "Budget"
    engine.close()
    assert engine.cache.stats().sequences == 0


@pytest.mark.parametrize("decode", ["temp 1.0 decode exact", "temp 1.0 decode smc(4)", "decode beam(3)"])
def test_a_run_that_is_cancelled_leaves_nothing_behind(decode: str) -> None:
    engine = HashedEngine(seed=2, delays=5)
    opened: list[Any] = []
    released: list[Any] = []
    engine.forked = lambda branch, copy: opened.append(copy)  # type: ignore[method-assign]
    engine.released = released.append  # type: ignore[method-assign, assignment]

    async def cancelled() -> None:
        task = asyncio.ensure_future(session(decode, engine).run("f", {}, seed=1))
        for _ in range(6):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert opened and set(map(id, opened)) <= set(map(id, released))
