"""Trees as trees: going over all nodes, and moving them to places in another text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from sglc.source import Source, Span


def walk(node: object) -> Iterator[Any]:
    """A node and all nodes in it, in the order of their fields."""
    if isinstance(node, tuple):
        for each in node:
            yield from walk(each)
    elif is_dataclass(node) and not isinstance(node, Span | Source):
        yield node
        for field in fields(node):
            yield from walk(getattr(node, field.name))


def moved(node: object, place: Callable[[Span], Span]) -> Any:
    """A copy of a node, or of a tuple of nodes, with every span put elsewhere."""
    if isinstance(node, Span):
        return place(node)
    if isinstance(node, tuple):
        return tuple(moved(each, place) for each in node)
    if is_dataclass(node) and not isinstance(node, Source | type):
        values = {field.name: moved(getattr(node, field.name), place) for field in fields(node)}
        return type(node)(**values)
    return node
