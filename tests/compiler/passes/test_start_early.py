"""Calls that are started early: which, where, and that no start is in vain."""

from __future__ import annotations

from collections import Counter, deque
from random import Random

import pytest
from hypothesis import given, settings

from example_budget import examples
from fakes.hashed_engine import HashedEngine
from golden_case import GoldenCase, golden_cases
from outcomes import compiled, outcome
from sglc.analysis.effects import Effect, effects
from sglc.analysis.known_values import BRIEF, brief_functions
from sglc.bytecode.opcodes import BY_NAME
from sglc.driver import lowered
from sglc.ir import ops
from sglc.ir.module import Module
from sglc.ir.print import print_function, print_module
from sglc.ir.read import read
from sglc.ir.verify import verify
from sglc.passes import start_early
from sglc.runtime.vm import machine as machine_module
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.source import Source
from strategies.programs.source_programs import SourceProgram, source_program, source_programs

DECLARED = """\
error ErrorInfo("Odd", ("n",))
hole h0 = HoleInfo("ask.a", type=Str(max_chars=9), stops=("\\n",))
hole h1 = HoleInfo("judge.j", type=Str(max_chars=9), stops=("\\n",))
"""
ASKING = """
fn @ask(x $x: Str()) {
^entry:
  %0 = gen h0 ()
  return %0
}
fn @judge(x $x: Str()) {
^entry:
  %0 = gen h1 ()
  return %0
}
"""


def module_of(text: str) -> Module:
    """The functions of a case beside `ask` and `judge`, which ask the model. Holes come first."""
    lines = text.split("\n")
    holes = [line for line in lines if line.startswith("hole ")]
    rest = [line for line in lines if not line.startswith("hole ")]
    return read("\n".join([DECLARED, *holes, ASKING, *rest]))


@pytest.mark.parametrize("case", golden_cases("passes/start_early"), ids=str)
def test_goldens(case: GoldenCase, golden) -> None:
    module = module_of(case.input)
    assert verify(module) == []
    changed = start_early.run(module)
    assert verify(changed) == []
    assert read(print_module(changed)) == changed
    assert start_early.run(changed) is changed
    shown = [f for f in changed.functions if f.name not in ("ask", "judge")]
    golden(case, "\n".join(print_function(function) for function in shown))


# -- analyses --------------------------------------------------------------------------------------


def test_effects_are_those_of_all_that_is_called() -> None:
    table = effects(
        module_of(
            """\
fn @plain() {
^entry:
  text "no hole"
  %0 = const 1
  return %0
}
part @writes() {
^entry:
  %0 = const "x"
  %1 = call @ask (%0)
  return %1
}
fn @outer() {
^entry:
  %0 = call_part @writes ()
  %1 = call @plain ()
  return %0
}
"""
        )
    )
    assert table["plain"].effect == Effect.NONE
    assert table["ask"].effect == table["outer"].effect == Effect.MODEL
    # The part's call is one of the conversation that the part writes into.
    assert table["outer"].calls == {"ask", "plain"}
    assert table["writes"].calls == {"ask"}


def test_functions_are_brief_up_to_the_bound() -> None:
    def pure(name: str, operations: int, call: str = "") -> str:
        lines = [f"  %{number} = const {number}" for number in range(operations)]
        called = f"  %{operations} = call @{call} ()\n" if call else ""
        return f"pure @{name}() {{\n^entry:\n" + "\n".join(lines) + f"\n{called}  return %0\n}}"

    text = "\n".join(
        [
            pure("small", 3),
            pure("full", BRIEF - 1),
            pure("long", BRIEF),
            pure("both", BRIEF - 6, "small"),
            pure("too_much", BRIEF - 5, "small"),
            pure("again", 3, "again"),
        ]
    )
    # Beside its constants each has a `return`, and a call where it calls.
    assert brief_functions(read(text)) == {"small": 4, "full": BRIEF, "both": BRIEF}


def test_a_function_that_a_trace_tells_of_is_not_brief() -> None:
    module = read(
        """\
pure @plain(x $x: Int()) {
^entry:
  %0 = load $x
  return %0
}
pure @catches(x $x: Int()) {
^entry:
  try ^body ^failed false
^body:
  %0 = load $x
  store $y %0
  end_try
  jump ^done
^failed:
  %1 = const 1
  store $y %1
  jump ^done
^done:
  %2 = load $y
  return %2
}
pure @notes(x $x: Int()) {
^entry:
  %0 = load $x
  record_check true %0
  return %0
}
"""
    )
    assert verify(module) == []
    assert brief_functions(module) == {"plain": 2}


