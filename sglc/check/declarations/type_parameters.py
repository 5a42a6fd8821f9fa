"""Parameters of records, unions and aliases: their types, and what the parts of a declaration ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sglc.check.core.context import ModuleContext, OpenedType
from sglc.check.core.result import DefaultArgument, Unknown
from sglc.check.declarations.dependent_types import DependentTypes
from sglc.check.expressions.folding import fold
from sglc.check.names.scopes import Scopes
from sglc.check.types.conditioned import numbers_of
from sglc.check.types.resolve import TypeResolver
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.dependent import erased
from sglc.types.type import (
    AliasType,
    DeclaredType,
    EnumType,
    FieldType,
    OpenType,
    RecordType,
    Source,
    UnionType,
)

Declaration = ast.RecordDeclaration | ast.UnionDeclaration | ast.TypeDeclaration


@node
class TypeParameters:
    """The declarations with parameters of one module."""

    module: ModuleContext
    types: TypeResolver
    dependent: DependentTypes
    scopes: Scopes

    def enter(self, name: str, node: Declaration) -> OpenedType:
        """The parameters of a declaration, which its own parts may need already."""
        known = self.module.program.open_types.get(name)
        if known is not None:
            return known
        opened = self.module.program.open_types[name] = OpenedType({})
        seen: dict[str, Span] = {}
        for parameter in node.parameters:
            label = parameter.name.text
            if label in seen:
                self.module.report(
                    "E0203",
                    f"parameter `{label}` is declared twice",
                    parameter.name.span,
                    label="again",
                    secondary=(Label(seen[label], "first declared here"),),
                )
                continue
            seen[label] = parameter.name.span
            if parameter.default is not None:
                self.module.report(
                    "E0353",
                    f"parameter `{label}` has a default",
                    parameter.default.span,
                    label="values are given where the type is used",
                    hint="leave the default out",
                )
            opened.parameters[label] = self.types.resolve(parameter.type)
            if isinstance(opened.parameters[label], Unknown):
                self.module.program.broken.add(name)
        return opened

    @contextmanager
    def inside(self, name: str, node: Declaration) -> Iterator[None]:
        """While the parts of a declaration are resolved. Where it has parameters or its parts depend on
        values, it is kept as an open type, and the table gets the type that all of its values are of."""
        opened = self.enter(name, node) if node.parameters else OpenedType({})
        outer, self.dependent.given = self.dependent.given, []
        with self.scopes.of_constant():
            for parameter in node.parameters:
                if parameter.name.text not in self.scopes.function.scope.names:
                    at = ast.Name(parameter.name.text, parameter.name.span)
                    self.scopes.bind(at, at, opened.parameters[at.text], "parameter")
            yield
            given, self.dependent.given = self.dependent.given, outer
            used = {name for name, local in self.scopes.function.scope.names.items() if local.used}
        declared = self.module.table.get(name)
        if declared is None or (not given and not node.parameters):
            return
        sources = self._sources(name, list(opened.parameters), given)
        opened.opened = OpenType(declared, tuple(opened.parameters), sources)
        self.module.program.open_types[name] = opened
        self.module.table[name] = _widest(declared)
        for parameter in node.parameters:
            if parameter.name.text not in used and name not in self.module.program.broken:
                self.module.report(
                    "W0201",
                    f"parameter `{parameter.name.text}` is never used",
                    parameter.name.span,
                    label="not used",
                )

    def _sources(
        self, name: str, parameters: list[str], given: Sequence[ast.Expression | DefaultArgument]
    ) -> tuple[Source, ...]:
        found = []
        for expression in given:
            source = self._source(expression, parameters)
            if source is None:
                assert not isinstance(expression, DefaultArgument)
                self.module.program.broken.add(name)
                if not isinstance(self.module.types.get(id(expression)), Unknown):
                    self.module.report(
                        "E0375",
                        "a declaration takes its values from its parameters",
                        expression.span,
                        label="neither a parameter, nor a field of one, nor a constant",
                        hint="declare a parameter, and give this value where the type is used",
                    )
                source = Source(0)
            found.append(source)
        return tuple(found)

    def _source(self, expression: ast.Expression | DefaultArgument, parameters: list[str]) -> Source | None:
        if isinstance(expression, DefaultArgument):
            return Source(-1, (), expression.value)
        known, value = fold(self.module, expression)
        return Source(-1, (), value) if known else _path(expression, parameters)


def _path(node: ast.Expression, parameters: list[str]) -> Source | None:
    if isinstance(node, ast.Reference):
        return Source(parameters.index(node.name)) if node.name in parameters else None
    if not isinstance(node, ast.Attribute):
        return None
    inner = _path(node.value, parameters)
    return None if inner is None else replace(inner, path=(*inner.path, node.name.text))


def _widest(declared: DeclaredType) -> DeclaredType:
    """The type that all values are of, whatever the parameters are given."""

    def fields(parts: tuple[FieldType, ...]) -> tuple[FieldType, ...]:
        return tuple(replace(field, type=erased(field.type)) for field in parts)

    match declared:
        case RecordType():
            return replace(declared, fields=fields(declared.fields))
        case UnionType():
            return UnionType(
                declared.name,
                tuple(replace(each, fields=fields(each.fields)) for each in declared.variants),
                declared.doc,
            )
        case AliasType():
            where = None if numbers_of(declared) else declared.where
            return replace(declared, type=erased(declared.type), where=where)
        case EnumType():
            return declared
