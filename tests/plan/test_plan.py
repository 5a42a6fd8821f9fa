"""Plans of programs: goldens that people can read, sums over all ways, and bounds that every run keeps."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from checkout import DOCS, EXAMPLES
from example_budget import examples
from fakes.small_models import FickleModel, small_tokenizer
from golden_case import GoldenCase, golden_cases
from sglc.analysis.layout_items import Filled, Layout
from sglc.bytecode.code import Program
from sglc.driver import compile_file, compile_source
from sglc.plan.collect import plan_program
from sglc.plan.data import as_data
from sglc.plan.measured import Measured, NoTrace, Took, from_trace
from sglc.plan.plan import FunctionPlan, HolePlan, ProgramPlan
from sglc.plan.text import WIDTH, Picture
from sglc.plan.totals import Totals
from sglc.runtime.bounds import token_graph
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from sglc.types.type import EnumType, ListOf, Named, Str

SCHEMA = json.loads((DOCS / "plan.schema.json").read_text("utf-8"))


@pytest.fixture(autouse=True)
def little_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_graph, "EFFORT", 4_000_000)


def example(name: str) -> Program:
    program = compile_file(EXAMPLES / f"{name}.sgl").program
    assert program is not None
    return program


def asking(program: Program) -> list[str]:
    return [name for name, index in program.entry.items() if program.codes[index].kind == "fn"]


def planned(program: Program, small: bool = True, names: list[str] | None = None) -> ProgramPlan:
    tokenizer = small_tokenizer() if small else None
    return plan_program(
        program, names or asking(program), model="small" if small else "", tokenizer=tokenizer
    )


def planned_text(text: str) -> ProgramPlan:
    result = compile_source(Source("case.sgl", text))
    assert result.program is not None, result.diagnostics
    return planned(result.program)


def plan_of(text: str) -> FunctionPlan:
    """The plan of the last function of a program."""
    return planned_text(text).functions[-1]


@pytest.mark.parametrize("case", golden_cases("plan"), ids=str)
def test_goldens(case: GoldenCase, golden) -> None:
    """The input is `EXAMPLE tokens`, or `EXAMPLE bytes`, then functions."""
    name, unit, *names = case.input.split()
    plan = planned(example(name), unit == "tokens", names)
    measured = None
    if case.name.endswith("with a run"):
        holes = {hole.name: Took(2, 61, 33, 28, 30) for hole in plan.functions[0].holes}
        measured = Measured(holes, 177, 19, 30, 13, 6)
    text = Picture(plan, measured).text()
    assert max(map(len, text.split("\n"))) <= WIDTH
    golden(case, text)


def test_colours_change_nothing_else() -> None:
    import re

    plan = planned(example("ideas"))
    colored = Picture(plan, color=True).text()
    assert colored != Picture(plan).text() == re.sub(r"\x1b\[\d+m", "", colored)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["character", "loop", "errors", "query", "tree", "completion", "repair"])
@pytest.mark.parametrize("small", [True, False], ids=["tokens", "bytes"])
def test_the_json_form_keeps_its_schema(name: str, small: bool) -> None:
    plan = planned(example(name), small)
    measured = Measured({"f.x": Took(1, 2, 3, 4, None)}, 5)
    for data in (as_data(plan), as_data(plan, measured)):
        jsonschema.validate(json.loads(json.dumps(data)), SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**as_data(plan), "unit": "words"}, SCHEMA)


# -- sums ------------------------------------------------------------------------------------------------

ONE = "?{%s: int in 1..6}"
ASKS = """\
fn g() -> int:
    user: | x
    assistant: | ?{one: int in 1..6}
    return one
