"""Walking over statements at any depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from sglc.source import Span
from sglc.syntax.tree import ast

Body = Sequence[ast.Statement]


def roles(block: Body) -> Iterator[ast.Role]:
    """All role blocks, in the order of the text."""
    for statement in statements(block):
        if isinstance(statement, ast.Role):
            yield statement


def statements(block: Body) -> Iterator[ast.Statement]:
    """All statements at any depth, in the order of the text."""
    for statement in block:
        yield statement
        match statement:
            case ast.If(branches, otherwise):
                for _, body in branches:
                    yield from statements(body)
                yield from statements(otherwise)
            case ast.Match(_, cases):
                for case in cases:
                    yield from statements(case.body)
            case ast.Try(body, handlers):
                yield from statements(body)
                for handler in handlers:
                    yield from statements(handler.body)
            case (
                ast.For()
                | ast.While()
                | ast.Role()
                | ast.Using()
                | ast.Parallel()
                | ast.Forget()
                | ast.StreamFor()
                | ast.Fuzz()
            ):
                yield from statements(statement.body)
            case ast.Let(value=ast.Fork(body=body)) | ast.Evaluate(value=ast.Fork(body=body)):
                yield from statements(body)
            case ast.Assign(value=ast.Fork(body=body)) | ast.Return(value=ast.Fork(body=body)):
                yield from statements(body)


def mentions(node: object, names: tuple[str, ...]) -> bool:
    """Whether an expression speaks of one of the names."""
    if isinstance(node, tuple):
        return any(mentions(item, names) for item in node)
    if isinstance(node, ast.Reference):
        return node.name in names
    return any(mentions(part, names) for part in parts(node))


def parts(node: object) -> list[object]:
    """What a node of the tree is made of, names, places and what is left out aside."""
    kind: Any = node.__class__
    return [part for part in _getter_of(kind)(node) if part and part.__class__ not in _LEAVES]


@cache
def _getter_of(kind: type) -> Callable[[object], tuple[object, ...]]:
    """What instances of a class hold in fields that may hold nodes."""
    names = [
        field.name
        for field in getattr(kind, "__dataclass_fields__", {}).values()
        if field.name not in ("span", "name") and field.type not in _WORDS_OF_LEAVES
    ]
    if not names:
        return lambda node: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda node: (get(node),)


_LEAVES = frozenset({Span, str, int, bool, type(None)})
"""What nodes hold that is no node: a place would lead to the whole text of its file."""
_WORDS_OF_LEAVES = frozenset({"Span", "str", "int", "bool"})
"""The same, as fields are annotated."""
