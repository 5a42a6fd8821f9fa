"""How declarations are shown: as they are written, with what was inferred of them."""

from __future__ import annotations

import re

from sglc.service.core.snapshot import Snapshot
from sglc.service.names.targets import Target
from sglc.source import Span
from sglc.syntax.tree import ast

LONGEST = 24
"""Lines of a declaration that are shown."""


def declaration_text(target: Target) -> str:
    """A declaration as it is written: of a function its header, of a type all of it."""
    node = (target.aim or target).node
    match node:
        case ast.FunctionDeclaration(body=body, span=span) if body:
            text = span.source.text[span.start : body[0].span.start]
            return one_line(re.sub(r":\s*(?:#[^\n]*)?\s*\|?\s*$", "", text))
        case ast.Field() | ast.Parameter() | ast.GrammarRule():
            return one_line(node.span.text)
        case ast.Member(name=name):
            return name.text
        case (
            ast.FunctionDeclaration(span=Span() as span)
            | ast.ExternDeclaration(span=Span() as span)
            | ast.ErrorDeclaration(span=Span() as span)
            | ast.ConstDeclaration(span=Span() as span)
            | ast.GrammarImport(span=Span() as span)
        ):
            return one_line(span.text)
        case (
            ast.RecordDeclaration(span=span)
            | ast.EnumDeclaration(span=span)
            | ast.UnionDeclaration(span=span)
            | ast.TypeDeclaration(span=span)
            | ast.Variant(span=span)
            | ast.GrammarDeclaration(span=span)
        ):
            lines = span.text.rstrip().splitlines()
            return "\n".join([*lines[:LONGEST], *(["…"] if len(lines) > LONGEST else [])])
    return target.name


def one_line(text: str) -> str:
    """A text with each run of blanks and line ends as one blank."""
    return re.sub(r"\s+", " ", text).strip()


def doc_of(target: Target) -> str:
    """The text of the `##` comments of a declaration."""
    found = getattr((target.aim or target).node, "doc", "")
    return found if isinstance(found, str) else ""


def inferred(snapshot: Snapshot, target: Target) -> str:
    """What was inferred of a function and is not in its header."""
    target = target.aim or target
    node = target.node
    if not isinstance(node, ast.FunctionDeclaration):
        return ""
    module = next((each for each in snapshot.checked.modules if node in each.module.declarations), None)
    effects = None if module is None else module.effects.get(id(node))
    if effects is None:
        return ""
    written = {name.text for name in node.raises}
    raises = [name.rpartition(".")[2] for name in effects.raises]
    parts = []
    if effects.pure and node.kind != "pure":
        parts.append("asks no model")
    if new := [name for name in raises if name not in written]:
        parts.append(f"may raise {', '.join(new)}")
    return "; ".join(parts)
