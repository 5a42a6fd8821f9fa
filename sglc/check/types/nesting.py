"""How deep types nest through their names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

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
    waiting: list[tuple[Any, int]] = [(root, level)]
    while waiting:
        node, level = waiting.pop()
        names = _parts_of(node.__class__)
        if names is None:
            waiting += [(item, level) for item in reversed(node)]
            continue
        yield node, level
        inner = level + isinstance(node, _LEVELS)
        for name in names:
            part = getattr(node, name)
            if part and _parts_of(part.__class__) != ():
                waiting.append((part, inner))


@cache
def _parts_of(kind: type) -> tuple[str, ...] | None:
    """Fields of a class of nodes, the last first, its place aside; empty for texts, numbers and places.

    None for tuples, whose items are parts.
    """
    if kind is tuple:
        return None
    if kind is Span or kind is Source:
        return ()
    return tuple(name for name in reversed(getattr(kind, "__slots__", ())) if name != "span")
