"""Bytecode lifted back to IR has the layouts of the IR that it was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkout import EXAMPLES
from golden_case import golden_cases
from layout_text import picture
from sglc.driver import compile_source, lowered
from sglc.ir.verify import verify
from sglc.options import LEVELS, CompileOptions
from sglc.plan.lift import lift
from sglc.source import Source

SOURCES = [
    *(Source(str(path), path.read_text("utf-8")) for path in sorted(EXAMPLES.glob("*.sgl"))),
    *(Source(f"{case}.sgl", case.input) for case in golden_cases("layout")),
]


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: Path(source.name).stem)
def test_layouts_are_the_same(source: Source, level: int) -> None:
    options = CompileOptions(level)
    module, _ = lowered(source, options)
    program = compile_source(source, options).program
    assert module is not None and program is not None
    lifted = lift(program)
    assert verify(lifted) == []
    for function in module.functions:
        if function.kind == "fn":
            assert picture(lifted, lifted.function(function.name)) == picture(module, function)
