"""Modules of Python for tests of the Python front end: written to a file and imported from there."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import sglc
from sglc.decorators import DecoratedFunction
from sglc.diagnostics.diagnostic import Diagnostic

_NUMBERS = itertools.count()


def python_module(folder: Path, text: str) -> ModuleType:
    """The module of a text, imported from a file of its own."""
    name = f"written_{next(_NUMBERS)}"
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def found_in(module: ModuleType) -> list[Diagnostic]:
    """What is wrong with the decorated functions of a module, in their order."""
    found: list[Diagnostic] = []
    for value in vars(module).values():
        if isinstance(value, DecoratedFunction):
            try:
                found += value.compile()
            except sglc.CompileError as error:
                found += error.diagnostics
    return found


def line_of(diagnostic: Diagnostic) -> str:
    """The line of the file that a finding points at, without its indentation."""
    assert diagnostic.span is not None
    source = diagnostic.span.source
    return source.line(source.position(diagnostic.span.start)[0]).strip()
