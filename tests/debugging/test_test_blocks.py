"""`test` blocks with a debugger come out as they do without one: also what was gone back over."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from checkout import EXAMPLES
from debugging.faces import Wanderer, debugger_of
from debugging.scripts import PROGRAMS
from sglc.bytecode.code import Program
from sglc.driver import compile_file
from sglc.options import CompileOptions
from sglc.runtime.results import TestResult
from sglc.runtime.session import Session

LARGEST = 40
"""Most instructions of a test block that is stepped through here; a `fuzz` of few rounds is among them."""


def seen(found: TestResult) -> tuple[object, ...]:
    """A result in a form in which two can be compared: without times."""
    error = None if found.error is None else (found.error.name, found.error.message, found.error.place)
    draws = {
        place: {key: drawn.text for key, drawn in made.items()} for place, made in found.failed_draws.items()
    }
    goldens = [(call.asked, call.texts, call.value) for call in found.goldens]
    return found.expectations, found.missed, error, found.unused, goldens, found.replays, draws


def compared(program: Program, wishes: int, *, strays: bool) -> list[str]:
    """The kinds of stops at which the tests of a program stood, having come out alike."""
    kinds: set[str] = set()
    for number, code in enumerate(Session(program).tests):
        plain = asyncio.run(Session(program).run_test(code.name, seed=number))
        wanderer = Wanderer(Random(wishes + number), strays=strays)
        debugger = debugger_of(program, wanderer)
        found = asyncio.run(Session(program).run_test(code.name, seed=number, debugger=debugger))
        kinds |= wanderer.kinds
        if not wanderer.lost:
            assert seen(found) == seen(plain), code.name
    return sorted(kinds)


def checked() -> Program:
    program = compile_file(PROGRAMS / "checked.sgl", CompileOptions(0)).program
    assert program is not None
    return program


@pytest.mark.parametrize("strays", [False, True])
def test_steps_change_nothing_of_a_test(strays: bool) -> None:
    kinds: set[str] = set()
    for wishes in range(0, 60, 10):
        kinds |= set(compared(checked(), wishes, strays=strays))
    assert kinds >= {"entry", "statement", "hole", "expect"}
    assert ("back" in kinds) == strays


@pytest.mark.slow
def test_the_tests_of_examples_pass_in_a_debugger() -> None:
    count = 0
    for path in sorted(Path(EXAMPLES).glob("*.sgl")):
        program = compile_file(path, CompileOptions(0)).program
        assert program is not None
        if program.python_modules or any(len(code.instructions) > LARGEST for code in Session(program).tests):
            continue
        compared(program, 5, strays=False)
        count += len(Session(program).tests)
    assert count >= 10
