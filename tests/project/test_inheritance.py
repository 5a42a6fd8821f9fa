"""Objects are composed: no class stands on a long chain of others, and no method waits to be replaced.

A class knows what it needs by its fields (docs/decisions/052-composed-checkers.md). Classes of other
packages, such as exceptions of Python, are not counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT
from source_tree import module_name, source_files

DEEPEST = 3
"""Classes of the project in a chain, the lowest one included."""

Classes = dict[str, list[str]]
"""Qualified class to its qualified bases, those of other packages left out."""


def classes(files: list[Path], root: Path = ROOT) -> Classes:
    """All classes at the top of modules."""
    found: Classes = {}
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = module_name(path, root)
        known = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        own = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        known.update({node.name: f"{module}.{node.name}" for node in own})
        for node in own:
            names = [ast.unparse(base).partition("[")[0] for base in node.bases]
            found[f"{module}.{node.name}"] = [known[name] for name in names if name in known]
    return found


def depth(name: str, known: Classes) -> int:
    """Classes of the project from a class up to its farthest ancestor; 0 for one of another package."""
    if name not in known:
        return 0
    return 1 + max((depth(base, known) for base in known[name]), default=0)


def stubs(path: Path) -> Iterator[str]:
    """Functions that do nothing but raise what says that they are not written here."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        last = node.body[-1]
        documented = len(node.body) == 2 and ast.get_docstring(node) is not None
        if not isinstance(last, ast.Raise) or last.exc is None or not (len(node.body) == 1 or documented):
            continue
        raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
        if ast.unparse(raised) in ("KeyError", "NotImplementedError"):
            yield f"{path.name}:{node.lineno} {node.name}"


@pytest.mark.slow
def test_no_class_stands_on_a_long_chain_of_others() -> None:
    known = classes(source_files())
    deep = [name for name in known if depth(name, known) > DEEPEST]
    assert deep == []


def test_a_long_chain_is_noticed(tmp_path: Path) -> None:
    for number, text in enumerate(
        (
            "class A: ...\nclass B(A): ...\n",
            "from sglc.m0 import B\nclass C(B, Exception): ...\n",
            "from sglc.m1 import C as Base\nclass D(Base): ...\n",
        )
    ):
        path = tmp_path / "sglc" / f"m{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    known = classes(sorted((tmp_path / "sglc").glob("*.py")), tmp_path)
    assert {name: depth(name, known) for name in known} == {
        "sglc.m0.A": 1,
        "sglc.m0.B": 2,
        "sglc.m1.C": 3,
        "sglc.m2.D": 4,
    }


@pytest.mark.slow
def test_no_method_only_says_that_it_is_not_written_here() -> None:
    assert [stub for path in source_files() for stub in stubs(path)] == []


@pytest.mark.parametrize(
    ("body", "noticed"),
    [
        ("raise KeyError(node)", True),
        ('"""Told by another class."""\n        raise NotImplementedError', True),
        ("raise ValueError(node)", False),
        ("if node:\n            raise KeyError(node)", False),
    ],
)
def test_a_stub_is_noticed(body: str, noticed: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(f"class A:\n    def f(self, node):\n        {body}\n", encoding="utf-8")
    assert bool(list(stubs(path))) is noticed
