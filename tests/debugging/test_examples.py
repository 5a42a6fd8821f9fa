"""The examples with a debugger that steps at random have the results that they have without one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from checkout import EXAMPLES
from debugging.faces import Wanderer, debugger_of
from fakes.hashed_engine import HashedEngine
from sglc.bytecode.code import Program
from sglc.driver import compile_file
from sglc.options import CompileOptions
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session

MOST_TOKENS = 120
"""Tokens of a run: enough for the first holes of each function."""


def outcome(program: Program, function: str, **options: Any) -> object:
    """The result of a run, or its error."""
    session = Session(program, HashedEngine(seed=3))
    asked: dict[str, Any] = {"trace_top": 10, "pressure": True, "concurrency": 0}
    run = session.run(function, {}, seed=5, max_tokens=MOST_TOKENS, trace=lambda _: None, **asked, **options)
    try:
        found = asyncio.run(run)
    except SglError as error:
        return error.name, error.message, error.partial, error.calls
    return found.value, found.text, found.holes, found.checks, found.statistics.output_tokens


def functions(program: Program) -> list[str]:
    """What can be called without arguments, and calls no Python."""
    codes = [program.codes[index] for index in program.entry.values()]
    return [
        code.name for code in codes if code.kind == "fn" and all(each.has_default for each in code.parameters)
    ]


@pytest.mark.slow
def test_a_debugged_example_has_the_results_of_an_ordinary_run() -> None:
    compared = 0
    for path in sorted(Path(EXAMPLES).glob("*.sgl")):
        program = compile_file(path).program
        plain = compile_file(path, CompileOptions(0)).program
        assert program is not None and plain is not None
        if program.python_modules or program.models:
            continue
        for number, name in enumerate(functions(program)):
            expected = outcome(program, name)
            wanderer = Wanderer(Random(number), strays=False)
            found = outcome(plain, name, debugger=debugger_of(plain, wanderer))
            assert found == expected, (path.name, name)
            compared += 1
    assert compared >= 15
