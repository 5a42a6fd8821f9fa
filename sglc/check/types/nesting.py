"""How deep types nest through their names."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.check.core.context import ModuleContext
from sglc.check.core.walk import parts
from sglc.syntax.tree import ast
from sglc.types.values import MAX_DEPTH

MAX_LEVELS = MAX_DEPTH
"""Levels of lists, maps, tuples, options, unions, fields and aliases inside each other, as values have."""

_LEVELS = frozenset({ast.TypeList, ast.TypeMap, ast.TypeTuple, ast.TypeOptional, ast.TypeUnion})


def levels_of(module: ModuleContext, node: ast.TypeExpression) -> int:
    """How deep a type expression nests, the types that it names included."""
    deepest = 0
    for part, level in parts_by_level(node):
        deepest = max(deepest, level)
        if isinstance(part, ast.TypeName) and part.name in module.names:
            deepest = max(deepest, level + module.program.levels.get(module.names[part.name].name, 0))
    return deepest


def names_in(module: ModuleContext, node: ast.TypeExpression) -> Iterator[str]:
    """Qualified names of the declarations that a type expression names."""
    for part, _ in parts_by_level(node):
        if isinstance(part, ast.TypeName) and part.name in module.names:
            yield module.names[part.name].name


def parts_by_level(root: object, level: int = 0) -> Iterator[tuple[object, int]]:
    """The nodes of a tree with the levels of types around them, without recursion."""
    waiting: list[tuple[object, int]] = [(root, level)]
    while waiting:
        node, level = waiting.pop()
        if node.__class__ is tuple:
            waiting += [(item, level) for item in node[::-1]]
            continue
        yield node, level
        inner = level + (node.__class__ in _LEVELS)
        waiting += [(part, inner) for part in parts(node)[::-1]]
