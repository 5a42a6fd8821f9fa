"""Programs in three forms: SGL text, a docstring, Python statements. All three are one program."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import python_programs
import sglc
from outcomes import without_places
from sglc.bytecode.code import Program
from sglc.decorators import DecoratedFunction
from sglc.driver import compile_source
from sglc.runtime.model import load
from sglc.runtime.results import RunResult
from sglc.source import Source

FOLDER = Path(next(iter(python_programs.__path__)))
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/program.sgl"))
SEEDS = ("character", "profile", "header", "solve")
FORMS = ("docstring", "statements")


@cache
def of_text(name: str) -> Program:
    source = Source("program.sgl", (FOLDER / name / "program.sgl").read_text(encoding="utf-8"))
    compiled = compile_source(source)
    assert compiled.program is not None and not compiled.diagnostics, compiled.diagnostics
    return compiled.program


def of_python(name: str, form: str) -> DecoratedFunction[..., object]:
    """The function of a module that stands for the first function of the program."""
    module = importlib.import_module(f"python_programs.{name}.{form}")
    first = next(iter(of_text(name).entry))
    found = getattr(module, first)
    assert isinstance(found, DecoratedFunction)
    return found


ARGUMENTS = {"character": {"theme": "a lighthouse"}, "profile": {}, "header": {}, "solve": {}}


def tokens_of(run: RunResult) -> list[tuple[str, str, int, int]]:
    return [(hole.name, hole.text, hole.tokens, hole.sampled) for hole in run.holes]


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
@pytest.mark.parametrize("name", SEEDS)
def test_the_answers_of_a_model_are_those_of_the_text(name: str) -> None:
    text = (FOLDER / name / "program.sgl").read_text(encoding="utf-8")
    first = next(iter(of_text(name).entry))
    options: dict[str, Any] = {"executor": "native", "threads": 1}
    expected = sglc.loads(text, **options).functions[first].run(**ARGUMENTS[name])
    for form in FORMS:
        found = of_python(name, form).on(**options).run(**ARGUMENTS[name])
        assert found.text == expected.text and tokens_of(found) == tokens_of(expected)


def test_there_are_the_seeds_and_ten_more() -> None:
    assert set(SEEDS) <= set(NAMES) and len(NAMES) >= len(SEEDS) + 10


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_the_bytecode_is_that_of_the_text(name: str, form: str) -> None:
    expected, found = without_places(of_text(name)), without_places(of_python(name, form).module.program)
    for field in Program.__dataclass_fields__:
        assert getattr(found, field) == getattr(expected, field), field
