"""Names in statements: which they bind for what comes after them, which they change, which they read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from sglc.syntax.tree import ast

Body = Sequence[ast.Statement]
HOLES = (ast.Gen, ast.Choose, ast.Select)
WRITING = (ast.PipeLine, ast.Include, ast.Part, ast.Think)


def nodes(root: object) -> Iterator[object]:
    """All nodes of a tree, without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += reversed(node)
        elif dataclasses.is_dataclass(node) and not isinstance(node, type):
            yield node
            waiting += [
                part
                for each in reversed(dataclasses.fields(node))
                if each.name not in ("span", "keyword")
                and (isinstance(part := getattr(node, each.name), tuple) or dataclasses.is_dataclass(part))
            ]


def bound(body: Body) -> list[ast.Name]:
    """The variables and holes that stand behind a body: those of its own level, and of blocks that bind for
    what follows them."""
    found: list[ast.Name] = []
    for statement in body:
        match statement:
            case ast.Let(name=name):
                found.append(name)
            case ast.PipeLine(parts=parts):
                found += [part.name for part in parts if isinstance(part, ast.Hole)]
            case ast.Part(binding=ast.Name() as name):
                found.append(name)
            case ast.Role() | ast.Forget() | ast.Using() | ast.Parallel():
                found += bound(statement.body)
    return found


def changed(body: Body) -> set[str]:
    """Variables that are assigned to, or of which a part is."""
    found: set[str] = set()
    for node in nodes(tuple(body)):
        if isinstance(node, ast.Assign):
            target: object = node.target
            while isinstance(target, ast.Attribute | ast.Index):
                target = target.value
            if isinstance(target, ast.Reference):
                found.add(target.name)
    return found


def read(body: Body) -> set[str]:
    """All names that stand for a value."""
    return {node.name for node in nodes(tuple(body)) if isinstance(node, ast.Reference)}


def asks(body: Body) -> bool:
    """Whether there is a hole in it."""
    return any(isinstance(node, HOLES) for node in nodes(tuple(body)))


def writes(body: Body) -> bool:
    """Whether there is text or a hole in it."""
    return any(isinstance(node, WRITING) or isinstance(node, HOLES) for node in nodes(tuple(body)))


def renamed(node: object, names: Mapping[str, str]) -> object:
    """The tree with other names for some values. Only what changes is copied."""
    if isinstance(node, tuple):
        parts = tuple(renamed(part, names) for part in node)
        return node if all(a is b for a, b in zip(parts, node, strict=True)) else parts
    if isinstance(node, ast.Reference):
        return ast.Reference(names[node.name], node.span) if node.name in names else node
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return node
    changes = {}
    for each in dataclasses.fields(node):
        if each.name in ("span", "keyword"):
            continue
        part = getattr(node, each.name)
        if isinstance(part, tuple) or dataclasses.is_dataclass(part):
            made = renamed(part, names)
            if made is not part:
                changes[each.name] = made
    return dataclasses.replace(node, **changes) if changes else node
