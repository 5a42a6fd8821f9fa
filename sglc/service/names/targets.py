"""What names of modules stand for: declarations, and the fields, members, variants and rules in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from sglc.check.core.result import CheckedModule, ErrorOf, ExpressionType, LocalSymbol
from sglc.check.types.kinds import expand, without_null
from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Applied, Named

Kind = Literal[
    "function",
    "type",
    "record",
    "enum",
    "union",
    "error",
    "constant",
    "grammar",
    "test",
    "module",
    "field",
    "member",
    "variant",
    "rule",
    "parameter",
    "type parameter",
    "variable",
    "hole",
    "alias",
    "builtin",
    "model",
]
"""`alias` is the name that a `use … as` gives; `aim` of its target is what it stands for."""


@value
class Target:
    """What a name stands for. Two are equal where they are declared at the same place."""

    kind: Kind
    name: str
    place: Span | None
    """Of the name where it is declared; None for what is built in, and for models."""
    node: object = None
    """Its declaration."""
    owner: str = ""
    """The declaration that it is a part of: the function of a variable, the record of a field."""
    aim: Target | None = None


class ModuleTargets:
    """What is declared in one module of a program."""

    def __init__(self, snapshot: Snapshot, module: CheckedModule) -> None:
        self.snapshot = snapshot
        self.module = module

    @cached_property
    def own(self) -> dict[str, Target]:
        """What the module declares, by name; the first of two that share one."""
        found: dict[str, Target] = {}
        for node in self.module.module.declarations:
            target = _declared(node)
            if target is not None:
                found.setdefault(target.name, target)
        return found

    @cached_property
    def imported(self) -> dict[str, Target]:
        """What its `use` lines bring, by the names that it has here."""
        found: dict[str, Target] = {}
        for node in self.module.module.declarations:
            if isinstance(node, ast.Use):
                for name, local in node.names:
                    target = self.shared(node, name.text)
                    if target is not None and local is not name and local.span != name.span:
                        target = Target("alias", local.text, local.span, node, aim=target)
                    if target is not None:
                        found[local.text] = target
        return found

    def shared(self, use: ast.Use, name: str) -> Target | None:
        """What a `use` of the module takes from another one."""
        from sglc.library import LibraryError

        try:
            source = self.snapshot.library.find(use.path, self.module.module.source)
        except LibraryError:
            return None
        modules = self.snapshot.checked.modules
        module = next((each for each in modules if each.module.source is source), None)
        return None if module is None else targets_of(self.snapshot, module).own.get(name)

    def find(self, name: str) -> Target | None:
        """What a name of the module's own level stands for."""
        return self.own.get(name) or self.imported.get(name)


def targets_of(snapshot: Snapshot, module: CheckedModule) -> ModuleTargets:
    """What a module declares; found once for a snapshot."""
    known = snapshot.known.get(("targets", id(module)))
    if not isinstance(known, ModuleTargets):
        known = snapshot.known["targets", id(module)] = ModuleTargets(snapshot, module)
    return known


def qualified(snapshot: Snapshot, name: str) -> Target | None:
    """The declaration of a qualified name: `crew.f`, `f`, `f[int]` for a copy of `f`."""
    name = name.partition("[")[0]
    module, _, label = name.rpartition(".")
    found = snapshot.by_name.get(module)
    return None if found is None else targets_of(snapshot, found).own.get(label)


def _declared(node: ast.Declaration) -> Target | None:
    match node:
        case ast.FunctionDeclaration() | ast.ExternDeclaration():
            kind: Kind = "function"
        case ast.RecordDeclaration():
            kind = "record"
        case ast.EnumDeclaration():
            kind = "enum"
        case ast.UnionDeclaration():
            kind = "union"
        case ast.TypeDeclaration():
            kind = "type"
        case ast.ErrorDeclaration():
            kind = "error"
        case ast.ConstDeclaration():
            kind = "constant"
        case ast.GrammarDeclaration():
            kind = "grammar"
        case ast.GrammarImport(name=ast.Name(text, span)):
            return Target("grammar", text, span, node)
        case _:
            return None
    return Target(kind, node.name.text, node.name.span, node)


def field_of(owner: Target | None, name: str) -> Target | None:
    """A field of a record, variant or error, or a parameter of a function, by name."""
    if owner is None:
        return None
    owner = owner.aim or owner
    match owner.node:
        case ast.RecordDeclaration(fields=fields) | ast.ErrorDeclaration(fields=fields):
            return _named(fields, name, "field", owner.name)
        case ast.Variant(fields=fields):
            return _named(fields, name, "field", owner.name)
        case ast.UnionDeclaration(variants=variants):
            found = (_named(each.fields, name, "field", each.name.text) for each in variants)
            return next((each for each in found if each is not None), None)
        case ast.FunctionDeclaration() | ast.ExternDeclaration():
            return _named(owner.node.parameters, name, "parameter", owner.name)
    return None


def member_of(owner: Target | None, name: str) -> Target | None:
    """A member of an enum, or a variant of a union."""
    if owner is None:
        return None
    owner = owner.aim or owner
    match owner.node:
        case ast.EnumDeclaration(members=members):
            return _named(members, name, "member", owner.name)
        case ast.UnionDeclaration(variants=variants):
            return _named(variants, name, "variant", owner.name)
    return None


def _named(
    parts: tuple[ast.Field | ast.Parameter | ast.Member | ast.Variant, ...], name: str, kind: Kind, owner: str
) -> Target | None:
    for part in parts:
        if part.name.text == name:
            return Target(kind, name, part.name.span, part, owner)
    return None


def owner_of_type(snapshot: Snapshot, found: ExpressionType | None) -> Target | None:
    """The declaration whose fields, members or variants a value has."""
    if found is None:
        return None
    if isinstance(found, ErrorOf):
        return None if found.name is None else qualified(snapshot, found.name)
    table = snapshot.checked.table
    found = expand(without_null(expand(found, table), table), table)
    return qualified(snapshot, found.name) if isinstance(found, Named | Applied) else None


def binders(body: object) -> Iterator[tuple[object, ast.Name, Kind]]:
    """The nodes in a body that bind variables, with the names, in the order of the text."""
    from sglc.syntax.tree.spans import walk

    for node in walk(body):
        match node:
            case ast.Let(name=name):
                yield node, name, "variable"
            case ast.For(variable=name) | ast.Fork(variable=name) | ast.Comprehension(variable=name):
                yield node, name, "variable"
            case ast.StreamFor(variable=name, whole=whole):
                yield node, name, "variable"
                if whole is not None:
                    yield whole, whole, "variable"
            case ast.Lambda(parameter=name):
                yield node, name, "variable"
            case ast.Except(binding=ast.Name() as name) | ast.Part(binding=ast.Name() as name):
                yield node, name, "variable"
            case ast.Ensure(each=(ast.Name() as name, _)):
                yield node, name, "variable"
            case ast.NamePattern(name=name):
                yield node, name, "variable"
            case ast.Hole(name=name, content=content):
                yield content, name, "hole"


def slot_of(symbol: object) -> str | None:
    """The slot of a variable."""
    return symbol.slot if isinstance(symbol, LocalSymbol) else None
