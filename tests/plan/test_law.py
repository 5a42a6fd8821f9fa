"""The law of plans over random programs: least <= seen <= greatest, of each hole and of a whole run."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from example_budget import examples
from fakes.small_models import FickleModel, small_tokenizer
from sglc.bytecode.code import Program
from sglc.driver import compile_source
from sglc.plan.collect import plan_program
from sglc.plan.plan import HolePlan, ProgramPlan
from sglc.runtime.bounds import token_graph
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from strategies.programs.source_programs import source_program


def run(
    program: Program, arguments: dict[str, object], seed: int, most: int
) -> tuple[list[dict[str, Any]], bool]:
    """The ends of holes in a run of `main`, and whether it came to its end."""
    ends: list[dict[str, Any]] = []

    def hear(event: Event) -> None:
        if event.kind == "hole_end":
            ends.append(dict(event.data))

    engine = ReferenceEngine(FickleModel(seed, context_length=1 << 14))
    try:
        session = Session(program, engine)
        asyncio.run(session.run("main", arguments, seed=seed, max_tokens=most, on_event=hear))
    except SglError:
        return ends, False
    finally:
        engine.close()
    return ends, True


def holes_of(plan: ProgramPlan) -> dict[str, list[HolePlan]]:
    """The plans of each hole at all of its places."""
    found: dict[str, list[HolePlan]] = {}
    for function in plan.functions:
        for hole in function.holes:
            found.setdefault(hole.name, []).append(hole)
    return found


@pytest.mark.slow
def test_every_run_of_random_programs_keeps_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that are left, conditions, parts, forks, retries and budgets, three runs of each program."""
    monkeypatch.setattr(token_graph, "EFFORT", 1_000_000)
    compared = 0
    for number in range(examples(25)):
        made = source_program(Random(number))
        program = compile_source(Source("case.sgl", made.text)).program
        assert program is not None, made.text
        names = [name for name, index in program.entry.items() if program.codes[index].kind == "fn"]
        if "main" not in names:  # it asks no model
            continue
        plan = plan_program(program, names, model="small", tokenizer=small_tokenizer())
        (main,) = (function for function in plan.functions if function.name == "main")
        holes = holes_of(plan)
        for seed, most in enumerate((400, 60, 20)):
            ends, whole = run(program, made.arguments, 7 * number + seed, most)
            cut = any(end["ended"] == "budget" for end in ends)
            for end in ends:
                tokens, places = end.get("tokens", 0), holes[end["hole"]]
                least = min(p.cut if end["ended"] == "budget" else p.least for p in places)
                assert least <= tokens, (number, end)
                assert any(p.most is None or tokens <= p.most for p in places), (number, end)
            total = sum(end.get("tokens", 0) for end in ends)
            assert main.most is None or total <= main.most, (number, total, main.most)
            if whole and not cut:
                compared += 1
                assert main.least <= total, (number, total, main.least)
    assert compared >= examples(25)
