"""Public functions and methods have a docstring, in the rooms that are listed here.

A method needs none where a base class or a protocol of its package says what a method of that name means.
Overloads need none, nor do names with a leading underscore and what lies in a class with such a name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from checkout import ROOT
from source_tree import source_files

DONE = (
    "kernels",
    "runtime",
    "sglc",
)
"""Rooms in which every public function has its docstring. A room that is done is added."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Documented:
    """Documented methods by class, and the bases that each class names."""

    methods: dict[str, set[str]] = field(default_factory=dict)
    bases: dict[str, set[str]] = field(default_factory=dict)
    protocols: dict[str, set[str]] = field(default_factory=dict)
    """Of all protocols of a package (`runtime/mask`)."""

    def add(self, path: str, tree: ast.Module) -> None:
        """Note the classes of a file."""
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef):
                continue
            said = {each.name for each in node.body if isinstance(each, Function) and ast.get_docstring(each)}
            names = {_name(base) for base in node.bases}
            self.methods.setdefault(node.name, set()).update(said)
            self.bases.setdefault(node.name, set()).update(names)
            if "Protocol" in names:
                self.protocols.setdefault(_package(path), set()).update(said)

    def is_said(self, path: str, cls: str, method: str) -> bool:
        """Whether a base of the class or a protocol of its package says what the method means."""
        waiting, seen = [cls], {cls}
        while waiting:
            for base in self.bases.get(waiting.pop(), set()) - seen:
                if method in self.methods.get(base, ()):
                    return True
                seen.add(base)
                waiting.append(base)
        return method in self.protocols.get(_package(path), ())


def _name(base: ast.expr) -> str:
    base = base.value if isinstance(base, ast.Subscript) else base
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""


def _package(path: str) -> str:
    return "/".join(path.split("/")[:2])


def missing(path: str, tree: ast.Module, documented: Documented) -> Iterator[str]:
    """`path:line name` of each public function that needs a docstring and has none."""

    def inside(body: list[ast.stmt], cls: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield from inside(node.body, node.name)
            elif isinstance(node, Function) and not node.name.startswith("_") and not ast.get_docstring(node):
                overload = any(_name(decorator) == "overload" for decorator in node.decorator_list)
                if not overload and not (cls and documented.is_said(path, cls, node.name)):
                    yield f"{path}:{node.lineno} {node.name}"

    yield from inside(tree.body, "")


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Every file of the packages, by its path in the checkout."""
    return {
        str(file.relative_to(ROOT)): ast.parse(file.read_text(encoding="utf-8")) for file in source_files()
    }


@pytest.mark.slow
def test_public_functions_say_what_they_mean(trees: dict[str, ast.Module]) -> None:
    documented = Documented()
    for path, tree in trees.items():
        documented.add(path, tree)
    done = [path for path in trees if any(Path(path).is_relative_to(room) for room in DONE)]
    assert [found for path in sorted(done) for found in missing(path, trees[path], documented)] == []


def test_rooms_that_are_done_are_there() -> None:
    assert [room for room in DONE if not (ROOT / room).exists()] == []


CODE = """
class Node(Protocol):
    def walk(self): "Over all parts."
class Base:
    def said(self): "What it means."
    def unsaid(self): pass
class Leaf(Base):
    def said(self): pass
    def unsaid(self): pass
    def walk(self): pass
    def own(self): pass
    def _own(self): pass
class _Private:
    def own(self): pass
@overload
def several(x: int) -> int: ...
def several(x): pass
"""


def test_a_method_may_leave_it_to_its_base_or_protocol() -> None:
    tree, documented = ast.parse(CODE), Documented()
    documented.add("sglc/room/file.py", tree)
    found = [line.split(" ")[1] for line in missing("sglc/room/file.py", tree, documented)]
    assert found == ["unsaid", "unsaid", "own", "several"]
    elsewhere = [line.split(" ")[1] for line in missing("sglc/other/file.py", tree, documented)]
    assert elsewhere == ["unsaid", "unsaid", "walk", "own", "several"]
