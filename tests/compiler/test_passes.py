"""Each pass on IR text, and four properties of every pass over random IR."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from golden_case import GoldenCase, golden_cases
from oracles.ir_interpreter import Interpreter
from sglc.ir.literal import print_literal
from sglc.ir.module import Function, Module
from sglc.ir.print import print_function, print_module
from sglc.ir.read import read
from sglc.ir.verify import verify
from sglc.options import LEVELS
from sglc.passes import (
    dead_code,
    fold,
    forced_text,
    inline,
    merge_text,
    pipeline,
    specialise,
    start_early,
    unroll,
)
from strategies.ir_strategies import modules

PASSES = {
    "merge_text": merge_text.run,
    "fold": fold.run,
    "dead_code": dead_code.run,
    "inline": inline.run,
    "forced_text": forced_text.run,
    "unroll": unroll.run,
    "specialise": specialise.run,
}
EVERY = [*PASSES, "start_early", "pipeline"]


def run_pass(name: str, module: Module) -> Module:
    others = {"pipeline": pipeline.run, "start_early": start_early.run}
    return {**PASSES, **others}[name](module)


def functions_text(module: Module) -> str:
    return "\n\n".join(print_function(function) for function in module.functions)


def holes_text(module: Module) -> str:
    return "\n".join(print_literal(hole) for hole in module.holes)


@pytest.mark.parametrize(
    ("name", "case"),
    [(name, case) for name in PASSES for case in golden_cases(f"passes/{name}")],
    ids=lambda value: str(value),
)
def test_goldens(name: str, case: GoldenCase, golden) -> None:
    module = read(case.input)
    assert verify(module) == []
    after = run_pass(name, module)
    golden(case, holes_text(after) if name == "forced_text" else functions_text(after))


# All passes see each random module, because drawing one costs more than the passes do.


@pytest.mark.slow
@given(module=modules(), argument=st.sampled_from(["", "x", "two\nlines"]))
@settings(max_examples=examples(150))
def test_a_pass_keeps_the_module_sound_and_what_an_observer_sees(module: Module, argument: str) -> None:
    assert verify(module) == []
    before = Interpreter(module).run("main", (argument,))
    for name in EVERY:
        changed = run_pass(name, module)
        assert verify(changed) == [], name
        assert Interpreter(changed).run("main", (argument,)) == before, name


@pytest.mark.slow
@given(module=modules())
@settings(max_examples=examples(20))
def test_a_second_run_of_a_pass_changes_nothing(module: Module) -> None:
    for name in (*PASSES, "start_early"):
        once = run_pass(name, module)
        assert print_module(run_pass(name, once)) == print_module(once), name


@pytest.mark.slow
@given(module=modules())
@settings(max_examples=50)
def test_dead_code_needs_not_look_again_at_what_it_has_left(module: Module) -> None:
    tidy = dead_code.run(module)
    for name in ("fold", "unroll", "specialise"):
        changed = run_pass(name, tidy)
        assert print_module(dead_code.run(changed, tidy)) == print_module(dead_code.run(changed)), name
        assert dead_code.run(tidy, tidy) is tidy


FORKING = """\
fn @f() {
^entry:
  %0 = const 1
  store $x %0
  %1 = const [1, 2]
  %2 = fork @f.fork0 %1 false
  return %2
}

fork @f.fork0(i $i: Int()) {
  parent @f
^entry:
  %0 = load $x
  return %0
}

fn @g() {
^entry:
  %0 = const null
  return %0
}
"""


def test_what_only_a_fork_body_has_read_goes_with_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    tidy = dead_code.run(read(FORKING))
    looked_at: list[str] = []
    unused = dead_code._unused

    def counted(function: Function, read: set[str]) -> Function:
        looked_at.append(function.name)
        return unused(function, read)

    monkeypatch.setattr(dead_code, "_unused", counted)
    constant = read(FORKING.replace("load $x", "const 1")).function("f.fork0")
    functions = tuple(constant if each.name == constant.name else each for each in tidy.functions)
    after = dead_code.run(replace(tidy, functions=functions), tidy)
    assert "store" not in print_function(after.function("f"))
    assert "g" not in looked_at
    assert after.function("g") is tidy.function("g")


@given(module=modules())
@settings(max_examples=30)
def test_what_is_printed_is_read_back(module: Module) -> None:
    text = print_module(module)
    assert read(text) == module
    assert print_module(read(text)) == text


def test_an_observer_sees_the_steps_of_a_level() -> None:
    module = read('fn @f() {\n^entry:\n  line\n  text "a"\n  %0 = const null\n  return %0\n}')
    for level in LEVELS:
        seen: list[pipeline.Step] = []
        after = pipeline.run(module, level, seen.append)
        assert [step.name for step in seen] == [step.name for step in pipeline.of_level(level)]
        assert [step.before for step in seen] + [after] == [module] + [step.after for step in seen]
        assert all((step.before is not step.after) == (step.before != step.after) for step in seen)
    assert pipeline.run(module, 0) is module
