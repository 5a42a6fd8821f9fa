"""Where each name of a module stands, and what it stands for there.

The checker says what names mean. Where it does not, as in a body with an error before it, a name means the
variable of its function that has it, else what its module knows under it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache, cached_property
from operator import attrgetter

from sglc.check.core.result import (
    BuiltinSymbol,
    CheckedModule,
    ConstantSymbol,
    ErrorSymbol,
    FigureSymbol,
    FunctionSymbol,
    LocalSymbol,
    RecordSymbol,
    Symbol,
    VariantSymbol,
)
from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.service.names import targets
from sglc.service.names.targets import ModuleTargets, Target
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.values import EnumValue


@value
class Occurrence:
    """One place where a name stands."""

    span: Span
    target: Target
    defines: bool = False
    node: object = None
    """The expression that it is, if it is one."""


class Occurrences:
    """All names of one module, in the order of the text."""

    def __init__(self, snapshot: Snapshot, module: CheckedModule) -> None:
        found = _Walk(snapshot, module).all()
        self.all = sorted(found, key=lambda each: each.span.start)
        self._starts = [each.span.start for each in self.all]

    @cached_property
    def read_first(self) -> dict[Target, object]:
        """The first expression that names each target."""
        found: dict[Target, object] = {}
        for each in self.all:
            if each.node is not None:
                found.setdefault(each.target, each.node)
        return found

    def at(self, offset: int) -> Occurrence | None:
        """The name that an offset stands in, or right behind."""
        place = bisect_right(self._starts, offset) - 1
        for index in (place, place - 1):
            if index >= 0 and self.all[index].span.start <= offset <= self.all[index].span.end:
                return self.all[index]
        return None


def occurrences_of(snapshot: Snapshot, module: CheckedModule | None = None) -> Occurrences:
    """The names of a module, of the file itself if none is given; found once for a snapshot."""
    module = module or snapshot.checked.main
    known = snapshot.known.get(("names", id(module)))
    if not isinstance(known, Occurrences):
        known = snapshot.known["names", id(module)] = Occurrences(snapshot, module)
    return known


class _Walk:
    """Goes over the tree of one module."""

    def __init__(self, snapshot: Snapshot, module: CheckedModule) -> None:
        self.snapshot = snapshot
        self.module = module
        self.tables = snapshot.tables_of(module)
        self.targets: ModuleTargets = targets.targets_of(snapshot, module)
        self.found: dict[tuple[int, int], Occurrence] = {}
        self.slots: dict[str, Target] = {}
        """The variables of the function that is gone over, by their slots."""
        self.named: dict[str, Target] = {}
        """The same by their names, the last one of each."""

    def all(self) -> list[Occurrence]:
        """Every name."""
        for node in self.module.module.declarations:
            self._declaration(node)
        return list(self.found.values())

    # -- entering ------------------------------------------------------------------------------------

    def _add(
        self, span: Span, name: str, target: Target | None, *, defines: bool = False, node: object = None
    ) -> None:
        """Note a name, if it stands there as it is called: some nodes have names that nobody wrote."""
        if target is None or span.end - span.start < len(name):
            return
        if span.end - span.start != len(name):
            span = Span(span.source, span.start, span.start + len(name))
        if span.text == name:
            self.found.setdefault((span.start, span.end), Occurrence(span, target, defines, node))

    def _name(self, name: ast.Name, target: Target | None, *, defines: bool = False) -> None:
        self._add(name.span, name.text, target, defines=defines)

    def _bind(self, target: Target, slot: str | None) -> None:
        self.named[target.name] = target
        if slot is not None:
            self.slots[slot] = target
        assert target.place is not None
        self._add(target.place, target.name, target, defines=True)

    # -- declarations --------------------------------------------------------------------------------

    def _declaration(self, node: ast.Declaration) -> None:
        self.slots, self.named = {}, {}
        if isinstance(node, ast.Use):
            self._use(node)
            return
        if isinstance(node, ast.GrammarImport):
            if node.name is not None:
                self._name(node.name, self.targets.own.get(node.name.text), defines=True)
            return
        owner = ""
        if not isinstance(node, ast.TestDeclaration):
            owner = node.name.text
            own = self.targets.own.get(owner)
            self._name(node.name, own, defines=own is not None and own.node is node)
        else:
            owner = node.title
        self._parts(node, owner)
        self._visit_fields(node)

    def _use(self, node: ast.Use) -> None:
        for name, local in node.names:
            target = self.targets.imported.get(local.text)
            if target is not None and target.kind == "alias":
                self._name(local, target, defines=True)
                target = target.aim
            self._name(name, target)

    def _parts(self, node: ast.Declaration, owner: str) -> None:
        """What a declaration declares inside of it."""
        match node:
            case ast.RecordDeclaration(fields=fields) | ast.ErrorDeclaration(fields=fields):
                self._fields(fields, owner)
            case ast.UnionDeclaration(variants=variants):
                for each in variants:
                    variant = Target("variant", each.name.text, each.name.span, each, owner)
                    self._name(each.name, variant, defines=True)
                    self._fields(each.fields, each.name.text)
            case ast.EnumDeclaration(members=members):
                for member in members:
                    target = Target("member", member.name.text, member.name.span, member, owner)
                    self._name(member.name, target, defines=True)
            case ast.GrammarDeclaration(rules=rules):
                for rule in rules:
                    self._bind(Target("rule", rule.name.text, rule.name.span, rule, owner), None)
            case ast.FunctionDeclaration(type_parameters=names):
                for name in names:
                    self._bind(Target("type parameter", name.text, name.span, node, owner), None)
        for parameter in getattr(node, "parameters", ()):
            target = Target("parameter", parameter.name.text, parameter.name.span, parameter, owner)
            self._bind(target, targets.slot_of(self.tables.symbol(parameter)) or parameter.name.text)
        for bound, name, kind in targets.binders(getattr(node, "body", ())):
            symbol = self.tables.symbol(bound)
            slot = targets.slot_of(symbol)
            if kind == "hole":
                facts = self.tables.hole(bound)
                slot = name.text if facts is None or facts.slot is None else facts.slot
            elif isinstance(bound, ast.NamePattern) and slot is None:
                continue  # a member or a variant
            self._bind(Target(kind, name.text, name.span, bound, owner), slot)

    def _fields(self, fields: tuple[ast.Field, ...], owner: str) -> None:
        for each in fields:
            target = Target("field", each.name.text, each.name.span, each, owner)
            self._name(each.name, target, defines=True)
            self.named.setdefault(each.name.text, target)

    # -- uses ----------------------------------------------------------------------------------------

    def _visit(self, node: object) -> None:
        if isinstance(node, tuple):
            for each in node:
                self._visit(each)
            return
        if not hasattr(node.__class__, "__dataclass_fields__"):
            return
        self._use_of(node)
        self._visit_fields(node)

    def _visit_fields(self, node: object) -> None:
        kind: type[object] = node.__class__
        for part in _parts_of(kind)(node):  # type: ignore[arg-type]
            if part:
                self._visit(part)

    def _use_of(self, node: object) -> None:
        """The names that a node itself has."""
        match node:
            case ast.Reference(name, span):
                self._add(span, name, self._reference(node), node=node)
            case ast.TypeName(name, _, span) | ast.TypePartial(ast.TypeName(name, _, _), span):
                self._add(span, name, self._in_sight(name))
            case ast.Attribute():
                self._name(node.name, self._attribute(node))
            case ast.Call():
                owner = self._of_symbol(self.tables.symbol(node), "")
                for argument in node.arguments:
                    if argument.name is not None:
                        self._name(argument.name, targets.field_of(owner, argument.name.text))
            case ast.Raise() if node.error is not None:
                owner = self._error(node, node.error)
                self._name(node.error, owner)
                for argument in node.arguments:
                    if argument.name is not None:
                        self._name(argument.name, targets.field_of(owner, argument.name.text))
            case ast.Except():
                for name in node.errors:
                    self._name(name, self._error(name, name))
            case ast.ExpectRaises():
                self._name(node.error, self._error(node, node.error))
            case ast.FunctionDeclaration() | ast.ExternDeclaration():
                pass
            case ast.NamePattern(name):
                self._name(name, self._of_symbol(self.tables.symbol(node), name.text))
            case ast.ConstructorPattern(name, fields):
                owner = self._of_symbol(self.tables.symbol(node), name.text)
                self._name(name, owner)
                for each in fields:
                    self._name(each.name, targets.field_of(owner, each.name.text))
            case ast.Mock():
                self._mock(node)
            case ast.ModelName(name):
                self._name(name, Target("model", name.text, None))
            case ast.GrammarSymbol(name):
                self._name(name, self._in_sight(name.text))

    def _reference(self, node: ast.Reference) -> Target | None:
        symbol = self.tables.symbol(node)
        if isinstance(symbol, ConstantSymbol):
            known = self.targets.find(node.name)
            if known is not None and (known.aim or known).kind == "constant":
                return known
        return self._of_symbol(symbol, node.name)

    def _of_symbol(self, symbol: Symbol | None, name: str) -> Target | None:
        """What a symbol is declared as; `name` is how it is called here."""
        match symbol:
            case LocalSymbol(label, slot):
                known = self.slots.get(slot) or self.named.get(label)
                return known if known is not None or label != "it" else Target("builtin", label, None)
            case FigureSymbol(slot=slot):
                return self.slots.get(slot) or Target("builtin", name, None)
            case FunctionSymbol(qualified):
                return self._called(targets.qualified(self.snapshot, qualified), name)
            case RecordSymbol(qualified) | ErrorSymbol(qualified):
                return self._called(targets.qualified(self.snapshot, qualified), name)
            case VariantSymbol(union, variant):
                return targets.member_of(targets.qualified(self.snapshot, union), variant)
            case ConstantSymbol(EnumValue(enum, member)):
                return targets.member_of(targets.qualified(self.snapshot, enum), member)
            case BuiltinSymbol(label):
                return Target("builtin", label, None)
        return self._in_sight(name) if name else None

    def _called(self, found: Target | None, name: str) -> Target | None:
        """What is called otherwise here, by its name here."""
        if found is not None and name and name != found.name:
            alias = self.targets.imported.get(name)
            return alias if alias is not None and alias.aim == found else None
        return found

    def _in_sight(self, name: str) -> Target | None:
        return self.named.get(name) or self.targets.find(name)

    def _error(self, node: object, name: ast.Name) -> Target | None:
        return self._of_symbol(self.tables.symbol(node), name.text)

    def _attribute(self, node: ast.Attribute) -> Target | None:
        label = node.name.text
        symbol = self.tables.symbol(node)
        if isinstance(symbol, BuiltinSymbol | FigureSymbol | VariantSymbol):
            return self._of_symbol(symbol, label)
        if isinstance(symbol, ConstantSymbol) and isinstance(symbol.value, EnumValue):
            return self._of_symbol(symbol, label)
        owner = targets.owner_of_type(self.snapshot, self.tables.type(node.value))
        return targets.field_of(owner, label)

    def _mock(self, node: ast.Mock) -> None:
        owner = self._of_symbol(self.tables.symbol(node), node.function.text)
        self._name(node.function, owner)
        function = (owner.aim or owner).node if owner is not None else None
        if node.hole is None or not isinstance(function, ast.FunctionDeclaration):
            return
        for bound, name, kind in targets.binders(function.body):
            if kind == "hole" or isinstance(bound, ast.Let):
                if name.text == node.hole.text:
                    self._name(node.hole, Target(kind, name.text, name.span, bound, function.name.text))
                    return


@cache
def _parts_of(kind: type) -> Callable[[object], tuple[object, ...]]:
    """What nodes of a class hold in fields that may hold nodes with names."""
    names = [
        field.name
        for field in getattr(kind, "__dataclass_fields__", {}).values()
        if field.name not in ("span", "keyword", "name", "place", "operator", "target_span")
        and field.type not in ("Span", "str", "int", "bool", "Name")
    ]
    if kind in (ast.FunctionDeclaration, ast.ExternDeclaration):
        names = [name for name in names if name != "type_parameters"]
    if not names:
        return lambda node: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda node: (get(node),)
