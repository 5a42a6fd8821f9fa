"""Going over the nodes of a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from sglc.source import Span
from sglc.syntax.tree import ast

MODEL = (ast.Gen, ast.Choose, ast.Select)


def nodes(node: object) -> Iterator[object]:
    """A node and all nodes in it."""
    return _nodes(node, forks=True)


def outside_forks(node: object) -> Iterator[object]:
    """A node and all nodes in it, but for those in the bodies of forks."""
    return _nodes(node, forks=False)


def _nodes(node: object, *, forks: bool) -> Iterator[object]:
    if isinstance(node, tuple):
        for part in node:
            yield from _nodes(part, forks=forks)
    elif is_dataclass(node) and not isinstance(node, Span | type):
        yield node
        for field in fields(node):
            if forks or not (isinstance(node, ast.Fork) and field.name == "body"):
                yield from _nodes(getattr(node, field.name), forks=forks)


def asks(node: object) -> bool:
    """Whether a model is asked in a node."""
    return any(isinstance(part, (*MODEL, ast.Fork)) for part in nodes(node))


def root_of(target: ast.Expression) -> ast.Expression:
    """The variable of an assignment's target."""
    while isinstance(target, ast.Attribute | ast.Index):
        target = target.value
    return target
