"""`for p in stream f(x)`: parts in order, the same call, and what ends it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from sglc.bytecode.code import Instruction
from sglc.bytecode.opcodes import BY_NAME
from sglc.bytecode.verify import verify
from sglc.driver import compile_source
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

CREW = """record Crew:
    name: str max 20 chars
    age: int in 18..70

fn crew(theme: str) -> Crew:
    user: | ${theme}
    assistant: | ?{member: Crew}
    return member

error Odd(age: int)

"""
ADA = '{"name": "Ada Lark", "age": 36}'


def _run(text: str, answers: list[str], function: str = "f", **more: Any) -> tuple[RunResult, list[Event]]:
    program = compile_source(Source("p.sgl", CREW + text)).program
    assert program is not None
    events: list[Event] = []
    engine = ReferenceEngine(ScriptedModel(answers))
    try:
        result = asyncio.run(Session(program, engine).run(function, {}, on_event=events.append, **more))
    finally:
        engine.close()
    return result, events


def _plain(value: Any) -> Any:
    return dict(value.fields) if hasattr(value, "fields") else value


PARTS = """pub fn f() -> [Crew.Partial]:
    var seen: [Crew.Partial] = []
    for p in stream crew("x") as whole:
        seen = seen + [p]
    ensure whole == Crew("Ada Lark", 36)
    return seen
"""


def test_parts_are_finished_fields_and_one_that_grows() -> None:
    result, _ = _run(PARTS, [ADA])
    seen = [_plain(part) for part in result.value]  # type: ignore[union-attr]
    names = [part["name"] for part in seen]
    assert seen[-1] == {"name": "Ada Lark", "age": 36}
    assert len(names) > 3 and all("Ada Lark".startswith(name or "") for name in names)
    assert [len(name or "") for name in names] == sorted(len(name or "") for name in names)
    assert all(part["age"] in (None, 36) for part in seen), "a number is there when it is complete"
    assert all(a != b for a, b in pairwise(seen)), "each part says more than the one before"


def test_a_stream_draws_what_the_plain_call_draws() -> None:
    plain, told = _run('pub fn f() -> Crew:\n    return crew("x")\n', [ADA], seed=5)
    streamed, events = _run(
        'pub fn f() -> Crew:\n    for p in stream crew("x") as c:\n        continue\n    return c\n',
        [ADA],
        seed=5,
    )
    assert streamed.value == plain.value
    assert [e.kind for e in told if e.kind != "finish"] == [e.kind for e in events if e.kind != "finish"]
    assert streamed.statistics.output_tokens == plain.statistics.output_tokens


STOP = """pub fn f() -> str:
    user: | Before.
    for p in stream crew("x") as c:
        let name = p.name
        if name != null and len(name) > 2:
            break
    user: | Behind.
    return "left" if c == null else "ended"
"""


def test_break_stops_the_call_and_leaves_the_conversation_alone() -> None:
    result, events = _run(STOP, [ADA])
    assert result.value == "left"
    assert "Before." in result.text and "Behind." in result.text and "Ada" not in result.text
    written = "".join(event.text for event in events if event.data.get("hole") == "crew.member")
    assert written.startswith('{"name": "Ada') and len(written) < len(ADA)
    assert not any(event.kind == "hole_end" for event in events)
    ends = [event.data for event in events if event.kind == "return"]
    assert ends == [{"function": "crew", "stopped": True}]
    _, second = _run(STOP, [ADA])
    assert [event.data for event in events if event.kind != "finish"] == [
        event.data for event in second if event.kind != "finish"
    ], "where it stops does not depend on time"


@pytest.mark.parametrize("leave", ["return p.name", "raise Odd(1)"])
def test_every_way_out_of_the_loop_stops_the_call(leave: str) -> None:
    text = f"""pub fn f() -> str? raises Odd:
    for p in stream crew("x"):
        if p.name != null: {leave}
    return "ended"
