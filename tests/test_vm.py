"""The virtual machine on programs assembled by hand: values, control, errors, forks, retries, budgets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.bytecode.code import ErrorSpec, Instruction
from sglc.bytecode.opcodes import OPCODES
from sglc.bytecode.verify import verify
from sglc.runtime.engine.engine import Engine
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import RunResult, Session
from sglc.runtime.vm.machine import HANDLERS
from sglc.runtime.vm.run import Limits
from sglc.runtime.vm.trace import Event
from sglc.types.type import Bool, Dec, EnumType, FieldType, Int, ListOf, Named, RecordType, Str, UnionType
from sglc.types.values import EnumValue, RecordValue
from vm_programs import Assembler

WORD = Str(max_chars=20)
MOOD = EnumType("Mood", ("calm", "angry"))
PET = RecordType("Pet", (FieldType("name", WORD), FieldType("age", Int(0, 30))))
SHAPE = UnionType("Shape", (RecordType("Dot", ()), RecordType("Square", (FieldType("side", Int(1, 9)),))))


def assembler() -> Assembler:
    return Assembler(Mood=MOOD, Pet=PET, Shape=SHAPE)


@pytest.fixture
def engines() -> Iterator[list[Engine]]:
    made: list[Engine] = []
    yield made
    for engine in made:
        engine.close()


def run(
    built: Assembler,
    arguments: dict[str, Any] | None = None,
    answers: Any = None,
    name: str = "f",
    **more: Any,
) -> RunResult:
    limits = more.pop("limits", None)
    engine = Engine(ScriptedModel(answers))
    try:
        return asyncio.run(Session(built.program(), engine, limits=limits).run(name, arguments, **more))
    finally:
        engine.close()


def value(*lines: Any, slots: str = "", **arguments: Any) -> Any:
    """What a function of these instructions returns."""
    built = assembler()
    types = {name: Int() if isinstance(v, int) else WORD for name, v in arguments.items()}
    built.code("f", [*lines, ("RETURN",)], slots=slots, parameters=types)
    return run(built, arguments).value


def test_every_opcode_has_a_step() -> None:
    assert len(HANDLERS) == len(OPCODES)


# -- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (7, "+", 2, 9),
        (7, "/", 2, Decimal("3.5")),
        (7, "//", 2, 3),
        (-7, "//", 2, -4),
        (-7, "%", 3, 2),
        (Decimal("-7"), "%", 3, Decimal(2)),
        (Decimal("0.1"), "+", Decimal("0.2"), Decimal("0.3")),
        (1, "+", Decimal("0.5"), Decimal("1.5")),
        (Decimal("0.5"), "+", 0.25, 0.75),
        (2, "**", 10, 1024),
        ("ab", "+", "c", "abc"),
        ([1], "+", [2], [1, 2]),
        (1, "<", Decimal("1.5"), True),
        ("b", "in", "abc", True),
        ([1, 2], "contains", 3, False),
        ("a1", "matches", "[a-z][0-9]", True),
        ("a1b", "matches", "[a-z][0-9]", False),
        (EnumValue("Mood", "calm"), "==", EnumValue("Mood", "calm"), True),
        (1, "!=", 2, True),
    ],
)
def test_binary_operators(left: Any, operator: str, right: Any, expected: Any) -> None:
    result = value(("CONSTANT", left), ("CONSTANT", right), ("BINARY", operator))
    assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([("CONSTANT", 1), ("CONSTANT", 0), ("BINARY", "/")], "division by zero"),
        ([("CONSTANT", 1), ("CONSTANT", 0), ("BINARY", "%")], "division by zero"),
        ([("CONSTANT", 10), ("CONSTANT", 10**9), ("BINARY", "**")], "too large"),
        ([("CONSTANT", "a"), ("CONSTANT", 10**9), ("BINARY", "*")], "too large"),
        ([("LIST", 0), ("CONSTANT", 3), ("INDEX",)], "index 3 is outside of a list of length 0"),
        ([("LIST", 0), ("METHOD", "first", 1)], "no first item"),
        ([("CONSTANT", "x"), ("BUILTIN", "int", 1)], "'x' is no integer"),
        ([("CONSTANT", 44), ("CHECK_TYPE", Int(0, 30))], "outside of its type"),
        ([("CONSTANT", "a"), ("CONSTANT", 1), ("BINARY", "<")], "does not order a text and an integer"),
    ],
)
def test_faults_are_failures_with_a_place(lines: list[Any], message: str) -> None:
    with pytest.raises(SglError, match=message) as caught:
        value(*lines)
    assert caught.value.name == "Failure"
    assert caught.value.place is not None and caught.value.place.line == len(lines)


def test_records_variants_and_copies_with_a_change() -> None:
    pet = value(("CONSTANT", "Rex"), ("CONSTANT", 3), ("RECORD", Named("Pet"), 2))
    assert pet == RecordValue("Pet", {"name": "Rex", "age": 3})
    older = value(("CONSTANT", pet), ("CONSTANT", 4), ("WITH_FIELD", "age"), ("ATTRIBUTE", "age"))
    assert older == 4
    assert value(("CONSTANT", 2), ("VARIANT", "Shape.Square", 1), ("IS_VARIANT", "Shape.Dot")) is False
    assert value(
        ("LIST", 0), ("CONSTANT", 1), ("APPEND",), ("CONSTANT", 0), ("CONSTANT", 5), ("WITH_ITEM",)
    ) == [5]


def test_strings_show_values_as_text_does() -> None:
    shown = value(
        ("CONSTANT", EnumValue("Mood", "calm")),
        ("CONSTANT", Decimal("1.50")),
        ("CONSTANT", True),
        ("CONSTANT", RecordValue("Pet", {"name": 'a"b', "age": 1})),
        ("CONSTANT", None),
        ("STRING", 5),
    )
    assert shown == 'calm1.50true{"name": "a\\"b", "age": 1}null'


def test_numbers_are_widened_where_a_wider_type_is_due() -> None:
    result = value(("CONSTANT", [1, 2]), ("CHECK_TYPE", ListOf(Dec())))
    assert result == [Decimal(1), Decimal(2)] and all(type(n) is Decimal for n in result)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([("CONSTANT", [3, 1, 2]), ("METHOD", "max", 1)], 3),
        ([("CONSTANT", ["a", "b"]), ("CONSTANT", [1, 9]), ("METHOD", "max", 2)], "b"),
        ([("CONSTANT", ["a", "b"]), ("CONSTANT", [2, 1]), ("METHOD", "sort", 2)], ["b", "a"]),
        ([("CONSTANT", "a b c"), ("METHOD", "words", 1)], ["a", "b", "c"]),
        ([("CONSTANT", {"k": 1}), ("CONSTANT", "x"), ("CONSTANT", 7), ("METHOD", "get", 3)], 7),
        ([("CONSTANT", [1, Decimal("0.5")]), ("BUILTIN", "sum", 1)], Decimal("1.5")),
        ([("CONSTANT", 2.5), ("CONSTANT", None), ("BUILTIN", "round", 2)], 2),
        ([("CONSTANT", ["a"]), ("CONSTANT", [1]), ("BUILTIN", "zip", 2)], [("a", 1)]),
    ],
)
def test_builtins_and_methods(lines: list[Any], expected: Any) -> None:
    assert value(*lines) == expected


def test_the_checkers_table_and_the_machines_agree() -> None:
    from sglc.check import builtins as declared
    from sglc.runtime.vm import builtins as there

    assert set(declared.FUNCTIONS) == set(there.FUNCTIONS)
    assert set(declared.STR_METHODS) == set(there.STRING)
    assert set(declared.LIST_METHODS) == set(there.LIST)
    assert set(declared.MAP_METHODS) == set(there.MAP)
    assert set(declared.SCORED_METHODS) == set(there.SCORED)


# -- control -----------------------------------------------------------------------------------------


def test_a_loop_over_a_range() -> None:
    total = value(
        ("CONSTANT", 0), ("STORE", "total"),
        ("CONSTANT", 1), ("CONSTANT", 4), ("RANGE", 1), ("ITERATE",), ("STORE", "items"),
        "again:",
        ("LOAD", "items"), ("NEXT", "done", "i"), ("STORE", "items"),
        ("LOAD", "total"), ("LOAD", "i"), ("BINARY", "+"), ("STORE", "total"),
        ("JUMP", "again"),
        "done:",
        ("POP",), ("LOAD", "total"),
        slots="total i items",
    )  # fmt: skip
    assert total == 10


def recursion() -> Assembler:
    built = assembler()
    built.code(
        "f",
        [
            ("LOAD", "n"), ("CONSTANT", 0), ("BINARY", "=="), ("JUMP_IF_TRUE", "end"),
            ("LOAD", "n"), ("LOAD", "n"), ("CONSTANT", 1), ("BINARY", "-"), ("CALL", "f", 1),
            ("BINARY", "+"), ("RETURN",),
            "end:", ("CONSTANT", 0), ("RETURN",),
        ],
        parameters={"n": Int()},
        kind="pure",
    )  # fmt: skip
    return built


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
            ("ROLE", "user"), ("TEXT", "before"),
            ("TRY", "arm"),
            ("TEXT", " lost"), ("CONSTANT", "1+"), ("RAISE", "Stuck", 1),
            "arm:", *arm,
        ],
    )  # fmt: skip
    return built


def test_an_arm_starts_from_the_conversation_as_it_was_at_try() -> None:
    built = raising(
        ("CATCH", "Stuck"), ("JUMP_IF_TRUE", "mine"), ("ERROR",), ("RERAISE",),
        "mine:", ("TEXT", " after"), ("ERROR",), ("ATTRIBUTE", "calc"), ("RETURN",),
    )  # fmt: skip
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


def test_a_while_loop_raises_budget_at_its_limit() -> None:
    with pytest.raises(SglError, match="the loop over guesses") as caught:
        value(("CONSTANT", 2), "again:", ("LIMIT", "the loop over guesses"), ("JUMP", "again"))
    assert caught.value.name == "Budget" and not caught.value.fatal


# -- conversation ------------------------------------------------------------------------------------


def test_roles_lines_and_inserts() -> None:
    built = assembler()
    built.code(
        "f",
        [
            ("ROLE", "system"), ("LINE",), ("TEXT", "Be brief."), ("END_ROLE",),
            ("ROLE", "user"), ("LINE",), ("TEXT", "Pet: "), ("LOAD", "pet"), ("INSERT",), ("LINE",),
            ("GLUE",), ("LINE",), ("TEXT", "?"), ("END_ROLE",),
            ("CONSTANT", None), ("RETURN",),
        ],
        parameters={"pet": Named("Pet")},
    )  # fmt: skip
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


def hole_program(type: Any, **more: Any) -> Assembler:
    built = assembler()
    options = more.pop("given", {})
    hole = built.hole("f.x", type, options=tuple(options), **more)
    built.code(
        "f",
        [
            ("ROLE", "assistant"), ("LINE",),
            *[("CONSTANT", option) for option in options.values()],
            ("GEN", hole, len(options)), ("STORE", "x"), ("END_ROLE",), ("LOAD", "x"), ("RETURN",),
        ],
        slots="x",
    )  # fmt: skip
    return built


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
                ("ROLE", "assistant"), ("LINE",), ("TEXT", "Mood: "), ("SELECT", hole, 0), ("STORE", "m"),
                ("LOAD", "m"), ("ATTRIBUTE", "top"),
                ("LOAD", "m"), ("CONSTANT", EnumValue("Mood", "angry")), ("METHOD", "p", 2),
                ("LOAD", "m"), ("ATTRIBUTE", "margin"), ("LIST", 3), ("RETURN",),
            ],
            slots="m",
        )  # fmt: skip
        top, p, margin = run(built, answers={"m": "angry"}).value
        assert top == EnumValue("Mood", "angry")
        assert p > 0.5 and 0 < margin <= 1


def retry_program(strategy: str, attempts: int) -> Assembler:
    built = assembler()
    hole = built.hole("f.n", Int(0, 9))
    built.code(
        "f",
        [
            ("ROLE", "assistant"), ("LINE",), ("TEXT", "n = "),
            ("SNAPSHOT", 0), ("GEN", hole, 0), ("STORE", "n"),
            ("LOAD", "n"), ("CONSTANT", 5), ("BINARY", ">"), ("JUMP_IF_TRUE", "fine"),
            ("CONSTANT", "too small"), ("RETRY", 0),
            ("CONSTANT", "too small"), ("RAISE", "Rejected", 1),
            "fine:", ("LOAD", "n"), ("RETURN",),
        ],
        slots="n",
        retries=[(strategy, attempts, hole, "n")],
    )  # fmt: skip
    return built


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


def fork_program(skip: bool = False) -> Assembler:
    built = assembler()
    hole = built.hole("f.idea", WORD)
    built.code(
        "f",
        [
            ("ROLE", "user"), ("LINE",), ("TEXT", "Ideas?"), ("END_ROLE",),
            ("CONSTANT", 0), ("CONSTANT", 3), ("RANGE", 0), ("FORK", "body", int(skip)), ("STORE", "ideas"),
            ("LOAD", "ideas"), ("CONSTANT", 0), ("INDEX",), ("STORE", "best"),
            ("LOAD", "best"), ("ADOPT",),
            ("LOAD", "best"), ("ATTRIBUTE", "idea"),
            ("LOAD", "ideas"), ("BUILTIN", "len", 1), ("LOAD", "best"), ("ATTRIBUTE", "value"),
            ("LIST", 3), ("RETURN",),
        ],
        slots="ideas best i idea",
    )  # fmt: skip
    built.code(
        "body",
        [
            ("LOAD", "i"), ("SEED",), ("ROLE", "assistant"), ("LINE",), ("GEN", hole, 0), ("STORE", "idea"),
            ("LOAD", "idea"), ("CONSTANT", "bad"), ("BINARY", "=="), ("JUMP_IF_FALSE", "fine"),
            ("CONSTANT", "bad idea"), ("RAISE", "Rejected", 1),
            "fine:", ("LOAD", "i"), ("CONSTANT", 10), ("BINARY", "*"), ("RETURN",),
        ],
        slots="ideas best i idea",
        kind="fork",
        fork_slot=2,
    )  # fmt: skip
    return built


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
            ("TRY", "arm"),
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


def test_too_long_a_conversation_is_named(engines: list[Engine]) -> None:
    model = ScriptedModel(["x"])
    model.context_length = 20
    engines.append(Engine(model))
    with pytest.raises(SglError, match="context window 20") as caught:
        asyncio.run(Session(_long().program(), engines[0]).run("f", {}))
    assert caught.value.name == "Budget"


def _long() -> Assembler:
    built = assembler()
    built.code("f", [("TEXT", "x" * 50), ("GEN", built.hole("f.x", WORD), 0), ("RETURN",)])
    return built


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


def test_program() -> Assembler:
    built = hole_program(Int(0, 9))
    built.code(
        "mocked",
        [
            ("CONSTANT", 4), ("MOCK", "f.x", 0), ("CALL", "f", 0), ("STORE", "it"),
            ("LOAD", "it"), ("CONSTANT", 4), ("BINARY", "=="), ("EXPECT",),
            ("LOAD", "it"), ("CONSTANT", 5), ("BINARY", "=="), ("EXPECT",), ("CONSTANT", None), ("RETURN",),
        ],
        slots="it",
        kind="test",
    )  # fmt: skip
    built.code(
        "fuzzed",
        [
            ("FUZZ", 1), ("CONSTANT", 0), ("CONSTANT", 300), ("RANGE", 0), ("ITERATE",), ("STORE", "items"),
            "again:", ("LOAD", "items"), ("NEXT", "done", "i"), ("STORE", "items"),
            ("CALL", "f", 0), ("STORE", "it"),
            ("LOAD", "it"), ("CONSTANT", 9), ("BINARY", "<="), ("EXPECT",), ("JUMP", "again"),
            "done:", ("POP",), ("FUZZ", 0), ("CALL", "f", 0), ("RETURN",),
        ],
        slots="i it items",
        kind="test",
    )  # fmt: skip
    built.code("wrong", [("CONSTANT", 44), ("MOCK", "f.x", 1), ("CALL", "f", 0), ("RETURN",)], kind="test")
    return built


test_program.__test__ = False  # type: ignore[attr-defined]


def test_mocks_answer_in_order_and_expectations_show_values() -> None:
    result = asyncio.run(Session(test_program().program()).run_test("mocked"))
    assert not result.passed and result.expectations == 2 and result.error is None
    [missed] = result.missed
    assert missed.values == {"it": "4"} and missed.place is not None and missed.place.line == 12


def test_fuzzing_needs_no_model_and_nothing_answers_without_a_mock() -> None:
    result = asyncio.run(Session(test_program().program()).run_test("fuzzed"))
    assert result.expectations == 300 and not result.missed
    assert result.error is not None and "has no mock" in result.error.message


def test_a_mock_outside_of_its_hole_is_an_error() -> None:
    result = asyncio.run(Session(test_program().program()).run_test("wrong"))
    assert result.error is not None and "not a value of the hole" in result.error.message


# -- many at once ------------------------------------------------------------------------------------


def test_thousands_of_runs_share_an_engine(engines: list[Engine]) -> None:
    engines.append(Engine(ScriptedModel({"x": "42"})))
    session = Session(hole_program(Int(0, 99)).program(), engines[0])

    async def all_of_them() -> list[RunResult]:
        return await asyncio.gather(*(session.run("f", {}, seed=seed) for seed in range(1500)))

    assert {result.value for result in asyncio.run(all_of_them())} == {42}


def test_a_cancelled_run_stops_and_frees_its_branches(engines: list[Engine]) -> None:
    engines.append(Engine(ScriptedModel(["x" * 20])))
    session = Session(hole_program(WORD).program(), engines[0])

    async def cancelled() -> None:
        task = asyncio.ensure_future(session.run("f", {}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


# -- hostile programs --------------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_verified_program_that_no_compiler_wrote_fails_cleanly(data: st.DataObject) -> None:
    built = data.draw(
        st.sampled_from([recursion(), retry_program("resample", 2), fork_program(), test_program()])
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
    engine = Engine(ScriptedModel(["3", "4", "one"]))
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
