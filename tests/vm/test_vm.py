"""The virtual machine on the flow of control, on arguments and tests, and on hostile programs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.bytecode.code import ErrorSpec, Instruction
from sglc.bytecode.opcodes import OPCODES
from sglc.bytecode.verify import verify
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.machine import HANDLERS
from sglc.runtime.vm.state.run import Limits
from sglc.runtime.vm.state.trace import Event
from sglc.types.type import Named
from strategies.vm_programs import (
    Assembler,
    assembler,
    fork_program,
    program_with_tests,
    recursion,
    retry_program,
    run,
    value,
)


def test_every_opcode_has_a_step() -> None:
    assert len(HANDLERS) == len(OPCODES)


# -- control -----------------------------------------------------------------------------------------


def test_a_loop_over_a_range() -> None:
    total = value(
        ("CONSTANT", 0),
        ("STORE", "total"),
        ("CONSTANT", 1),
        ("CONSTANT", 4),
        ("RANGE", 1),
        ("ITERATE",),
        ("STORE", "items"),
        "again:",
        ("LOAD", "items"),
        ("NEXT", "done", "i"),
        ("STORE", "items"),
        ("LOAD", "total"),
        ("LOAD", "i"),
        ("BINARY", "+"),
        ("STORE", "total"),
        ("JUMP", "again"),
        "done:",
        ("POP",),
        ("LOAD", "total"),
        slots="total i items",
    )
    assert total == 10


def test_recursion_has_a_depth_limit_and_no_python_recursion() -> None:
    assert run(recursion(), {"n": 300}).value == 45150
    with pytest.raises(SglError, match="400 calls deep") as caught:
        run(recursion(), {"n": 1000})
    assert caught.value.calls[:2] == ("f", "f")
    assert run(recursion(), {"n": 5000}, limits=Limits(depth=6000)).value == 12502500


def test_a_program_that_does_not_end_meets_the_step_limit() -> None:
    built = assembler()
    built.code("f", ["again:", ("JUMP", "again")])
    with pytest.raises(SglError, match="more than 50000 steps") as caught:
        run(built, limits=Limits(steps=50_000))
    assert caught.value.name == "Budget" and caught.value.fatal


def test_a_program_that_does_not_end_meets_its_timeout() -> None:
    built = assembler()
    built.code("f", ["again:", ("JUMP", "again")])
    with pytest.raises(SglError, match=r"longer than 0\.05 s") as caught:
        run(built, timeout=0.05, limits=Limits(steps=1 << 60))
    assert caught.value.name == "Timeout"


def raising(*arm: Any) -> Assembler:
    built = assembler()
    built.errors.append(ErrorSpec("Stuck", ("calc",)))
    built.code(
        "f",
        [
            ("ROLE", "user"),
            ("TEXT", "before"),
            ("TRY", "arm", 0),
            ("TEXT", " lost"),
            ("CONSTANT", "1+"),
            ("RAISE", "Stuck", 1),
            "arm:",
            *arm,
        ],
    )
    return built


def test_an_arm_starts_from_the_conversation_as_it_was_at_try() -> None:
    built = raising(
        ("CATCH", "Stuck"),
        ("JUMP_IF_TRUE", "mine"),
        ("ERROR",),
        ("RERAISE",),
        "mine:",
        ("TEXT", " after"),
        ("ERROR",),
        ("ATTRIBUTE", "calc"),
        ("RETURN",),
    )
    result = run(built)
    assert result.value == "1+"
    assert result.text == "<|im_start|>user\nbefore after<|im_end|>\n"


def test_what_no_arm_catches_leaves_with_its_place() -> None:
    built = raising(
        ("CATCH", "Truncated"),
        ("JUMP_IF_FALSE", "other"),
        ("CONSTANT", 1),
        ("RETURN",),
        "other:",
        ("ERROR",),
        ("RERAISE",),
    )
    with pytest.raises(SglError) as caught:
        run(built)
    assert (caught.value.name, caught.value.fields) == ("Stuck", {"calc": "1+"})
    assert caught.value.place is not None and caught.value.place.line == 6


def test_a_quiet_handler_takes_an_error_without_a_trace() -> None:
    built = raising(
        ("TRY", "quiet", 1),
        ("CONSTANT", "unseen"),
        ("RAISE", "Stuck", 1),
        "quiet:",
        ("CATCH", "Stuck"),
        ("ERROR",),
        ("ATTRIBUTE", "calc"),
        ("LIST", 2),
        ("RETURN",),
    )
    events: list[Event] = []
    result = run(built, on_event=events.append)
    assert result.value == [True, "1+"]
    assert result.text == "<|im_start|>user\nbefore<|im_end|>\n"
    assert [event.data["message"] for event in events if event.kind == "error"] == ["1+"]


def test_a_quiet_handler_lets_fatal_errors_pass() -> None:
    built = assembler()
    lines = [("TRY", "quiet", 1), "again:", ("JUMP", "again"), "quiet:", ("CONSTANT", 1), ("RETURN",)]
    built.code("f", lines)
    with pytest.raises(SglError, match="more than 100 steps"):
        run(built, limits=Limits(steps=100))


def test_a_while_loop_raises_budget_at_its_limit() -> None:
    with pytest.raises(SglError, match="the loop over guesses") as caught:
        value(("CONSTANT", 2), "again:", ("LIMIT", "the loop over guesses"), ("JUMP", "again"))
    assert caught.value.name == "Budget" and not caught.value.fatal


# -- arguments ---------------------------------------------------------------------------------------


def test_arguments_are_checked_against_the_parameters() -> None:
    built = assembler()
    built.code("f", [("LOAD", "pet"), ("RETURN",)], parameters={"pet": Named("Pet")})
    with pytest.raises(ArgumentError, match="no function `g`"):
        run(built, name="g")
    with pytest.raises(ArgumentError, match="needs the argument `pet`"):
        run(built, {})
    with pytest.raises(ArgumentError, match="no parameter `pat`") as caught:
        run(built, {"pat": 1})
    assert caught.value.hint == "did you mean `pet`?"
    with pytest.raises(ArgumentError, match="outside of its type") as caught:
        run(built, {"pet": {"name": "Rex", "age": 31}})
    assert "age" in caught.value.reason


# -- tests of programs -------------------------------------------------------------------------------


def test_mocks_answer_in_order_and_expectations_show_values() -> None:
    result = asyncio.run(Session(program_with_tests().program()).run_test("mocked"))
    assert not result.passed and result.expectations == 2 and result.error is None
    [missed] = result.missed
    assert missed.values == {"it": "4"} and missed.place is not None and missed.place.line == 12


def test_fuzzing_needs_no_model_and_nothing_answers_without_a_mock() -> None:
    result = asyncio.run(Session(program_with_tests().program()).run_test("fuzzed"))
    assert result.expectations == 300 and not result.missed
    assert result.error is not None and "has no mock" in result.error.message


def test_a_mock_outside_of_its_hole_is_an_error() -> None:
    result = asyncio.run(Session(program_with_tests().program()).run_test("wrong"))
    assert result.error is not None and "not a value of the hole" in result.error.message


# -- hostile programs --------------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_verified_program_that_no_compiler_wrote_fails_cleanly(data: st.DataObject) -> None:
    built = data.draw(
        st.sampled_from([recursion(), retry_program("resample", 2), fork_program(), program_with_tests()])
    )
    program = built.program()
    number = data.draw(st.integers(0, len(program.codes) - 1))
    code = program.codes[number]
    instructions = list(code.instructions)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(instructions) - 1))
        op = data.draw(st.integers(0, len(OPCODES) - 1))
        changed = Instruction(op, data.draw(st.integers(0, 6)), data.draw(st.integers(0, 2)))
        kept = instructions[place]
        instructions[place] = data.draw(
            st.sampled_from([changed, kept._replace(a=changed.a), kept._replace(op=op)])
        )
    codes = list(program.codes)
    codes[number] = replace(code, instructions=tuple(instructions))
    program = replace(program, codes=tuple(codes))
    if verify(program):
        return
    engine = ReferenceEngine(ScriptedModel(["3", "4", "one"]))
    session = Session(program, engine, limits=Limits(steps=3000))
    try:
        for name in session.functions:
            arguments = {p.name: 3 for p in session.function(name).parameters}
            try:
                asyncio.run(session.run(name, arguments))
            except (SglError, ArgumentError):
                pass
        for test in session.tests:
            asyncio.run(session.run_test(test.name))
    finally:
        engine.close()