"""
    events: list[Event] = []
    program = compile_source(Source("p.sgl", CREW + text)).program
    assert program is not None
    engine = ReferenceEngine(ScriptedModel([ADA]))
    try:
        value = asyncio.run(Session(program, engine).run("f", {}, on_event=events.append)).value
        assert leave.startswith("return") and value in ("", "A", "Ad", "Ada")
    except SglError as error:
        assert leave.startswith("raise") and error.name == "Odd"
    finally:
        engine.close()
    assert not any(event.kind == "hole_end" for event in events)


def test_errors_of_the_call_are_raised_at_the_loop() -> None:
    text = """fn fails() -> int raises Odd:
    user: | q
    assistant: | ?{n: int in 0..9}
    if n == 7: raise Odd(n)
    return n

pub fn f() -> [int]:
    var seen: [int] = []
    try:
        for n in stream fails():
            seen = seen + [n]
    except Odd as odd:
        return seen + [odd.age]
    return seen
"""
    assert _run(text, ["7"])[0].value == [7], "no part of a number comes before it is complete"
    assert _run(text, ["3"])[0].value == [3]


def test_a_retry_begins_the_parts_again() -> None:
    text = """fn word() -> str:
    user: | q
    assistant: | ?{w: str max 8 chars}
    ensure w != "bad"
        retry 1 resample
    return w

pub fn f() -> [str]:
    var seen: [str] = []
    for w in stream word():
        seen = seen + [w]
    return seen
"""
    value: Any = _run(text, ["bad", "good"])[0].value
    assert "bad" in value and value[-1] == "good" and value.index("bad") < value.index("good")


def test_streams_stand_in_forks_parts_and_streams() -> None:
    text = """part shown() -> str:
    | Here:
    var last = ""
    for p in stream crew("x") as c:
        for q in stream crew(p.name if p.name != null else "y"):
            last = q.name if q.name != null else last
            break
    return c.name + last

pub fn f() -> [str]:
    user: | q
    let tries = fork i in 0..<2 seed i:
        var found = ""
        assistant:
            let made = part shown()
            found = made
        yield found
    return [t.value for t in tries]
"""
    program = compile_source(
        Source(
            "p.sgl",
            CREW
            + text
            + """
test "all of it":
    fuzz f() times 5:
        expect len(it) == 2
""",
        )
    ).program
    assert program is not None
    for seed in range(3):
        result = asyncio.run(Session(program).run_test("all of it", seed=seed))
        assert result.passed, result


def test_a_run_that_is_cancelled_stops_its_streams() -> None:
    program = compile_source(Source("p.sgl", CREW + PARTS)).program
    assert program is not None
    engine = ReferenceEngine(ScriptedModel([ADA]))

    async def stopped() -> set[asyncio.Task[Any]]:
        def listen(event: Event) -> None:
            if event.text:
                task.cancel()

        task = asyncio.ensure_future(Session(program, engine).run("f", {}, on_event=listen))
        await asyncio.wait([task])
        assert task.cancelled()
        for _ in range(3):
            await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]

    try:
        assert asyncio.run(stopped()) == set()
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ("STREAM_NEXT RETURN", "no stream is the newest"),
        ("STREAM_PART RETURN", "no stream is the newest"),
        ("END_STREAM RETURN", "not the newest that is open"),
        ("CONSTANT STREAM CONSTANT RETURN", "left behind"),
        ("CONSTANT STREAM MARK STREAM_NEXT RETURN", "no stream is the newest"),
        ("CONSTANT FEW END_STREAM RETURN", "no such function with so many"),
        ("CONSTANT STREAM END_STREAM RETURN", ""),
    ],
)
def test_the_verifier_refuses_streams_that_are_not_closed_in_turn(steps: str, fault: str) -> None:
    program = compile_source(Source("p.sgl", CREW + PARTS)).program
    assert program is not None
    crew = next(i for i, code in enumerate(program.codes) if code.name == "crew")
    operands = {"STREAM": (crew, 1), "FEW": (crew, 0)}
    codes = list(program.codes)
    made = tuple(
        Instruction(BY_NAME["STREAM" if name == "FEW" else name].number, *operands.get(name, (0, 0)))
        for name in steps.split()
    )
    place = codes[crew].places[0]
    codes[crew] = replace(codes[crew], instructions=made, places=(place,) * len(made), retries=())
    reasons = [found.reason for found in verify(replace(program, codes=tuple(codes)))]
    assert [reason for reason in reasons if fault and fault in reason] or (not fault and not reasons), reasons
