"""`n k`: samples of a hole side by side, checked as a list, drawn as if each were alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.fake_executor import FakeExecutor
from fakes.small_models import small_tokenizer
from sglc.driver import compile_file
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.open import open_engine
from sglc.runtime.errors import SglError
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event


def codes(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "p.sgl"
    path.write_text(text, encoding="utf-8")
    return [diagnostic.code for diagnostic in compile_file(path).diagnostics]


def program(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "p.sgl"
    path.write_text(text, encoding="utf-8")
    compiled = compile_file(path)
    assert compiled.program is not None, compiled.diagnostics
    return compiled.program


@pytest.fixture
def engine() -> Iterator[BatchingEngine]:
    executor = FakeExecutor(small_tokenizer())
    engine = open_engine(executor, memory=executor.block_bytes * 2000)
    yield engine
    engine.close()
    assert engine.cache.stats().sequences == 0


def ask(options: str, type: str = "int in 0..999999", result: str = "[int]", then: str = "") -> str:
    return (
        f'pub fn f(text: str = "how many?") -> {result}:\n    user: | ${{text}}\n'
        f"    assistant: | Well: ?{{x: {type} {options}}}\n{then}    return x\n"
    )


def run(engine: BatchingEngine, made: Any, seed: int = 0, **options: Any) -> RunResult:
    return asyncio.run(Session(made, engine).run("f", {}, seed=seed, **options))


# -- checking ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ask("n 4 temp 0.8"), []),
        (ask("n 4"), ["W0216"]),
        (ask("n 4 temp 0"), ["W0216"]),
        (ask("n 1"), []),
        (ask("n 0 temp 1"), ["E0330"]),
        (ask("n 1025 temp 1"), ["E0330"]),
        (ask("n len(text) temp 1"), ["E0325"]),
        (ask("n 4 temp 0.8", result="int"), ["E0301"]),
        (ask("n 4 temp 0.8", type="choose [1, 2, 3]"), []),
        (ask("n 3", type="select [1, 2, 3]").replace("return x", "return [x.top]"), ["E0330"]),
        (ask("n 3 temp 1", type="str max 9 chars where x.lower() == x", result="[str]"), ["E0330"]),
        (ask("n 3 temp 1", type='str max 9 chars where x != "a"', result="[str]"), []),
    ],
)
def test_samples_are_a_list_of_known_length(text: str, found: list[str], tmp_path: Path) -> None:
    assert [code for code in codes(tmp_path, text) if code != "W0215"] == found


def test_the_length_of_the_list_is_part_of_its_type(tmp_path: Path) -> None:
    text = ask("n 3 temp 1", result="int", then="    let [a, b, c] = x\n").replace(
        "return x", "return a + b + c"
    )
    path = tmp_path / "p.sgl"
    path.write_text(text.replace("let [a, b, c] = x\n", "let a = x[0]\n").replace("a + b + c", "a"), "utf-8")
    assert compile_file(path).program is not None


def test_a_budget_counts_every_sample(tmp_path: Path) -> None:
    one = "pub fn f() -> {} within 20 tok:\n    | ?{{x: str min 60 chars max 70 chars {}}}\n    return x\n"
    assert codes(tmp_path, one.format("str", "max 20 tok")) == []
    found = codes(tmp_path, one.format("[str]", "max 20 tok n 9 temp 1"))
    assert len(found) == 1 and found[0].startswith("E")


# -- running -------------------------------------------------------------------------------------------


def test_sample_0_is_what_the_hole_draws_alone_and_others_do_not_depend_on_the_count(
    tmp_path: Path, engine: BatchingEngine
) -> None:
    alone = run(engine, program(tmp_path, ask("temp 1.2", result="int")), seed=5)
    three = run(engine, program(tmp_path, ask("n 3 temp 1.2")), seed=5)
    six = run(engine, program(tmp_path, ask("n 6 temp 1.2")), seed=5)
    assert three.value[0] == alone.value and six.value[:3] == three.value
    assert len(set(six.value)) > 3
    assert three.text == alone.text
    assert run(engine, program(tmp_path, ask("n 6 temp 1.2")), seed=6).value != six.value


def test_a_written_seed_is_varied_too(tmp_path: Path, engine: BatchingEngine) -> None:
    alone = run(engine, program(tmp_path, ask("temp 1.2 seed 9", result="int")), seed=1)
    four = run(engine, program(tmp_path, ask("n 4 temp 1.2 seed 9")), seed=2)
    assert four.value[0] == alone.value and len(set(four.value)) > 1


def test_samples_go_through_the_model_together_after_one_prompt(
    tmp_path: Path, engine: BatchingEngine
) -> None:
    result = run(engine, program(tmp_path, ask("n 16 temp 1.2")))
    assert len(result.value) == 16 and engine.measure.largest == 16
    longest = max(len(str(value)) for value in result.value)
    assert engine.statistics.forwards <= longest + 4
    prompt = len(Session(program(tmp_path, ask("n 16 temp 1.2")), engine).functions)
    assert prompt == 1 and engine.statistics.tokens_fed < 16 * 2 * longest + 200


def test_what_follows_sees_the_first_sample_only(tmp_path: Path, engine: BatchingEngine) -> None:
    then = "    user: | And now?\n    assistant: | ?{y: int in 0..9}\n"
    result = run(engine, program(tmp_path, ask("n 3 temp 1.2", then=then)))
    assert len(set(result.value)) > 1
    assert re.findall(r"Well: (\d+)", result.text) == [str(result.value[0])]


def test_a_list_that_is_rejected_is_drawn_anew(tmp_path: Path, engine: BatchingEngine) -> None:
    first = run(engine, program(tmp_path, ask("n 3 temp 1.5")), seed=1).value
    then = f'    ensure x[0] != {first[0]} else "again"\n        retry 9 resample\n'
    result = run(engine, program(tmp_path, ask("n 3 temp 1.5", then=then)), seed=1)
    assert first[0] not in result.value and result.value[1:] != first[1:]


def test_values_run_out_for_samples_too(tmp_path: Path, engine: BatchingEngine) -> None:
    then = '    ensure x[0] > 5 else "too small"\n        retry 30 resample\n        else return [0]\n'
    made = ask("n 2 temp 1.5", type="int in 0..2", then=then)
    if codes(tmp_path, made):
        made = made.replace("        else return [0]\n", "")
    with pytest.raises(SglError):
        run(engine, program(tmp_path, made))


def test_budgets_are_shared_out(tmp_path: Path, engine: BatchingEngine) -> None:
    made = program(tmp_path, ask("n 4 temp 1.2", type="str min 2 chars max 90 chars", result="[str]"))
    result = run(engine, made, max_tokens=40)
    assert len(result.value) == 4 and result.statistics.output_tokens <= 40
    with pytest.raises(SglError) as raised:
        run(engine, made, max_tokens=3)
    assert raised.value.name in ("Truncated", "Budget")


def test_a_sample_that_fails_ends_the_others(tmp_path: Path, engine: BatchingEngine) -> None:
    executor = engine.model
    assert isinstance(executor, FakeExecutor)
    made = program(tmp_path, ask("n 5 temp 1.2"))
    session = Session(made, engine)
    asyncio.run(session.run("f", {}))
    calls = 0

    def fault(piece: Any) -> bool:
        nonlocal calls
        calls += 1
        return calls > 3

    executor.fault = fault
    with pytest.raises(SglError) as raised:
        asyncio.run(session.run("f", {"text": "another question"}))
    assert raised.value.name == "Backend"
    executor.fault = None
    engine.cache.check()


def test_events_tell_samples_apart_and_adopt_the_first(tmp_path: Path, engine: BatchingEngine) -> None:
    events: list[Event] = []
    result = run(engine, program(tmp_path, ask("n 3 temp 1.2")), on_event=events.append)
    ends = {event.branch: event.data["text"] for event in events if event.kind == "hole_end"}
    assert ends == {str(number): str(value) for number, value in enumerate(result.value)}
    kinds = [event.kind for event in events if event.kind in ("fork", "adopt")]
    assert kinds == ["fork", "adopt"]


def test_mocks_and_fuzz_answer_each_sample(tmp_path: Path) -> None:
    made = program(
        tmp_path,
        ask("n 3 temp 1", type="int in 0..9")
        + 'test "m":\n    mock f.x = 4\n    mock f.x = 5\n    mock f.x = 6 always\n'
        "    expect f() == [4, 5, 6]\n"
        + 'test "z":\n    fuzz f() times 20:\n        expect len(it) == 3\n        expect it[2] <= 9\n',
    )
    session = Session(made)
    for name in ("m", "z"):
        found = asyncio.run(session.run_test(name))
        assert found.passed, (found.error, found.missed)
