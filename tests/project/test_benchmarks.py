"""Benchmarks are run by hand: what they import must still be there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAPPED = ("runtime", "kernels", "grammar", "stdlib")
BENCHMARKS = sorted((ROOT / "tests" / "benchmarks").rglob("*.py"))


def _path(module: str) -> Path:
    parts = module.split(".")[1:]
    return ROOT.joinpath(*parts if parts[:1] and parts[0] in MAPPED else ["sglc", *parts])


@cache
def _names(file: Path) -> frozenset[str]:
    """What a module defines or imports at its top level, type checking included."""
    found: set[str] = set()
    todo: list[ast.stmt] = list(ast.parse(file.read_text(encoding="utf-8")).body)
    while todo:
        match todo.pop():
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {each.id for target in targets for each in ast.walk(target) if _named(each)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name.split(".")[0] for alias in names}
            case ast.If(body=body, orelse=rest):
                todo += [*body, *rest]
            case ast.Try(body=body, handlers=handlers, orelse=rest):
                todo += [*body, *rest, *(each for handler in handlers for each in handler.body)]
    return frozenset(found)


def _named(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def missing(source: str) -> list[str]:
    """Names that a program imports from the project and that are not there."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sglc":
            path = _path(node.module or "")
            for alias in node.names:
                inside = (path / f"{alias.name}.py").exists() or (path / alias.name).is_dir()
                file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
                if not inside and not (file.exists() and alias.name in _names(file)):
                    found.append(f"{node.module}.{alias.name}")
    return found


@pytest.mark.parametrize("file", BENCHMARKS, ids=lambda file: file.stem)
def test_what_a_benchmark_imports_is_there(file: Path) -> None:
    assert missing(file.read_text(encoding="utf-8")) == []


def test_what_is_not_there_is_found() -> None:
    assert missing("from sglc.driver import compile_source, gone") == ["sglc.driver.gone"]
    assert missing("from sglc.runtime.engine.sampling import draw") == ["sglc.runtime.engine.sampling.draw"]
    assert missing("from sglc.runtime.engine.sampling import sampler") == []
