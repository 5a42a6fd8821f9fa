"""Sessions: time limits with partial results, prompts that are read once, statistics, runs side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fakes.small_models import FickleModel
from sglc.driver import compile_source
from sglc.runtime.engine.core.errors import DeadlinePassed
from sglc.runtime.engine.reference_engine import IDLE_BRANCHES, ReferenceEngine
from sglc.runtime.errors import SglError, diagnostic_of
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.model.scripted import ScriptedCache, ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.types.type import Int, Named, Str
from strategies.vm_programs import Assembler, assembler, fork_program, hole_program


class SlowModel(ScriptedModel):
    """A scripted model whose passes take a while."""

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        time.sleep(0.02)
        return super().forward(cache, tokens, every)


def test_a_timeout_keeps_what_was_written() -> None:
    engine = ReferenceEngine(SlowModel(["a very long answer that takes its time"]))
    built = assembler()
    hole = built.hole("f.x", Str(max_chars=60))
    built.code("f", [("ROLE", "assistant"), ("TEXT", "Well: "), ("GEN", hole, 0), ("END_ROLE",), ("RETURN",)])
    with pytest.raises(SglError, match=r"longer than 0\.3 s") as caught:
        asyncio.run(Session(built.program(), engine).run("f", {}, timeout=0.3))
    engine.close()
    partial = caught.value.partial
    assert caught.value.name == "Timeout"
    assert partial and partial != "a very long answer that takes its time"
    assert partial == "Well: " or "a very long answer that takes its time".startswith(partial)


def test_a_deadline_that_the_engine_sees_is_the_run_s_timeout() -> None:
    """Whoever notices first, the message is one, and no handler keeps the run going."""

    class Late(ScriptedModel):
        def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
            raise DeadlinePassed("the answer was not there before its deadline")

    built = assembler()
    hole = built.hole("f.x", Str(max_chars=60))
    built.code("f", [("ROLE", "assistant"), ("TEXT", "Well: "), ("GEN", hole, 0), ("END_ROLE",), ("RETURN",)])
    with pytest.raises(SglError) as caught:
        asyncio.run(Session(built.program(), ReferenceEngine(Late(["x"]))).run("f", {}, timeout=30.0))
    error = caught.value
    assert (error.name, error.message, error.fatal) == ("Timeout", "the run took longer than 30 s", True)
    assert error.partial == "Well: ", "nothing had come of the value: the message as it was"


def test_an_error_is_a_diagnostic_that_points_at_the_source() -> None:
    built = assembler()
    built.code("f", [("CONSTANT", 1), ("CONSTANT", 0), ("BINARY", "/"), ("RETURN",)])
    program = built.program()
    with pytest.raises(SglError) as caught:
        asyncio.run(Session(program, ReferenceEngine(ScriptedModel())).run("f"))
    found = diagnostic_of(caught.value, program)
    assert found.code == "E0710" and found.message == "Failure: division by zero"
    assert found.span is not None or "hand.sgl:3:1" in found.reason


def long_prompt() -> Assembler:
    built = assembler()
    hole = built.hole("f.x", Int(0, 9))
    built.code(
        "f",
        [
            ("ROLE", "user"),
            ("TEXT", "the same long prompt " * 20),
            ("LOAD", "theme"),
            ("INSERT",),
            ("END_ROLE",),
            ("ROLE", "assistant"),
            ("GEN", hole, 0),
            ("END_ROLE",),
            ("RETURN",),
        ],
        parameters={"theme": Str()},
    )
    return built


def test_prompts_that_begin_alike_are_read_once() -> None:
    engine: ReferenceEngine = ReferenceEngine(FickleModel())
    session = Session(long_prompt().program(), engine)
    asyncio.run(session.run("f", {"theme": "a"}))
    first = engine.statistics.tokens_fed
    values = [asyncio.run(session.run("f", {"theme": theme})).value for theme in "bcd"]
    fed = engine.statistics.tokens_fed - first
    engine.close()
    assert fed < first
    fresh = [
        asyncio.run(
            Session(long_prompt().program(), ReferenceEngine(FickleModel())).run("f", {"theme": theme})
        ).value
        for theme in "bcd"
    ]
    assert values == fresh


def test_idle_branches_are_few() -> None:
    engine = ReferenceEngine(ScriptedModel({"x": "1"}))
    session = Session(hole_program(Int(0, 9)).program(), engine)

    async def many() -> None:
        await asyncio.gather(*(session.run("f") for _ in range(50)))

    asyncio.run(many())
    engine.close()
    assert 0 < len(engine._idle) <= IDLE_BRANCHES


def test_statistics_count_what_was_done() -> None:
    engine = ReferenceEngine(ScriptedModel([{"name": "Rex", "age": 3}]))
    result = asyncio.run(Session(hole_program(Named("Pet")).program(), engine).run("f"))
    engine.close()
    statistics = result.statistics
    assert statistics.holes == 1
    assert statistics.forwards == statistics.sampled_tokens == len(statistics.timing.outside) == 6
    assert statistics.output_tokens == len('{"name": "Rex", "age": 3}')
    assert statistics.forced_tokens == statistics.output_tokens - statistics.sampled_tokens
    assert statistics.outside_median_ms > 0 and statistics.seconds > 0


def test_runs_with_forks_side_by_side_do_not_mix() -> None:
    engine = ReferenceEngine(FickleModel())
    session = Session(fork_program().program(), engine)

    async def run(seed: int) -> Any:
        return (await session.run("f", seed=seed)).value

    async def together() -> list[Any]:
        return await asyncio.gather(*(run(seed) for seed in range(20)))

    alone = [asyncio.run(run(seed)) for seed in range(20)]
    assert asyncio.run(together()) == alone
    engine.close()


def test_the_constant_beginning_of_a_function_is_tokenised_before_it_runs() -> None:
    text = (
        "fn f(x: int) -> int:\n"
        "    system: | You count.\n"
        "    user: | Say ${x}.\n"
        "    assistant: | ?{n: int in 0..9}\n"
        "    return n\n"
    )
    program = compile_source(Source("count.sgl", text)).program
    assert program is not None
    model = ScriptedModel(["7"])
    asked: list[str] = []
    encode = model.tokenizer.encode
    model.tokenizer.encode = lambda text: (asked.append(text), encode(text))[1]  # type: ignore[method-assign]
    session = Session(program, ReferenceEngine(model))
    assert any("You count." in text for text in asked)
    before = [text for text in asked if "You count." in text]
    result = asyncio.run(session.run("f", {"x": 3}))
    assert result.value == 7
    assert [text for text in asked if "You count." in text] == before


@pytest.mark.parametrize("kind", ["start", "hole_start", "token", "hole_end", "error", "finish"])
@pytest.mark.parametrize("wrong", [KeyError("mine"), TimeoutError("mine"), OSError("mine")])
def test_what_a_listener_raises_ends_its_run_as_it_is(kind: str, wrong: Exception) -> None:
    class Failing:
        def __call__(self, event: Event) -> None:
            if event.kind == kind:
                raise wrong

    engine = ReferenceEngine(ScriptedModel(["7", "7"]))
    collector = Collector()
    session = Session(hole_program(Int(0, 9)).program(), engine, recorder=collector)
    with pytest.raises(type(wrong), match="mine") as raised:
        limit = 0 if kind == "error" else None
        asyncio.run(session.run("f", trace=Failing(), max_tokens=limit))
    assert raised.value is wrong
    assert collector.running == 0
    engine.close()
