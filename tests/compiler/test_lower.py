"""Lowering: source to IR, every construct once, and every lowered example is sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkout import EXAMPLES
from golden_case import GoldenCase, golden_cases
from sglc.bytecode.verify import verified
from sglc.check.program import check
from sglc.diagnostics.diagnostic import has_errors
from sglc.emit.program import emit
from sglc.ir.module import Module
from sglc.ir.print import print_function, print_module
from sglc.ir.read import read
from sglc.ir.verify import verify
from sglc.library import Library
from sglc.lower.program import lower
from sglc.source import Source

EXAMPLES = sorted(EXAMPLES.glob("*.sgl"))


def lowered(source: Source) -> Module:
    checked, found = check(source, Library())
    assert checked is not None and not has_errors(found), found
    return lower(checked)


@pytest.mark.parametrize("case", golden_cases("lower"), ids=str)
def test_goldens(case: GoldenCase, golden) -> None:
    module = lowered(Source("main.sgl", case.input + "\n"))
    assert verify(module) == []
    shown = [f for f in module.functions if f.name in ("f", "test f") or f.kind == "fork"]
    head = [f"hole h{i} {hole.name} {hole.mode}" for i, hole in enumerate(module.holes)]
    golden(case, "\n".join([*head, *(print_function(f) for f in shown)]))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_lower_to_sound_ir_that_reads_back(path: Path) -> None:
    module = lowered(Source(str(path), path.read_text(encoding="utf-8")))
    assert verify(module) == []
    assert read(print_module(module)) == module


def test_functions_come_before_their_forks_and_the_main_module_first() -> None:
    text = (
        "use std.text (email)\nfn f(a: email) -> int:\n    let x = fork i in 0..<2:\n        yield i\n"
        "    return x[0].value\n"
    )
    module = lowered(Source("main.sgl", text))
    assert [f.name for f in module.functions][:2] == ["f", "f.fork.0"]
    assert all(f.module for f in module.functions[2:])


def test_of_other_modules_what_is_called_may_be_lowered_alone(tmp_path: Path) -> None:
    """Parts, forks, functions of functions: all that the main module leads to, and the same code."""
    (tmp_path / "far.sgl").write_text(
        "pub pure fn least(a: int) -> int:\n    return a\n\npub pure fn unread() -> int:\n    return 1\n"
    )
    (tmp_path / "near.sgl").write_text(
        "use ./far (least, unread)\n\npub part told(a: int):\n    | ${least(a)}\n\n"
        "pub part untold():\n    | ${unread()}\n\npub fn asked() -> [int]:\n"
        "    let x = fork i in 0..<2:\n        yield least(i)\n    return [one.value for one in x]\n"
    )
    text = (
        "use ./near (told, asked)\n\nfn f() -> [int]:\n    user:\n        part told(1)\n"
        "    return asked()\n\n"
        "pure fn own() -> int:\n    return 1\n"
    )
    checked, found = check(Source(str(tmp_path / "main.sgl"), text), Library())
    assert checked is not None and not has_errors(found), found
    whole, called = lower(checked), lower(checked, only_called=True)
    names = [function.name for function in called.functions]
    assert names[:2] == ["f", "own"]
    assert sorted(names[2:]) == ["far.least", "near.asked", "near.asked.fork.0", "near.told"]
    for name in names:
        assert print_function(called.function(name)) == print_function(whole.function(name))
    assert {"far.unread", "near.untold"} <= whole.by_name.keys()


def test_a_test_may_be_titled_like_a_function() -> None:
    text = 'fn f() -> int:\n    return 1\ntest "f":\n    expect f() == 1\ntest "f (2)":\n    expect true\n'
    module = lowered(Source("main.sgl", text + 'test "f":\n    expect true\n'))
    assert [f.name for f in module.functions] == ["f", "test f", "test f (2)", "test f (3)"]
    program, faults = verified(emit(module))
    assert faults == []
    assert [(code.kind, code.name) for code in program.codes[:2]] == [("pure", "f"), ("test", "f")]


def test_every_operation_of_a_program_has_a_place() -> None:
    path = EXAMPLES[0]
    module = lowered(Source(str(path), path.read_text(encoding="utf-8")))
    for function in module.functions:
        assert function.span is not None
        for block in function.blocks:
            assert all(
                op.span is not None for op in block.ops if type(op).__name__ in ("Text", "Generate", "Call")
            )
