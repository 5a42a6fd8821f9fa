"""The IR itself: printing and reading, the verifier's faults, the builder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_case import GoldenCase, golden_cases
from oracles.ir_interpreter import Interpreter
from sglc.ir import ops, terminators
from sglc.ir.builder import FunctionBuilder
from sglc.ir.literal import Cursor, print_literal
from sglc.ir.module import Function, Module, Parameter
from sglc.ir.print import print_module
from sglc.ir.read import IrSyntaxError, read
from sglc.ir.shape import BY_MNEMONIC, MNEMONICS, OPS
from sglc.ir.terminators import TERMINATORS
from sglc.ir.verify import verify
from sglc.types.type import Int, Str
from strategies.literal_values import VALUES, exact


@given(VALUES)
def test_literals_are_read_back_exactly(value: object) -> None:
    cursor = Cursor(print_literal(value))
    assert exact(cursor.literal()) == exact(value)
    assert cursor.kind == "newline"


@pytest.mark.parametrize("case", golden_cases("ir/faults"), ids=str)
def test_faults(case: GoldenCase, golden) -> None:
    faults = verify(read(case.input))
    assert faults
    golden(case, "\n".join(faults))


@pytest.mark.parametrize("case", golden_cases("ir/syntax"), ids=str)
def test_what_is_no_ir(case: GoldenCase, golden) -> None:
    with pytest.raises(IrSyntaxError) as caught:
        read(case.input)
    golden(case, str(caught.value))


@given(st.text(alphabet='fn @f(){}^:%$0123 "=text,line\nconstreturn', max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read(text)
    except IrSyntaxError:
        pass


def test_every_class_has_a_mnemonic() -> None:
    assert set(MNEMONICS) == set(OPS) | set(TERMINATORS)
    assert len(BY_MNEMONIC) == len(MNEMONICS)


def test_odd_names_survive() -> None:
    build = FunctionBuilder()
    build.end(terminators.Return(build.load('a "b": c')))
    parameter = Parameter("x", 'a "b": c', Str(), True, "d")
    function = Function(
        "a title: “so”", "test", (parameter,), tuple(build.blocks), Int(), doc="é\n", tags=("slow",)
    )
    module = Module("m.sgl", (function,))
    assert read(print_module(module)) == module


def test_the_builder_drops_what_nothing_reaches() -> None:
    build = FunctionBuilder()
    build.end(terminators.Return(build.const(1)))
    build.add(ops.Text("never"))
    build.join("nowhere")
    assert not build.open
    assert [len(block.ops) for block in build.blocks] == [1]


def test_the_reference_interpreter_follows_the_law_of_separators() -> None:
    module = read(
        'fn @f() {\n^entry:\n  role "user"\n  line\n  line\n  text "a"\n  glue\n  line\n  text "b"\n  line\n'
        "  end_role\n  %0 = const null\n  return %0\n}"
    )
    assert Interpreter(module).run("f")[-1] == ("said", [("", ""), ("user", "\nab\n")])
