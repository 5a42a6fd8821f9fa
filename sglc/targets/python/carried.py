"""The part that every written module carries: the sources of some modules of this package, joined to one."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from sglc.targets.python.support import conversation, functions, types, values
from sglc.types import arithmetic, equality

MODULES: tuple[ModuleType, ...] = (equality, arithmetic, values, types, functions, conversation)
"""In the order of their imports. The first two are the language's own equality and arithmetic."""


@cache
def imports() -> str:
    """The imports of the standard library."""
    whole: set[str] = {"from typing import TypeAlias, cast"}
    found: dict[str, set[str]] = {"typing": {"TypeAlias", "cast"}}
    for module in MODULES:
        for node in _tree(module).body:
            if isinstance(node, ast.Import):
                whole.update(f"import {name.name}" for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not _is_own(node.module):
                found.setdefault(node.module, set()).update(name.name for name in node.names)
    found.pop("__future__", None)
    lines = sorted(line for line in whole if line.startswith("import "))
    lines += (f"from {name} import {', '.join(sorted(names))}" for name, names in sorted(found.items()))
    return "\n".join(lines) + "\n"


@cache
def support() -> str:
    """The code itself."""
    parts = ["EnumValue = Enum\n"]
    for module in MODULES:
        source = inspect.getsource(module)
        lines = source.splitlines()
        for first, last in sorted(_left_out(module), reverse=True):
            del lines[first - 1 : last]
        title = (module.__doc__ or "").strip().partition("\n")[0]
        parts.append(f"# {title}\n\n" + "\n".join(lines).strip() + "\n")
    return "\n\n".join(parts)


@cache
def names() -> frozenset[str]:
    """All names of the module that its carried part has taken."""
    tree = ast.parse(imports() + support())
    found: set[str] = set()
    for node in tree.body:
        match node:
            case ast.Import(names=given) | ast.ImportFrom(names=given):
                found.update(name.name for name in given)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return frozenset(found)


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _left_out(module: ModuleType) -> Iterator[tuple[int, int]]:
    """The lines of the docstring and of imports, first and last."""
    for at, node in enumerate(_tree(module).body):
        is_doc = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_doc or isinstance(node, ast.Import | ast.ImportFrom):
            yield node.lineno, node.end_lineno or node.lineno


def _is_own(name: str) -> bool:
    return name.partition(".")[0] == "sglc"
