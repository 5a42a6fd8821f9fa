"""How deep types nest through their names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sglc.check.core.context import ModuleContext
from sglc.source import Source, Span
from sglc.syntax.tree import ast
from sglc.types.values import MAX_DEPTH

MAX_LEVELS = MAX_DEPTH
"""Levels of lists, maps, tuples, options, unions, fields and aliases inside each other, as values have."""

_LEVELS = (ast.TypeList, ast.TypeMap, ast.TypeTuple, ast.TypeOptional, ast.TypeUnion)


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
        if isinstance(node, tuple):
            waiting += [(item, level) for item in reversed(node)]
            continue
        kind: type = node.__class__
        names = _parts_of(kind)
        if names is not None:
            yield node, level
            inner = level + isinstance(node, _LEVELS)
            waiting += [(getattr(node, name), inner) for name in names]


@cache
def _parts_of(kind: type) -> tuple[str, ...] | None:
    """Fields of a class of nodes, the last first, its place aside; None for what is no node."""
    if not hasattr(kind, "__slots__") or kind is Span or kind is Source:
        return None
    return tuple(name for name in reversed(kind.__slots__) if name != "span")
