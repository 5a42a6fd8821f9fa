"""`using a or b`: which model is asked, what counts as its failure, and what stays of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from sglc.bytecode.disasm import disassemble
from sglc.bytecode.serial import dumps, loads
from sglc.driver import compile_source
from sglc.runtime.engine.core.errors import (
    ContextOverflow,
    DeadlinePassed,
    EngineFault,
    MemoryFull,
    QueueFull,
    StepFailed,
)
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.model.scripted import ScriptedCache, ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.holes.chains import model_failed
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source


class Broken(ScriptedModel):
    """A scripted model whose passes fail after some of them."""

    def __init__(self, answers: Sequence[str], passes: int = 0) -> None:
        super().__init__(answers)
        self.left = passes

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        self.left -= 1
        if self.left < 0:
            raise StepFailed("the card is gone")
        return super().forward(cache, tokens, every)


CHAIN = """pub fn f() -> str using big or main:
    user: | q
    assistant:
        | ?{a: line max 9 chars}
        | ?{b: choose ["yes", "no"]}
        | ?{c: select ["up", "down"]}
    return "${a} ${b} ${c.top}"
"""


def _run(
    text: str, main: ScriptedModel, models: Mapping[str, ScriptedModel]
) -> tuple[RunResult, list[Event]]:
    program = compile_source(Source("p.sgl", text)).program
    assert program is not None
    events: list[Event] = []
    engines = {name: ReferenceEngine(model) for name, model in models.items()}
    engine = ReferenceEngine(main)
    try:
        session = Session(program, engine, models=engines)
        return asyncio.run(session.run("f", {}, on_event=events.append)), events
    finally:
        for each in (engine, *engines.values()):
            each.close()


def _asked(events: list[Event]) -> list[Any]:
    return [event.data.get("model") for event in events if event.kind == "hole_start"]


def test_the_first_model_that_is_given_is_asked() -> None:
    both, events = _run(CHAIN, ScriptedModel(["m", "no", "down"]), {"big": ScriptedModel(["b", "yes", "up"])})
    assert (both.value, _asked(events)) == ("b yes up", ["big"] * 3)
    one, events = _run(CHAIN, ScriptedModel(["m", "no", "down"]), {})
    assert (one.value, _asked(events)) == ("m no down", ["main"] * 3)


def test_a_model_that_fails_is_taken_back_and_the_next_is_asked() -> None:
    big = Broken(["begins"], passes=3)
    result, events = _run(CHAIN, ScriptedModel(["main", "no", "down"]), {"big": big})
    assert result.value == "main no down"
    assert _asked(events) == ["big", "main"] * 3
    failed = [event.data for event in events if event.kind == "fallback"]
    assert [each["hole"] for each in failed] == ["f.a", "f.b", "f.c"]
    assert {(each["model"], each["name"]) for each in failed} == {("big", "Backend")}
    assert "the card is gone" in failed[0]["message"]
    assert "begins" not in result.text and result.text.count("main") == 1
    assert [record.text for record in result.holes] == ["main", "no", "down"]


def test_the_error_of_the_last_model_is_the_hole_s() -> None:
    with pytest.raises(SglError, match="the card is gone") as caught:
        _run(CHAIN, Broken(["x"]), {"big": Broken(["x"])})
    assert caught.value.name == "Backend"


def test_of_a_chain_one_model_is_enough_and_of_others_each() -> None:
    text = CHAIN.replace("big or main", "big or small")
    value = _run(text, ScriptedModel(["m"]), {"small": ScriptedModel(["s", "yes", "up"])})[0].value
    assert value == "s yes up"
    with pytest.raises(ArgumentError) as caught:
        _run(text, ScriptedModel(["m"]), {})
    assert caught.value.diagnostic().code == "E0721"
    assert "`big`, `small`" in caught.value.diagnostic().message


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (StepFailed("x"), True),
        (QueueFull("x"), True),
        (MemoryFull("x"), True),
        (ContextOverflow(9, 8), True),
        (SglError("Backend", "x"), True),
        (SglError("Unsupported", "x"), True),
        (SglError("Backend", "x", fatal=True), False),
        (DeadlinePassed("x"), False),
        (EngineFault(ValueError("x")), False),
        (SglError("Truncated", "x"), False),
        (SglError("Unsatisfiable", "x"), False),
        (SglError("Budget", "x"), False),
        (SglError("Rejected", "x"), False),
    ],
)
def test_what_counts_as_the_failure_of_a_model(error: Exception, counts: bool) -> None:
    assert (model_failed(error) is not None) is counts


def test_budgets_pay_for_the_model_that_answered() -> None:
    text = """pub fn f() -> int using big or main within 8 tok:
    user: | q
    assistant: | ?{a: str max 9 chars}
    return len(a)
"""
    assert _run(text, ScriptedModel(["1234567"]), {"big": Broken(["12345"], passes=3)})[0].value == 7


def test_a_chain_is_kept_in_compiled_programs() -> None:
    program = compile_source(Source("p.sgl", CHAIN)).program
    assert program is not None
    again, problems = loads(dumps(program))
    assert not problems and again is not None
    assert [hole.models and hole.models.shown() for hole in again.holes] == ["big or main"] * 3
    assert "using big or main" in disassemble(again)
