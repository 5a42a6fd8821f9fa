"""Programs in three forms: SGL text, a docstring, Python statements. All three are one program."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

import python_programs
from sglc.bytecode.code import Place, Program
from sglc.decorators import SglFunction
from sglc.driver import compile_source
from sglc.source import Source

FOLDER = Path(next(iter(python_programs.__path__)))
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/program.sgl"))
SEEDS = ("character", "profile", "header", "solve")
FORMS = ("docstring", "statements")


def of_text(name: str) -> Program:
    source = Source("program.sgl", (FOLDER / name / "program.sgl").read_text(encoding="utf-8"))
    compiled = compile_source(source)
    assert compiled.program is not None and not compiled.diagnostics, compiled.diagnostics
    return compiled.program


def of_python(name: str, form: str) -> SglFunction[..., object]:
    """The function of a module that stands for the first function of the program."""
    module = importlib.import_module(f"python_programs.{name}.{form}")
    first = next(iter(of_text(name).entry))
    found = getattr(module, first)
    assert isinstance(found, SglFunction)
    return found


def without_places(program: Program) -> Program:
    """The program as if it had been written nowhere."""
    nowhere = Place(0, 0, 0, 1, 1)
    codes = tuple(replace(code, places=(nowhere,) * len(code.places)) for code in program.codes)
    return replace(program, name="", codes=codes, files=(), sources=())


def test_there_are_the_seeds_and_ten_more() -> None:
    assert set(SEEDS) <= set(NAMES) and len(NAMES) >= len(SEEDS) + 10


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_the_bytecode_is_that_of_the_text(name: str, form: str) -> None:
    expected, found = without_places(of_text(name)), without_places(of_python(name, form).module.program)
    for field in Program.__dataclass_fields__:
        assert getattr(found, field) == getattr(expected, field), field