"""


def body(*lines: str, header: str = "fn f(x: bool, xs: [int; 1..3]) -> int:") -> str:
    return "\n".join(
        [ASKS, header, "    assistant:", *(f"        {line}" for line in lines), "    return 0", ""]
    )


@pytest.mark.parametrize(
    ("lines", "least", "most"),
    [
        (["| ?{a: int in 1..6}", "| ?{b: int in 1..6}"], 2, 2),
        (["for i in 0..<4:", "    | ?{a: int in 1..6}"], 4, 4),
        (["for i in xs:", "    | ?{a: int in 1..6}"], 1, 3),
        (
            [
                "if x:",
                "    | ?{a: int in 1..6}",
                "    | ?{b: int in 1..6}",
                "else:",
                "    | ?{c: int in 1..6}",
            ],
            1,
            2,
        ),
        (["if x:", "    | ?{a: int in 1..6}"], 0, 1),
        (["| ?{a: int in 1..6}", "if x: return 1", "| ?{b: int in 1..6}"], 1, 2),
        (["for i in xs:", "    | ?{a: int in 1..6}", "    if a == 3: break"], 0, 3),
        (["for i in xs:", "    if i > 1 or x: continue", "    | ?{a: int in 1..6}"], 0, 3),
        (["for i in xs:", "    if x:", "        if i > 1: continue", "    | ?{a: int in 1..6}"], 0, 3),
        (["for i in xs:", "    if i > 1 or x:", "        | ?{a: int in 1..6}"], 0, 3),
        (["for i in xs:", "    if x: continue", "    | ?{a: int in 1..6}"], 0, 3),
        (
            ["for i in xs:", "    | ?{a: int in 1..6}", "    if x:", "        if i > 1: continue"]
            + ["        | ?{b: int in 1..6}", "    else:", "        | ?{c: int in 1..6}"]
            + ["        | ?{d: int in 1..6}", "    | ?{e: int in 1..6}"],
            1,
            12,
        ),
        (["while x limit 3:", "    | ?{a: int in 1..6}"], 0, 3),
        (["| ?{a: int in 1..6}", 'ensure a > 2 else "no"', "    retry 2 resample"], 1, 3),
        # What stands between a hole and its condition is run again with it,
        (
            ["| ?{a: int in 1..6}", "| ?{b: int in 1..6}", 'ensure a > 2 else "no"', "    retry 2 resample"],
            2,
            6,
        ),
        # calls too,
        (["| ?{a: int in 1..6}", "let b = g()", 'ensure a > 2 else "no"', "    retry 2 resample"], 2, 6),
        # and conditions in it have their attempts anew.
        (
            ["| ?{a: int in 1..6}", "| ?{b: int in 1..6}", 'ensure b > 2 else "no"', "    retry 1 resample"]
            + ['ensure a > 2 else "no"', "    retry 2 resample"],
            2,
            9,
        ),
        (
            ["| ?{a: int in 1..6}", "| ?{b: int in 1..6}", "if x:", '    ensure a > 2 else "no"']
            + ["        retry 2 resample"],
            2,
            6,
        ),
    ],
)
def test_sums_are_over_all_ways(lines: list[str], least: int, most: int) -> None:
    found = plan_of(body(*lines))
    assert (found.least, found.most) == (least, most)


CALLS = """\
fn g() -> int:
    user: | x
    assistant: | ?{a: int in 1..6}
    return a

fn f() -> int:
    let b = g()
    let c = g()
    user: | x
    let all = fork i in 0..<3:
        assistant: | ?{d: int in 1..6}
        yield d
    return b + c
"""

ITSELF = """\
fn f(n: int) -> int:
    user: | x
    assistant: | ?{a: int in 1..6}
    if n > 0: return f(n - 1)
    return a
"""

CHOOSING = """\
fn f(x: [str]) -> str:
    user: | x
    assistant: | ?{a: choose ["red", "blue"]} ?{b: choose x}
    return a + b
