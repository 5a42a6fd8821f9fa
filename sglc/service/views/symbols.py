"""The declarations of a file as a tree, and those of a project by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.service.names.shown import declaration_text
from sglc.service.names.targets import Target, binders
from sglc.source import Span
from sglc.syntax.tree import ast

SymbolKind = Literal[
    "function",
    "record",
    "enum",
    "union",
    "type",
    "error",
    "constant",
    "grammar",
    "test",
    "field",
    "member",
    "variant",
    "rule",
    "hole",
]


@value
class FileSymbol:
    """A declaration, with what it declares inside."""

    name: str
    kind: SymbolKind
    name_span: Span
    span: Span
    detail: str = ""
    inside: tuple[FileSymbol, ...] = ()


def symbols(snapshot: Snapshot) -> list[FileSymbol]:
    """The declarations of a file, in their order."""
    found = (_symbol(node) for node in snapshot.tree.declarations)
    return [each for each in found if each is not None]


def matching(found: list[FileSymbol], query: str) -> Iterator[FileSymbol]:
    """Those whose names have the letters of a query in them, in their order."""
    for each in found:
        letters = iter(each.name.casefold())
        if all(char in letters for char in query.casefold()):
            yield each
        yield from matching(list(each.inside), query)


def _symbol(node: ast.Declaration) -> FileSymbol | None:
    match node:
        case ast.Use() | ast.GrammarImport(name=None):
            return None
        case ast.TestDeclaration(title, _, _, span):
            start = span.source.text.find('"', span.start)
            place = Span(span.source, start, min(span.end, start + len(title) + 2)) if start >= 0 else span
            return FileSymbol(title or "test", "test", place, span)
        case ast.FunctionDeclaration():
            return _of("function", node.name, node, _holes(node))
        case ast.ExternDeclaration():
            return _of("function", node.name, node)
        case ast.RecordDeclaration():
            return _of("record", node.name, node, _fields(node.fields))
        case ast.ErrorDeclaration():
            return _of("error", node.name, node, _fields(node.fields))
        case ast.EnumDeclaration():
            members = (FileSymbol(m.name.text, "member", m.name.span, m.name.span) for m in node.members)
            return _of("enum", node.name, node, tuple(members))
        case ast.UnionDeclaration():
            variants = (
                FileSymbol(v.name.text, "variant", v.name.span, v.span, "", _fields(v.fields))
                for v in node.variants
            )
            return _of("union", node.name, node, tuple(variants))
        case ast.TypeDeclaration():
            return _of("type", node.name, node)
        case ast.ConstDeclaration():
            return _of("constant", node.name, node)
        case ast.GrammarDeclaration():
            rules = (FileSymbol(r.name.text, "rule", r.name.span, r.span) for r in node.rules)
            return _of("grammar", node.name, node, tuple(rules))
        case ast.GrammarImport(name=ast.Name() as name):
            return _of("grammar", name, node)
    return None


def _of(
    kind: SymbolKind, name: ast.Name, node: ast.Declaration, inside: tuple[FileSymbol, ...] = ()
) -> FileSymbol:
    detail = ""
    if kind == "function":
        detail = declaration_text(Target("function", name.text, name.span, node))
    return FileSymbol(name.text, kind, name.span, node.span, detail, inside)


def _fields(fields: tuple[ast.Field, ...]) -> tuple[FileSymbol, ...]:
    return tuple(
        FileSymbol(each.name.text, "field", each.name.span, each.span, each.type.span.text) for each in fields
    )


def _holes(node: ast.FunctionDeclaration) -> tuple[FileSymbol, ...]:
    return tuple(
        FileSymbol(name.text, "hole", name.span, name.span)
        for _, name, kind in binders(node.body)
        if kind == "hole"
    )
