"""Folding an operation gives what the machine gives, within bounds on size and work."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import assume, given, settings

from example_budget import examples
from sglc.bytecode.verify import verified
from sglc.emit.program import emit
from sglc.ir import ops
from sglc.ir.module import Module
from sglc.ir.read import read
from sglc.ir.verify import verify
from sglc.passes import evaluate, fold
from sglc.passes.evaluate import BREADTH, DEEPEST, LARGEST, Budget, Unknown, value_of, weight
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from strategies.programs.known_operations import kind_of, operations


def outcome(module: Module) -> tuple[str, Any]:
    """What a run of `f` gives: a value with its kinds, or the message of its error."""
    program, faults = verified(emit(module))
    assert not faults
    session = Session(program, ReferenceEngine(ScriptedModel("")))
    try:
        return "value", kind_of(asyncio.run(session.run("f")).value)
    except SglError as error:
        return "error", error.message


def computes(module: Module) -> list[ops.Op]:
    return [op for block in module.functions[0].blocks for op in block.ops if type(op) is not ops.Const]


@pytest.mark.slow
@given(module=operations())
@settings(max_examples=examples(120))
def test_folding_an_operation_gives_what_the_machine_gives(module: Module) -> None:
    assume(not verify(module) and not verified(emit(module))[1])  # a type of nothing is refused
    folded = fold.run(module)
    assert verify(folded) == []
    expected = outcome(module)
    assert outcome(folded) == expected
    left = computes(folded)
    if expected[0] == "error":
        assert left, "an operation that fails stays"
    else:
        assert not left or type(left[0]) in (ops.MakeRange, ops.CheckType, ops.IsType, ops.Limit)


def run_fold(text: str) -> list[ops.Op]:
    return computes(fold.run(read(f"fn @f() {{\n^entry:\n{text}\n}}")))


@pytest.mark.parametrize(("count", "folds"), [(LARGEST, True), (LARGEST + 1, False)])
def test_a_constant_is_at_most_so_large(count: int, folds: bool) -> None:
    left = run_fold(f'  %0 = const "a"\n  %1 = const {count - 1}\n  %2 = binary "*" %0 %1\n  return %2')
    assert (left == []) == folds


@pytest.mark.parametrize(("count", "folds"), [(BREADTH, True), (BREADTH + 1, False)])
def test_an_operation_goes_over_at_most_so_many_items(count: int, folds: bool) -> None:
    span = f"  %0 = const 0\n  %1 = const {count}\n  %2 = range %0 %1 false\n"
    text = f'{span}  %3 = builtin "sum" (%2)\n  return %3'
    assert (run_fold(text) == []) == folds


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels - 1):
        value = [value]
    return value


def test_a_constant_is_at_most_so_deep() -> None:
    assert weight(nested(DEEPEST)) == DEEPEST
    assert weight(nested(DEEPEST + 1)) is None


def test_a_module_has_so_much_work() -> None:
    op: Any = ops.Binary(1, "+", 0, 0)
    work = 100 + 100 + 200 + 1  # two texts are read, one is made
    assert value_of(op, ["a" * 100, "b" * 100], {}, Budget(work)) == "a" * 100 + "b" * 100
    with pytest.raises(Unknown):
        value_of(op, ["a" * 100, "b" * 100], {}, Budget(work - 1))
    value_of(op, [1, 2], {}, Budget(0))
    assert evaluate.WORK >= LARGEST + BREADTH


def test_a_type_with_patterns_is_checked_by_the_machine() -> None:
    text = '  %0 = const "ab"\n  %1 = check_type %0 Str({})\n  return %1'
    assert run_fold(text.format("max_chars=3")) == []
    assert run_fold(text.format('patterns=("a.",)')) != []


def test_what_a_road_writes_that_nobody_takes_means_nothing() -> None:
    module = read(
        """
        fn @f(x $x: Str()) {
        ^entry:
          %0 = const false
          branch %0 ^yes ^no
        ^yes:
          %1 = const "never"
          store $chosen %1
          jump ^done
        ^no:
          %2 = load $x
          store $chosen %2
          jump ^done
        ^done:
          %3 = load $chosen
          return %3
        }
        """
    )
    assert [type(op) for op in computes(fold.run(module))] == [ops.Load, ops.Store, ops.Load]


def test_constants_are_not_changed_in_place() -> None:
    module = read(
        """
        fn @f() {
        ^entry:
          %0 = const 1
          %1 = list (%0)
          store $a %1
          %2 = load $a
          store $b %2
          %3 = const 0
          %4 = const 3
          %5 = range %3 %4 false
          %6 = iterate %5
          store $%i %6
          jump ^each
        ^each:
          next $%i $n ^body ^done
        ^body:
          %7 = load $a
          %8 = load $n
          %9 = append %7 %8
          store $a %9
          jump ^each
        ^done:
          %10 = load $a
          %11 = load $b
          %12 = tuple (%10, %11)
          return %12
        }
        """
    )
    program, _ = verified(emit(fold.run(module)))
    session = Session(program, ReferenceEngine(ScriptedModel("")))
    for _ in range(2):
        result = asyncio.run(session.run("f")).value
        assert result == ([1, 0, 1, 2], [1])
        result[1].append(7)
    assert [1] in program.constants
