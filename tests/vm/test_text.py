"""The virtual machine on conversations: messages, holes, retries, forks, budgets, many runs at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.types.type import Bool, Dec, Int, ListOf, Named
from sglc.types.values import EnumValue, RecordValue
from strategies.vm_programs import WORD, Assembler, assembler, fork_program, hole_program, retry_program, run


@pytest.fixture
def engines() -> Iterator[list[ReferenceEngine]]:
    made: list[ReferenceEngine] = []
    yield made
    for engine in made:
        engine.close()


# -- conversation ------------------------------------------------------------------------------------


def test_roles_lines_and_inserts() -> None:
    built = assembler()
    built.code(
        "f",
        [
            ("ROLE", "system"),
            ("LINE",),
            ("TEXT", "Be brief."),
            ("END_ROLE",),
            ("ROLE", "user"),
            ("LINE",),
            ("TEXT", "Pet: "),
            ("LOAD", "pet"),
            ("INSERT",),
            ("LINE",),
            ("GLUE",),
            ("LINE",),
            ("TEXT", "?"),
            ("END_ROLE",),
            ("CONSTANT", None),
            ("RETURN",),
        ],
        parameters={"pet": Named("Pet")},
    )
    result = run(built, {"pet": {"name": "Rex", "age": 3}})
    assert result.text == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        '<|im_start|>user\nPet: {"name": "Rex", "age": 3}\n?<|im_end|>\n'
    )


def test_a_part_writes_into_its_callers_message_and_a_function_into_its_own() -> None:
    built = assembler()
    built.code(
        "f",
        [
            ("ROLE", "user"),
            ("LINE",),
            ("TEXT", "a"),
            ("CALL_PART", "p", 0),
            ("POP",),
            ("CALL", "g", 0),
            ("RETURN",),
        ],
    )
    built.code("p", [("LINE",), ("TEXT", "b"), ("CONSTANT", None), ("RETURN",)], kind="part")
    built.code("g", [("TEXT", "elsewhere"), ("CONSTANT", 1), ("RETURN",)])
    assert run(built).text == "<|im_start|>user\na\nb<|im_end|>\n"


@pytest.mark.parametrize(
    ("type", "answer", "expected"),
    [
        (WORD, "hello", "hello"),
        (Int(0, 120), "42", 42),
        (Bool(), "true", True),
        (Named("Mood"), "angry", EnumValue("Mood", "angry")),
        (Named("Pet"), {"name": "Rex", "age": 3}, RecordValue("Pet", {"name": "Rex", "age": 3})),
        (ListOf(Int(0, 9), 1, 3), [1, 2], [1, 2]),
        (Dec(), "3.50", Decimal("3.50")),
    ],
)
def test_a_hole_gives_a_typed_value(type: Any, answer: Any, expected: Any) -> None:
    assert run(hole_program(type), answers=[answer]).value == expected


def test_what_the_script_wants_but_the_type_forbids_is_not_written() -> None:
    assert run(hole_program(Int(0, 5)), answers=["99"]).value in range(6)


def test_choices_known_only_at_run_time() -> None:
    built = hole_program(None, mode="choose", given={"options": [10, 20, 25]})
    assert run(built, answers=["25"]).value == 25


def test_select_writes_the_best_and_keeps_the_scores() -> None:
    for by in ("sum", "mean", "greedy", "contrast"):
        built = assembler()
        hole = built.hole("f.m", Named("Mood"), mode="select", by=by)
        built.code(
            "f",
            [
                ("ROLE", "assistant"),
                ("LINE",),
                ("TEXT", "Mood: "),
                ("SELECT", hole, 0),
                ("STORE", "m"),
                ("LOAD", "m"),
                ("ATTRIBUTE", "top"),
                ("LOAD", "m"),
                ("CONSTANT", EnumValue("Mood", "angry")),
                ("METHOD", "p", 2),
                ("LOAD", "m"),
                ("ATTRIBUTE", "margin"),
                ("LIST", 3),
                ("RETURN",),
            ],
            slots="m",
        )
        top, p, margin = run(built, answers={"m": "angry"}).value
        assert top == EnumValue("Mood", "angry")
        assert p > 0.5 and 0 < margin <= 1


def test_resample_draws_again_without_what_was_rejected() -> None:
    seen: list[Event] = []
    result = run(retry_program("resample", 3), answers=["3", "3", "7"], on_event=seen.append)
    assert result.value == 7
    assert result.text == "<|im_start|>assistant\nn = 7<|im_end|>\n"
    rejected = [event.data["rejected"] for event in seen if event.kind == "retry"]
    assert rejected[0] == "3" and len(set(rejected)) == len(rejected) == 2


def test_repair_shows_the_slip_and_takes_it_out_again() -> None:
    result = run(retry_program("repair", 2), answers=["3", "8"])
    assert result.value == 8
    assert result.text == "<|im_start|>assistant\nn = 8<|im_end|>\n"


def test_after_the_last_attempt_the_policys_error_is_raised() -> None:
    with pytest.raises(SglError) as caught:
        run(retry_program("repair", 2), answers=["1", "2", "3"])
    assert caught.value.name == "Rejected" and caught.value.message == "too small"


def test_branches_run_side_by_side_and_one_is_adopted() -> None:
    result = run(fork_program(), answers=["one", "two", "three"])
    assert result.value == ["one", 3, 0]
    assert result.text.endswith("<|im_start|>assistant\none<|im_end|>\n")


def test_a_failing_branch_fails_the_fork_or_is_skipped() -> None:
    with pytest.raises(SglError, match="bad idea"):
        run(fork_program(), answers=["one", "bad", "three"])
    assert run(fork_program(skip=True), answers=["bad", "two", "three"]).value == ["two", 2, 10]


def test_a_branch_can_be_adopted_once() -> None:
    built = fork_program()
    described, lines = built._codes[0]
    built._codes[0] = (described, [*lines[:15], ("LOAD", "best"), ("ADOPT",), *lines[15:]])
    with pytest.raises(SglError, match="adopted once"):
        run(built, answers=["one", "two", "three"])


# -- budgets -----------------------------------------------------------------------------------------


def test_a_hole_closes_out_within_its_budget() -> None:
    built = hole_program(Named("Pet"), given={"max_tokens": 30})
    result = run(built, answers=[{"name": "Bartholomew the 3rd", "age": 12}])
    assert result.statistics.output_tokens <= 30
    assert isinstance(result.value, RecordValue) and "Bartholomew the 3rd".startswith(
        result.value.fields["name"]
    )


def test_a_budget_that_is_too_small_is_an_error() -> None:
    with pytest.raises(SglError, match="within 5 tokens") as caught:
        run(hole_program(Named("Pet"), given={"max_tokens": 5}), answers=[{"name": "x", "age": 1}])
    assert caught.value.name == "Truncated" and not caught.value.partial


def test_within_bounds_all_holes_of_a_function() -> None:
    built = assembler()
    hole = built.hole("f.x", WORD)
    built.code(
        "f",
        [("ROLE", "assistant"), ("GEN", hole, 0), ("LINE",), ("GEN", hole, 0), ("LIST", 2), ("RETURN",)],
        within=12,
    )
    assert run(built, answers=["eight ch", "eight ch"]).value == ["eight ch", "eigh"]


def test_the_runs_limit_passes_every_handler() -> None:
    built = assembler()
    hole = built.hole("f.x", Named("Pet"))
    built.code(
        "f",
        [
            ("TRY", "arm", 0),
            ("ROLE", "assistant"),
            ("GEN", hole, 0),
            ("END_TRY",),
            ("RETURN",),
            "arm:",
            ("CONSTANT", 1),
            ("RETURN",),
        ],
    )
    with pytest.raises(SglError, match="the run's token limit"):
        run(built, max_tokens=3)


def test_too_long_a_conversation_is_named(engines: list[ReferenceEngine]) -> None:
    model = ScriptedModel(["x"])
    model.context_length = 20
    engines.append(ReferenceEngine(model))
    with pytest.raises(SglError, match="context window 20") as caught:
        asyncio.run(Session(_long().program(), engines[0]).run("f", {}))
    assert caught.value.name == "Budget"


def _long() -> Assembler:
    built = assembler()
    built.code("f", [("TEXT", "x" * 50), ("GEN", built.hole("f.x", WORD), 0), ("RETURN",)])
    return built


# -- many at once ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_thousands_of_runs_share_an_engine(engines: list[ReferenceEngine]) -> None:
    engines.append(ReferenceEngine(ScriptedModel({"x": "42"})))
    session = Session(hole_program(Int(0, 99)).program(), engines[0])

    async def all_of_them() -> list[RunResult]:
        return await asyncio.gather(*(session.run("f", {}, seed=seed) for seed in range(1500)))

    assert {result.value for result in asyncio.run(all_of_them())} == {42}


def test_a_cancelled_run_stops_and_frees_its_branches(engines: list[ReferenceEngine]) -> None:
    engines.append(ReferenceEngine(ScriptedModel(["x" * 20])))
    session = Session(hole_program(WORD).program(), engines[0])

    async def cancelled() -> None:
        task = asyncio.ensure_future(session.run("f", {}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