# -- starts and calls ------------------------------------------------------------------------------


class Watch:
    """Follows starts and calls of a run: each start should be that of the next call of its function."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        self._waiting: dict[tuple[int, int], deque[str]] = {}
        handlers = list(machine_module.HANDLERS)
        for name, watch in (("START", self._start), ("CALL", self._call), ("RETURN", self._return)):
            handlers[BY_NAME[name].number] = self._watched(handlers[BY_NAME[name].number], watch)
        monkeypatch.setattr(machine_module, "HANDLERS", tuple(handlers))

    @staticmethod
    def _watched(step, watch):
        def watched(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
            watch(machine, frame, a, b)
            return step(machine, frame, a, b)

        return watched

    def _key(self, frame: Frame, callee: int) -> tuple[int, int]:
        return id(frame.conversation), callee

    def _start(self, machine: Strand, frame: Frame, a: int, b: int) -> None:
        self.counts["start"] += 1
        self._waiting.setdefault(self._key(frame, a), deque()).append(
            repr(frame.stack[len(frame.stack) - b :])
        )

    def _call(self, machine: Strand, frame: Frame, a: int, b: int) -> None:
        waiting = self._waiting.get(self._key(frame, a))
        if waiting:
            same = waiting.popleft() == repr(frame.stack[len(frame.stack) - b :])
            self.counts["same" if same else "other"] += 1
        elif machine.program.codes[a].kind == "fn":
            self.counts["without"] += 1

    def _return(self, machine: Strand, frame: Frame, a: int, b: int) -> None:
        if frame.owns or frame.code.kind == "fork":
            for (conversation, _), waiting in self._waiting.items():
                if conversation == id(frame.conversation):
                    self.counts["never"] += len(waiting)
                    waiting.clear()


@pytest.mark.slow
@given(program=source_programs())
@settings(max_examples=examples(16))
def test_where_no_error_comes_every_start_is_that_of_the_next_call(program: SourceProgram) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        watch = Watch(monkeypatch)
        seen = outcome(compiled(program.text, 2), program.arguments, HashedEngine())
    went_well = not any(event[0] in ("error", "retry") for stream in seen.events.values() for event in stream)
    if seen.error is None and went_well:
        assert watch.counts["other"] == watch.counts["never"] == 0
        assert watch.counts["start"] == watch.counts["same"]


@pytest.mark.slow
def test_random_programs_have_starts() -> None:
    # The property above holds of programs without any.
    with pytest.MonkeyPatch.context() as monkeypatch:
        watch = Watch(monkeypatch)
        for seed in range(30):
            program = source_program(Random(seed))
            outcome(compiled(program.text, 2), program.arguments, HashedEngine())
    assert watch.counts["same"] > 30


def started(text: str) -> Module:
    """A program as level 2 leaves it."""
    module, found = lowered(Source("early.sgl", text))
    assert module is not None, [each.message for each in found]
    return module


@pytest.mark.parametrize(("guards", "starts"), [(40, True), (400, False)])
def test_a_loop_with_very_many_guards_is_left_as_it_is(guards: int, starts: bool) -> None:
    skips = "".join(f"        if n == {k}: continue\n" for k in range(guards))
    text = f"""\
fn ask(n: int) -> int:
    user: | ${{n}}
    assistant: | ?{{a: int in 0..9}}
    return a

pub fn main(ns: [int]) -> [int]:
    var found: [int] = []
    for n in ns:
{skips}        found += [ask(n)]
    return found
"""
    made = started(text)
    assert any(isinstance(op, ops.Start) for f in made.functions for b in f.blocks for op in b.ops) is starts


@pytest.mark.parametrize("step", ["v{} + n", "v{}", "-v{}", "[v{}][0]"])
def test_arguments_may_be_made_of_very_many_variables(step: str) -> None:
    lines = "".join(f"    let v{k + 1} = {step.format(k)}\n" for k in range(1500))
    text = f"""\
fn ask(n: int) -> int:
    user: | ${{n}}
    assistant: | ?{{a: int in 0..9}}
    return a

pub fn main(n: int) -> int:
    let v0 = n
{lines}    let first = ask(0)
    return first + ask(v1500)
"""
    (main,) = [each for each in started(text).functions if each.name == "main"]
    assert sum(isinstance(op, ops.Start) for block in main.blocks for op in block.ops) == 2
