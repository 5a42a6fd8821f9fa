"""What can be done with a declaration: run it, test it, look at its prompts and its price."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk

Action = Literal["run", "fuzz", "test", "debug", "preview", "plan"]


@value
class Lens:
    """One action above a declaration. `name` is that of the function, or the title of the test."""

    span: Span
    action: Action
    subject: Literal["function", "test"]
    name: str
    title: str


def lenses(snapshot: Snapshot) -> list[Lens]:
    """The actions of a file, in its order."""
    return [lens for node in snapshot.tree.declarations for lens in _of(node)]


def _of(node: ast.Declaration) -> Iterator[Lens]:
    match node:
        case ast.FunctionDeclaration(kind="fn", name=name, type_parameters=()):
            yield Lens(name.span, "run", "function", name.text, "run")
            yield Lens(name.span, "preview", "function", name.text, "preview prompt")
            yield Lens(name.span, "plan", "function", name.text, "plan")
            yield Lens(name.span, "fuzz", "function", name.text, "fuzz")
        case ast.TestDeclaration(title=title, span=span):
            head = Span(span.source, span.start, min(span.end, span.start + 4))
            yield Lens(head, "test", "test", title, "run test")
            yield Lens(head, "debug", "test", title, "debug test")
            if any(isinstance(each, ast.Fuzz) for each in walk(node.body)):
                yield Lens(head, "fuzz", "test", title, "fuzz")