"""


def test_calls_and_forks_count() -> None:
    found = plan_of(CALLS)
    assert (found.least, found.most) == (5, 5)
    assert [row.function for row in found.rows if row.kind == "call"] == ["g", "g"]


def test_a_budget_of_a_callee_bounds_its_caller() -> None:
    text = CALLS.replace("fn g() -> int:", "fn g() -> int within 9 tok:").replace(
        "int in 1..6}\n    return a", "[int] max 40 tok}\n    return a[0]"
    )
    assert plan_of(text).most == 9 + 9 + 3


def test_holes_of_a_callee_are_planned_where_they_stand() -> None:
    text = CALLS.replace("| ?{a: int in 1..6}", '| ?{a: "one" | "two"}').replace(
        "return a\n", "return len(a)\n"
    )
    callee, caller = planned_text(text).functions
    assert callee.least == callee.most and callee.holes[0].exact
    assert (caller.least, caller.most) == (2 * callee.least + 3, 2 * callee.least + 3)


def test_a_function_that_calls_itself_has_no_bound() -> None:
    found = plan_of(ITSELF)
    assert (found.least, found.most) == (1, None)


@pytest.mark.parametrize(
    ("decode", "holds"),
    [
        ("temp 1.0", 3),
        ("decode beam(2)", 8),
        ("n 2 decode beam(2)", 8),
        ("n 2 temp 1.0", 6),
        ("temp 1.0 decode smc(4)", 16),
        ("n 2 temp 1.0 decode smc(4)", 32),
        ("temp 1.0 decode exact(tries = 5)", 20),
    ],
)
def test_budgets_count_the_texts_that_strategies_try(decode: str, holds: int) -> None:
    """A value of three bytes has three tokens at most, a text that is tried one more with its end."""

    def verdict(within: int) -> str | None:
        listed = "[str]" if decode.startswith("n ") else "str"
        hole = f"?{{x: str matching /[abc]{{3}}/ {decode}}}"
        plan = plan_of(f"fn f() -> {listed} within {within} tok:\n    | {hole}\n    return x\n")
        assert plan.most == (6 if decode.startswith("n 2 temp") else 3)
        return plan.verdict

    assert (verdict(holds), verdict(holds - 1)) == ("holds", "may be cut")


@pytest.mark.parametrize(("within", "verdict"), [(2, "holds"), (300, "holds")])
def test_a_budget_that_holds(within: int, verdict: str) -> None:
    lines = ["| ?{a: int in 1..6}", "| ?{b: int in 1..6}"]
    assert plan_of(body(*lines, header=f"fn f() -> int within {within} tok:")).verdict == verdict


def test_a_budget_that_may_cut_or_cannot_hold() -> None:
    lines = ["| ?{a: str max 80 chars}"]
    assert plan_of(body(*lines, header="fn f() -> int within 9 tok:")).verdict == "may be cut"
    lines = ["| ?{a: str min 9 chars max 12 chars matching /[xyz]*/}"]
    assert plan_of(body(*lines, header="fn f() -> int within 3 tok:")).verdict == "cannot hold"


def test_without_a_model_a_budget_holds_where_bytes_do() -> None:
    def verdict(within: int) -> str | None:
        text = body("| ?{a: str max 10 chars}", header=f"fn f() -> int within {within} tok:")
        program = compile_source(Source("case.sgl", text)).program
        assert program is not None
        return planned(program, small=False).functions[-1].verdict

    assert (verdict(40), verdict(39)) == ("holds", "unknown")


def test_options_that_are_constants_are_known() -> None:
    known, unknown = plan_of(CHOOSING).holes
    assert known.exact and known.most_exact and known.least >= 1
    assert (unknown.least, unknown.most, unknown.exact) == (0, None, False)
    assert unknown.because == "its options are values of the run"


COPIES = """\
fn ask(short: bool, x: str) -> str:
    user:
        | ${x}?
        if short: | Be brief.
    assistant: | ?{y: "a" | "b"}
    return y

pub fn main(x: str) -> [str]:
    return [ask(true, x), ask(false, x)]
