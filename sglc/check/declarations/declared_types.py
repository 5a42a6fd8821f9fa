"""Declared types: records, enums, unions, aliases and grammars."""

from __future__ import annotations

from collections.abc import Sequence

from sglc import immutable
from sglc.check.core.context import Entity, ModuleContext
from sglc.check.core.result import Unknown
from sglc.check.declarations.type_parameters import TypeParameters
from sglc.check.expressions.constants import Constants
from sglc.check.types.forms import fits_json
from sglc.check.types.kinds import UNKNOWN
from sglc.check.types.resolve import TypeResolver
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import TAG, AliasType, EnumType, FieldType, RecordType, Type, UnionType


@immutable.node
class DeclaredTypes:
    """A declared type is in the table as soon as somebody looks it up."""

    module: ModuleContext
    types: TypeResolver
    constants: Constants
    parameters: TypeParameters

    def define(self, entity: Entity) -> None:
        """Put a declared type of this module into the table."""
        if entity.name not in self.module.table and entity.name not in self.module.program.open_grammars:
            self._define_type(entity)

    def define_contents(self, entity: Entity) -> None:
        """As `define`, of a type that others may know as an empty one."""
        if entity.name not in self.module.program.broken:
            self._define_type(entity)

    def _define_type(self, entity: Entity) -> None:
        name, node = entity.name, entity.declaration
        match node:
            case ast.EnumDeclaration():
                self.module.table[name] = self._enum(name, node)
            case ast.RecordDeclaration():
                self.module.table[name] = RecordType(name, (), node.doc)
                with self.parameters.inside(name, node):
                    fields = self.fields(name, node.fields)
                    self.module.table[name] = RecordType(name, fields, node.doc)
            case ast.UnionDeclaration():
                self.module.table[name] = UnionType(name, (), node.doc)
                with self.parameters.inside(name, node):
                    self.module.table[name] = self._tagged_union(name, node)
            case ast.GrammarDeclaration() | ast.GrammarImport():
                self._grammar(name, node)
            case ast.TypeDeclaration(type=ast.TypeSource()):
                from sglc.check.types.imported_types import declare_source

                if node.parameters:
                    span = node.parameters[0].span.to(node.parameters[-1].span)
                    self.module.report(
                        "E0353", "an imported type has no parameters", span, label="leave them out"
                    )
                if not declare_source(self.module, node, name):
                    self._alias(name, UNKNOWN, node.doc)  # type: ignore[arg-type]
            case ast.TypeDeclaration():
                with self.parameters.inside(name, node):
                    self.types.declared = (node.type, name, node.doc)
                    type = self.types.resolve(node.type)
                    self.types.declared = None
                    self._alias(name, type, node.doc)

    def _grammar(self, name: str, node: ast.GrammarDeclaration | ast.GrammarImport) -> None:
        from sglc.check.declarations.grammars import Grammars

        grammars = Grammars(self.module, self.types, self.constants)
        if isinstance(node, ast.GrammarImport):
            self._alias(name, grammars.imported(name, node), "")
        elif node.parameters:
            grammars.open(name, node)
        else:
            self._alias(name, grammars.block(name, node), node.doc)

    def _alias(self, name: str, type: Type, doc: str) -> None:
        if name not in self.module.table:
            self.module.table[name] = AliasType(name, type, doc)
        if isinstance(type, Unknown):
            self.module.program.broken.add(name)

    def _enum(self, name: str, node: ast.EnumDeclaration) -> EnumType:
        seen: dict[str, Span] = {}
        for member in node.members:
            first = seen.setdefault(member.name.text, member.name.span)
            if first is not member.name.span:
                self.module.report(
                    "E0203",
                    f"`{member.name.text}` is a member of `{node.name.text}` twice",
                    member.name.span,
                    label="again",
                    secondary=(Label(first, "first written here"),),
                )
        names = tuple(seen)
        docs = {member.name.text: member.doc for member in reversed(node.members)}
        return EnumType(name, names, tuple(docs[n] for n in names), node.doc)

    def _tagged_union(self, name: str, node: ast.UnionDeclaration) -> UnionType:
        variants: list[RecordType] = []
        seen: dict[str, Span] = {}
        for variant in node.variants:
            label = variant.name.text
            if label in seen:
                self.module.report(
                    "E0203",
                    f"`{label}` is a variant of `{node.name.text}` twice",
                    variant.name.span,
                    label="again",
                    secondary=(Label(seen[label], "first written here"),),
                )
                continue
            seen[label] = variant.name.span
            for field in variant.fields:
                if field.name.text == TAG:
                    self.module.report(
                        "E0310",
                        f"a variant cannot have a field named `{TAG}`",
                        field.name.span,
                        label="taken",
                        reason=f"`{TAG}` is the key that names the variant in the written text",
                        hint="rename the field, for instance to `kind`",
                    )
                    self.module.program.broken.add(name)
            variants.append(RecordType(label, self.fields(name, variant.fields), variant.doc))
        return UnionType(name, tuple(variants), node.doc)

    def fields(self, owner: str, nodes: Sequence[ast.Field], *, json: bool = True) -> tuple[FieldType, ...]:
        """The fields of a declaration; a fault in one breaks its owner. `json`: they are written as JSON."""
        fields: list[FieldType] = []
        seen: dict[str, Span] = {}
        for node in nodes:
            label = node.name.text
            if label in seen and isinstance(node.type, ast.TypeUnreadable):
                continue
            if label in seen:
                self.module.report(
                    "E0203",
                    f"field `{label}` is declared twice",
                    node.name.span,
                    label="again",
                    secondary=(Label(seen[label], "first declared here"),),
                )
                continue
            seen[label] = node.name.span
            type = self.types.resolve(node.type)
            if isinstance(type, Unknown) or (json and not fits_json(self.module, type, node.type.span)):
                self.module.program.broken.add(owner)
            default = (
                None
                if node.default is None
                else self.constants.default(node.default, type, f"field `{label}`")
            )
            fields.append(
                FieldType(
                    label,
                    type,
                    node.optional,
                    default is not None,
                    None if default is None else default.value,
                    node.doc,
                )
            )
        return tuple(fields)
