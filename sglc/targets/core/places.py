"""Where the declarations of a program stand, by the names that losses give them."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.check.core.result import CheckedModule
from sglc.ir import ops
from sglc.ir.module import Module
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.targets.core.target import Subject

PROGRAM = "the program"
"""The place of what concerns no single declaration."""


def spans_of(subject: Subject) -> dict[str, Span]:
    """The span of every type (`Crew`), field (`Crew.name`), function and hole (`hole crew.member`).

    Names of other modules than the main one are qualified (`std.text.email`).
    """
    found: dict[str, Span] = {PROGRAM: Span(subject.checked.main.module.source, 0, 0)}
    for module in subject.checked.modules:
        for name, span in _declared(module):
            found.setdefault(name, span)
    for name, span in _holes(subject.module):
        found.setdefault(name, span)
    return found


def span_at(place: str, spans: dict[str, Span]) -> Span:
    """The span of a place, or of what it is in: fields of types in other languages have none of their own."""
    while place and place not in spans:
        place = place.rpartition(".")[0]
    return spans[place or PROGRAM]


def _declared(module: CheckedModule) -> Iterator[tuple[str, Span]]:
    prefix = f"{module.name}." if module.name else ""
    for node in module.module.declarations:
        match node:
            case ast.RecordDeclaration(name=name, fields=fields):
                yield f"{prefix}{name.text}", name.span
                for field in fields:
                    yield f"{prefix}{name.text}.{field.name.text}", field.span
            case ast.UnionDeclaration(name=name, variants=variants):
                yield f"{prefix}{name.text}", name.span
                for variant in variants:
                    yield f"{prefix}{name.text}.{variant.name.text}", variant.span
                    for field in variant.fields:
                        yield f"{prefix}{name.text}.{variant.name.text}.{field.name.text}", field.span
            case (
                ast.EnumDeclaration(name=name)
                | ast.TypeDeclaration(name=name)
                | ast.GrammarDeclaration(name=name)
                | ast.FunctionDeclaration(name=name)
            ):
                yield f"{prefix}{name.text}", name.span


def _holes(module: Module) -> Iterator[tuple[str, Span]]:
    for function in module.functions:
        for block in function.blocks:
            for op in block.ops:
                if isinstance(op, ops.Generate | ops.SelectOption) and op.span is not None:
                    yield f"hole {module.holes[op.hole].name}", op.span
