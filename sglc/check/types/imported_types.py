"""`sql table "…"` and `typescript "…"` as types: declarations in another language become declared types.

All that a module takes from one text has one set of names. A declaration that a `type` is made of has the
name of that type; others are named behind the first such type (`Order.Line`), so that a value of a part fits
wherever that part is due.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from sglc.check.core.context import ModuleContext
from sglc.check.core.files import file_text
from sglc.check.core.result import ExpressionType, Unknown
from sglc.diagnostics.diagnostic import Label
from sglc.importers.core.declared import Declared, parts_of, renamed_declaration
from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.reader import read_sql
from sglc.importers.typescript.reader import read_typescript
from sglc.source import Source, Span
from sglc.syntax.tree import ast
from sglc.types.type import AliasType, Alternatives, InForm, ListOf, MapOf, Named, Optional, TupleOf, Type

MAX_CHARS = 4_000_000
"""Longest text of declarations."""

_FILE = re.compile(r"[^\s;{}()]+\.(sql|ddl|ts)")
_READERS = {"sql": read_sql, "typescript": read_typescript}
_WORDS = {"sql": "sql table", "typescript": "typescript"}
_ESCAPE = re.compile(r"\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


@dataclass(slots=True)
class _Shelf:
    """What a module takes from one text: the qualified names of its declarations, and before what others."""

    owner: str
    names: dict[str, str] = field(default_factory=dict)


def source_type(module: ModuleContext, node: ast.TypeSource) -> ExpressionType:
    """The declared type that a source stands for; it and its parts are put into the table of types."""
    found = _read(module, node, "")
    if found is None:
        return Unknown()
    return Named(_enter(module, node, found))


def declare_source(module: ModuleContext, node: ast.TypeDeclaration, name: str) -> bool:
    """`type name = …` of a source: what it declares under that name. False, reported, where there is none."""
    assert isinstance(node.type, ast.TypeSource)
    found = _read(module, node.type, node.name.text)
    if found is None:
        return False
    root = _enter(module, node.type, found)
    module.resolved[id(node.type)] = Named(root)
    if root == name:
        if node.doc:
            module.table[name] = replace(module.table[name], doc=node.doc)
    else:
        module.table[name] = AliasType(name, Named(root), node.doc)
    return True


def _enter(module: ModuleContext, node: ast.TypeSource, found: Declared) -> str:
    """Puts what was read into the table; the qualified name of its root."""
    shelf = _shelf(module, node)
    names = {local: _name(module, shelf, local) for local in found.types}
    for local, declared in found.types.items():
        if names[local] in module.table:
            continue
        made = module.table[names[local]] = renamed_declaration(declared, names)
        for part in parts_of(made):
            module.program.unions += [(union.arms, (node.span,) * len(union.arms)) for union in _unions(part)]
    return names[found.root]


def _name(module: ModuleContext, shelf: _Shelf, local: str) -> str:
    """The qualified name of a declaration of a text, or of an object inside one."""
    known = shelf.names.get(local)
    if known is None:
        head, point, rest = local.partition(".")
        base = _name(module, shelf, head) if point else shelf.owner
        name = wanted = f"{base}.{rest if point else head}"
        number = 1
        while name in module.table:
            number += 1
            name = f"{wanted}{number}"
        known = shelf.names[local] = name
    return known


def _shelf(module: ModuleContext, node: ast.TypeSource) -> _Shelf:
    shelves = module.program.memo.setdefault(("type sources", id(module)), {})
    shelf: _Shelf | None = shelves.get((node.kind, node.source))
    if shelf is None:
        # No declared type can have a name with a blank in it.
        shelf = _Shelf(module.qualify(f"{_WORDS[node.kind]} {len(shelves) + 1}"))
        shelves[node.kind, node.source] = shelf
        first = True
        for declaration in module.tree.declarations:
            if not isinstance(declaration, ast.TypeDeclaration) or not isinstance(
                declaration.type, ast.TypeSource
            ):
                continue
            other = declaration.type
            if (other.kind, other.source) != (node.kind, node.source):
                continue
            found = _read(module, other, declaration.name.text)
            name = module.qualify(declaration.name.text)
            if first:
                shelf.owner, first = name, False
            if found is not None:
                shelf.names.setdefault(found.root, name)
    return shelf


def _unions(type: Type) -> list[Alternatives]:
    match type:
        case Alternatives(arms=arms):
            return [type, *(union for arm in arms for union in _unions(arm))]
        case ListOf(item=item) | Optional(item=item) | InForm(item=item):
            return _unions(item)
        case MapOf(value=value):
            return _unions(value)
        case TupleOf(items=items):
            return [union for item in items for union in _unions(item)]
    return []


# -- reading ---------------------------------------------------------------------------------------


def _read(module: ModuleContext, node: ast.TypeSource, like: str) -> Declared | None:
    """What a source declares; None, reported, where it cannot be used. `like` is the name of its type."""
    key = ("read source", id(node))
    if key not in module.program.memo:
        module.program.memo[key] = _read_now(module, node, like)
    found: Declared | None = module.program.memo[key]
    return found


def _read_now(module: ModuleContext, node: ast.TypeSource, like: str) -> Declared | None:
    text, source = node.source, None
    if _FILE.fullmatch(text):
        loaded = file_text(module, text, node.place)
        if loaded is None:
            return None
        source = Source(text, loaded.removeprefix("\ufeff"))
        text = source.text
    if len(text) > MAX_CHARS:
        _refuse(module, node, SourceFault(0, 0, f"it has more than {MAX_CHARS} characters"), source)
        return None
    try:
        return _READERS[node.kind](text, node.name, like)
    except SourceFault as fault:
        _refuse(module, node, fault, source)
        return None


def _refuse(module: ModuleContext, node: ast.TypeSource, fault: SourceFault, source: Source | None) -> None:
    """A fault of a source, shown in the text that it stands in."""
    place = node.span
    notes: tuple[Label, ...] = ()
    if (fault.start, fault.end) != (0, 0):
        if source is None:
            place = _inside(node.place, fault.start, fault.end)
        else:
            place = Span(source, fault.start, fault.end)
            notes = (Label(node.span, "read here"),)
    module.report(
        "E0356",
        f"`{_WORDS[node.kind]}` cannot be used here as a type",
        place,
        label=fault.reason,
        hint=fault.hint,
        secondary=notes,
    )


def _inside(literal: Span, start: int, end: int) -> Span:
    """Characters of a string's text as characters of the string as it is written."""
    raw = literal.text
    places, at = [], 1
    while at < len(raw) - 1:
        places.append(at)
        escape = _ESCAPE.match(raw, at)
        at = escape.end() if escape else at + 1
    places += [at] * (max(end, start) + 1 - len(places))
    return Span(literal.source, literal.start + places[start], literal.start + places[end])
