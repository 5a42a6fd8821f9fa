"""Strategies of holes in the IR, in bytecode and in files: kept as they are, refused where they cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sglc.bytecode.code import Program
from sglc.bytecode.disasm import disassemble
from sglc.bytecode.serial import dumps, loads
from sglc.bytecode.verify import verified
from sglc.driver import compile_source, lowered
from sglc.ir.print import print_module
from sglc.ir.read import read
from sglc.ir.verify import verify
from sglc.options import CompileOptions
from sglc.source import Source
from sglc.types.decoding import COUNTS, TRIES, Decoding, Strategy
from sglc.types.model_use import ModelUse, ModelView

SOURCE = Source(
    "p.sgl",
    """pub fn f() -> int:
    | ?{a: int in 1..9 temp 1.0 decode exact(tries = 7)} ?{b: int in 1..9 temp 1.0 decode smc(3)}
    | ?{c: int in 1..9 decode beam(4, by = "mean")} ?{d: int in 1..9 decode local} ?{e: int in 1..9}
    | ?{g: int in 1..9 temp 1.0 n 2 distinct}
    return a + b + c + d + e + g[0]
""",
)
WRITTEN = (
    Decoding("exact", 7),
    Decoding("smc", 3),
    Decoding("beam", 4, "mean"),
    Decoding("local"),
    None,
    Decoding("exact", TRIES, distinct=True),
)
TWO = ModelUse(ModelView("small"), ModelView("big"))


@pytest.fixture(scope="module")
def program() -> Program:
    made = compile_source(SOURCE).program
    assert made is not None
    return made


def test_programs_and_files_keep_them(program: Program) -> None:
    assert tuple(hole.decoding for hole in program.holes) == WRITTEN
    again, faults = loads(dumps(program))
    assert again is not None, faults
    assert tuple(hole.decoding for hole in again.holes) == WRITTEN
    shown = disassemble(program)
    for text in ("decode exact(tries = 7)", "decode smc(3)", 'decode beam(4, by = "mean")', "decode local"):
        assert text in shown
    assert f"decode exact(tries = {TRIES}) distinct" in shown


def test_the_printed_ir_keeps_them() -> None:
    module, _ = lowered(SOURCE, CompileOptions())
    assert module is not None
    again = read(print_module(module))
    assert tuple(hole.decoding for hole in again.holes) == WRITTEN
    first = replace(again.holes[0], decoding=Decoding("exact", 10_001))
    faults = verify(replace(again, holes=(first, *again.holes[1:])))
    assert any("`decode exact` counts 1 to 10000, not 10001" in str(fault) for fault in faults)


@pytest.mark.parametrize("strategy", sorted(COUNTS))
def test_counts_have_bounds_on_both_sides(strategy: Strategy) -> None:
    least, most = COUNTS[strategy]
    for count in (least, most):
        assert not Decoding(strategy, count).fault()
    for count in (least - 1, most + 1):
        assert Decoding(strategy, count).fault()


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (0, {"decoding": Decoding("exact", 0)}),
        (0, {"decoding": Decoding("exakt", 3)}),  # type: ignore[arg-type]
        (1, {"decoding": Decoding("smc", 3, "mean")}),
        (4, {"decoding": Decoding("exact", 7)}),
        (0, {"decoding": Decoding("beam", 4)}),
        (0, {"options": ("temp", "top_k")}),
        (0, {"decoding": Decoding("exact", 7, distinct=True)}),
        (5, {"decoding": Decoding("smc", 3, distinct=True)}),
        (5, {"decoding": Decoding("exact", 7, distinct=True), "models": TWO}),
    ],
)
def test_bytecode_with_a_strategy_that_cannot_be_is_refused(
    program: Program, number: int, changes: dict[str, object]
) -> None:
    holes = list(program.holes)
    holes[number] = replace(holes[number], **changes)  # type: ignore[arg-type]
    _, faults = verified(replace(program, holes=tuple(holes)))
    said = [fault.message + fault.reason for fault in faults]
    assert any("'f." in each and "decode" in each for each in said), said


TOLD = Source(
    "p.sgl",
    """pub fn f() -> float:
    | ?{a: int in 1..9 temp 1.0 decode smc(3)} ?{b: choose [1, 2]} ?{c: int in 1..9 temp 1.0 decode exact}
    return a.weight + b.p(1)
""",
)


def test_holes_whose_figures_are_read_tell_them_in_files_and_in_the_printed_ir() -> None:
    made = compile_source(TOLD).program
    assert made is not None
    assert tuple(hole.told for hole in made.holes) == (True, True, False)
    again, faults = loads(dumps(made))
    assert again is not None, faults
    assert again.holes == made.holes
    assert [" told" in line for line in disassemble(made).splitlines() if line.startswith("hole")] == [
        hole.told for hole in made.holes
    ]
    module, _ = lowered(TOLD, CompileOptions())
    assert module is not None
    assert [hole.told for hole in read(print_module(module)).holes] == [hole.told for hole in module.holes]


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (0, {"decoding": Decoding("local")}),
        (0, {"decoding": None}),
        (0, {"options": ("temp", "n")}),
        (1, {"decoding": Decoding("local")}),
        (1, {"options": ("options", "n")}),
        (1, {"models": ModelUse(ModelView("a"), ModelView("b"), "kl")}),
    ],
)
def test_bytecode_that_tells_what_nothing_finds_is_refused(number: int, changes: dict[str, object]) -> None:
    made = compile_source(TOLD).program
    assert made is not None
    holes = list(made.holes)
    holes[number] = replace(holes[number], **changes)  # type: ignore[arg-type]
    _, faults = verified(replace(made, holes=tuple(holes)))
    said = [fault.message + fault.reason for fault in faults]
    assert any("has no figures to tell" in each for each in said), said
    silent = [replace(hole, told=False) for hole in holes]
    _, faults = verified(replace(made, holes=tuple(silent)))
    assert not any("figures" in fault.message + fault.reason for fault in faults)