"""


def test_copies_have_the_name_of_the_function_that_was_written() -> None:
    program = compile_source(Source("case.sgl", COPIES)).program
    assert program is not None and any(code.copy_of == "ask" for code in program.codes)
    plan = plan_of(COPIES)
    assert [row.function for row in plan.rows if row.kind == "call"] == ["ask", "ask"]


def test_callees_are_planned_once_however_they_are_called(tmp_path: Path) -> None:
    """Of an imported function that only copies are called of, the copies are planned."""
    (tmp_path / "m.sgl").write_text(COPIES.replace("fn ask", "pub fn ask"), "utf-8")
    main = tmp_path / "main.sgl"
    main.write_text(
        "use ./m (ask)\n\npub fn top(x: str) -> [str]:\n    return [ask(true, x), ask(false, x)]\n", "utf-8"
    )
    program = compile_file(main).program
    assert program is not None
    plan = plan_program(program, ["top"], callees=True)
    assert [function.signature for function in plan.functions] == [
        "top(x: str) -> [str]",
        *["m.ask(x: str) -> str"] * 2,
    ]
    inbox = plan_program(example("inbox"), ["inbox"], callees=True)
    assert [function.name for function in inbox.functions] == ["inbox", "card", "topic", "mood", "reply"]


def test_a_sum_is_that_of_the_rows_but_where_budgets_may_cut() -> None:
    hole = HolePlan("f.a", "gen", "T", 11, True, 20, False, cut=10)
    items = Layout("f", (Filled(0, 1, {}), Filled(0, 1, {})))
    sums = [Totals(lambda name: items, lambda item: hole, True, cut=cut) for cut in (False, True)]
    assert [each.of_function("f").least for each in sums] == [22, 20]


# -- the law ---------------------------------------------------------------------------------------------

TEXTS = ("the sea", "another answer", "", "No. 7, été")
BUDGET = 400
"""Tokens of a run: values without a bound have an end too."""


def arguments_of(program: Program, name: str, random: Random) -> dict[str, object]:
    """Values for the parameters that have no default: of examples all are texts or enums."""
    table = program.table
    found: dict[str, object] = {}
    for parameter in program.codes[program.entry[name]].parameters:
        if parameter.has_default:
            continue
        type = program.types[parameter.type]
        if isinstance(type, Named):
            declared = table[type.name]
            assert isinstance(declared, EnumType), (name, parameter)
            found[parameter.name] = random.choice(declared.members)
        elif type == ListOf(Str()):
            found[parameter.name] = ["billing", "repairs"]
        else:
            assert isinstance(type, Str), (name, parameter)
            found[parameter.name] = random.choice(TEXTS)
    return found


def run(
    session: Session, name: str, arguments: dict[str, object], seed: int, most: int
) -> tuple[list[dict[str, Any]], bool]:
    """The ends of holes in a run, and whether it came to its end."""
    ends: list[dict[str, Any]] = []

    def hear(event: Event) -> None:
        if event.kind == "hole_end":
            ends.append(dict(event.data))

    try:
        asyncio.run(session.run(name, arguments, seed=seed, max_tokens=most, on_event=hear))
    except SglError:
        return ends, False
    return ends, True


@pytest.mark.slow
def test_every_run_of_the_examples_keeps_its_bounds() -> None:
    """SGLC_TEST_EXAMPLES=5000 runs so many."""
    random = Random(0)
    programs: dict[str, tuple[Program, dict[str, FunctionPlan], dict[str, list[HolePlan]]]] = {}
    stems = [path.stem for path in sorted(EXAMPLES.glob("*.sgl"))]
    runs = [(stem, name) for stem in stems for name in asking(example(stem))]
    random.shuffle(runs)
    for number in range(examples(16)):
        key = runs[number % len(runs)]
        if key[0] not in programs:
            program = example(key[0])
            names, tokenizer = asking(program), small_tokenizer()
            plans = plan_program(program, names, model="small", tokenizer=tokenizer, callees=True).functions
            holes: dict[str, list[HolePlan]] = {}  # copies of a function share the names of its holes
            for each in plans:
                for hole in each.holes:
                    holes.setdefault(hole.name, []).append(hole)
            programs[key[0]] = program, {plan.name: plan for plan in plans}, holes
        program, functions, bounds = programs[key[0]]
        plan = functions[key[1]]
        engine = ReferenceEngine(FickleModel(number, context_length=1 << 14))
        most = random.choice((BUDGET, BUDGET, 60, 20))
        arguments = arguments_of(program, key[1], random)
        ends, whole = run(Session(program, engine), key[1], arguments, number, most)
        engine.close()
        cut = False
        for end in ends:
            tokens, spent = end.get("tokens", 0), end["ended"] == "budget"
            cut = cut or spent
            assert any(
                (min(hole.cut, hole.least) if spent else hole.least) <= tokens
                and (hole.most is None or tokens <= hole.most)
                for hole in bounds[end["hole"]]
            ), (key, end, bounds[end["hole"]])
        total = sum(end.get("tokens", 0) for end in ends)
        assert plan.most is None or total <= plan.most, (key, total, plan.most)
        assert not whole or cut or plan.least <= total, (key, total, plan.least)


# -- traces ----------------------------------------------------------------------------------------------


def test_a_trace_has_the_figures_of_its_holes() -> None:
    ends = [
        {"event": "hole_end", "hole": "f.a", "tokens": 3, "sampled": 2, "forced": 1, "prompt": 7},
        {"event": "text", "text": "x"},
        {"event": "hole_end", "hole": "f.a", "tokens": 4, "sampled": 4, "forced": 0, "prompt": 9},
        {"event": "hole_end", "hole": "f.s", "ended": "select"},
    ]
    found = from_trace([json.dumps(end) for end in ends] + [""])
    assert found.holes == {"f.a": Took(2, 7, 6, 1, None), "f.s": Took(1, 0, 0, 0, None)}
    assert (found.prompt, found.passes, found.tokens) == (16, None, 7)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "3",
        '{"x": 1}',
        '{"event": "hole_end"}',
        '{"event": "hole_end", "hole": "a", "tokens": "3"}',
    ],
)
def test_what_is_no_trace_is_told(line: str) -> None:
    with pytest.raises(NoTrace, match="line 1"):
        from_trace([line])
