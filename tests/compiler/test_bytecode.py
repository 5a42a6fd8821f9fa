"""Emitter, verifier, disassembler and the opcode table."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
from hypothesis import given, settings

from golden_case import GOLDEN, GoldenCase, golden_cases
from sglc.bytecode import verify as verifier
from sglc.bytecode.code import Instruction, Program
from sglc.bytecode.disasm import disassemble, disassemble_code
from sglc.bytecode.opcodes import BY_NAME, OPCODES
from sglc.bytecode.verify import verified, verify
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.driver import compile_source
from sglc.emit.pools import artefact_file_name
from sglc.emit.program import emit
from sglc.ir.module import Module
from sglc.ir.read import read
from sglc.ir.verify import verify as verify_ir
from sglc.source import Source
from sglc.types.model_use import ModelUse, ModelView
from sglc.types.type import AliasType, Dec, FieldType, Int, ListOf, Named, Optional, RecordType
from strategies.ir_strategies import modules


def program_of(text: str) -> Program:
    module = read(text)
    assert verify_ir(module) == []
    program, faults = verified(emit(module))
    assert faults == []
    return program


@pytest.mark.parametrize("case", golden_cases("bytecode/emit"), ids=str)
def test_emits(case: GoldenCase, golden) -> None:
    program = program_of(case.input)
    golden(case, "\n".join(disassemble_code(program, code) for code in program.codes))


@pytest.mark.slow
@given(module=modules())
@settings(max_examples=60)
def test_random_ir_gives_sound_programs(module: Module) -> None:
    program, faults = verified(emit(module))
    assert faults == []
    assert disassemble(program)


PLAIN = """
fn @f() {
^entry:
  %0 = const 1
  insert %0
  line
  %1 = const 2
  return %1
}
pure @g() {
^entry:
  %0 = const 1
  return %0
}
"""


def changed(program: Program, change: str) -> Program:
    """The program with one instruction replaced: `place NAME-or-number a b`; `pure` is 0 of the other."""
    place, name, *numbers = change.split()
    index = 1 if place == "pure" else 0
    code = program.codes[index]
    op = BY_NAME[name].number if name in BY_NAME else int(name)
    a, b = [*map(int, numbers), 0, 0][:2]
    instructions = list(code.instructions)
    at = {"last": len(instructions) - 1, "pure": 0}.get(place)
    instructions[int(place) if at is None else at] = Instruction(op, a, b)
    codes = list(program.codes)
    codes[index] = replace(code, instructions=tuple(instructions))
    return replace(program, codes=tuple(codes))


@pytest.mark.parametrize("case", golden_cases("bytecode/unsound"), ids=str)
def test_unsound_programs_are_refused(case: GoldenCase, golden) -> None:
    program = replace(program_of(PLAIN), names=("no operator",))
    found = verify(changed(program, case.input))
    assert {d.code for d in found} == {"E0606"} and "E0606" in CATALOGUE
    golden(case, "\n".join(d.reason for d in found))


def test_models_of_holes_fit_their_options() -> None:
    found = compile_source(
        Source(
            "m.sgl", "pub fn f() -> int:\n    | ?{n: int in 0..9 using blend(a, b) weight 1}\n    return n\n"
        )
    )
    assert found.program is not None
    program = found.program
    [hole] = program.holes
    both = ModelUse(ModelView("a"), ModelView("b"), "weight")
    assert hole.models == both and "using blend(a, b) by weight" in disassemble(program)

    def said(**changes: object) -> list[str]:
        faulty = replace(program, holes=(replace(hole, **changes),))  # type: ignore[arg-type]
        return [d.reason for d in verify(faulty)]

    assert said() == []
    assert said(models=ModelUse(ModelView("a"), ModelView("b"))) == [
        "the hole 'f.n' has a weight without its rule, or the rule without a weight"
    ]
    assert "the hole 'f.n' weighs one model" in said(models=ModelUse(ModelView("a"), rule="weight"))
    assert "a model of the hole 'f.n' has no name" in said(models=replace(both, base=ModelView("")))
    assert "the hole 'f.n' has a least share of nothing" in said(options=("weight", "at_least"))
    assert "two models are to score the options of 'f.n'" in said(mode="select")


def test_types_must_be_declared_founded_and_free_of_contradiction() -> None:
    program = program_of(PLAIN)

    def reasons(table: dict, *types: object) -> list[str]:
        return [d.reason for d in verify(replace(program, table=table, types=types))]  # type: ignore[arg-type]

    assert reasons({}, Named("T")) == ["the type 'T' is not declared"]
    assert reasons({}, ListOf(Int(), 3, 2)) == ["a list with contradictory bounds"]
    assert reasons({"A": AliasType("A", Optional(Named("A")))}) == ["type A: it is defined by itself"]
    loop = RecordType("R", (FieldType("r", Named("R")),))
    assert reasons({"R": loop}) == ["type R: it has no value of finite size"]
    tree = RecordType("R", (FieldType("r", ListOf(Named("R"))),))
    assert reasons({"R": tree}) == []


def test_constants_that_python_calls_equal_stay_apart() -> None:
    program = program_of(
        'fn @f() {\n^entry:\n  %0 = const 1\n  %1 = const true\n  %2 = const float"0x1p+0"\n'
        '  %3 = const dec"1"\n  %4 = const dec"1.0"\n  %5 = tuple (%0, %1, %2, %3, %4)\n  return %5\n}'
    )
    assert [repr(c) for c in program.constants] == ["1", "True", "1.0", "Decimal('1')", "Decimal('1.0')"]
    types = program_of(
        "fn @f(a $a: Constant(1), b $b: Constant(true), c $c: Dec()) {\n^entry:\n"
        "  %0 = const null\n  return %0\n}"
    ).types
    assert len(types) == 3 and types[2] == Dec()


def test_stack_depth_is_found() -> None:
    program = program_of(PLAIN)
    assert [code.stack_depth for code in program.codes] == [1, 1]


def test_artefacts_hold_no_absolute_paths() -> None:
    assert artefact_file_name("/home/me/secret/a.sgl") == "a.sgl"
    assert artefact_file_name("C:\\me\\a.sgl") == "a.sgl"
    assert artefact_file_name("examples/a.sgl") == "examples/a.sgl"


def test_every_opcode_is_emitted_in_a_golden_and_checked_in_range() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (GOLDEN / "bytecode").glob("*.test"))
    # DUPLICATE is for programs written by hand.
    unused = {"DUPLICATE"}
    missing = {op.name for op in OPCODES if f"  {op.name}" not in text} - unused
    assert missing == set()
    kinds = {kind for op in OPCODES for kind in op.operands}
    source = inspect.getsource(verifier)
    assert all(f'"{kind}":' in source for kind in kinds)


def test_opcodes_are_numbered_in_order_and_take_what_they_say() -> None:
    for number, opcode in enumerate(OPCODES):
        assert opcode.number == number
        assert len(opcode.operands) <= 2
        assert (opcode.pops is None) == ("count" in opcode.operands)
        assert opcode.meaning
