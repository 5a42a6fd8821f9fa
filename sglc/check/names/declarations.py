"""The names of a module: its own declarations and its imports, and the declared types behind them.

Declarations may stand in any order, so names come first and each type is defined when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sglc.check.core.result import DefaultArgument, ExpressionType, Unknown
from sglc.check.core.state import Entity, ErrorFields, ModuleState, ProgramState, Signature
from sglc.check.names.builtins import ERRORS, FUNCTIONS
from sglc.check.types.assignability import STR, UNKNOWN
from sglc.check.types.grammars import Grammars
from sglc.check.types.imported_types import declare_source
from sglc.check.types.resolve import BUILTIN_TYPES
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.diagnostics.suggest import nearest
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import TAG, AliasType, EnumType, FieldType, Optional, RecordType, Type, UnionType

KIND_OF: dict[type, str] = {
    ast.RecordDeclaration: "type", ast.EnumDeclaration: "type", ast.UnionDeclaration: "type",
    ast.TypeDeclaration: "type", ast.ErrorDeclaration: "error", ast.ConstDeclaration: "const",
    ast.GrammarDeclaration: "type", ast.FunctionDeclaration: "function", ast.ExternDeclaration: "function",
}  # fmt: skip

WORDS = {"type": "a type", "error": "an error", "const": "a constant", "function": "a function"}


class Declarations(Grammars):
    """A declared type is in the table as soon as somebody looks it up."""

    def __init__(self, program: ProgramState, module: ModuleState) -> None:
        super().__init__(program, module)

    # -- names -------------------------------------------------------------------------------------

    def declare(self, imports: dict[int, ModuleState]) -> None:
        """Enter every declared and imported name. `imports` maps each Use to the module it found."""
        module = self.module
        for node in module.module.declarations:
            if isinstance(node, ast.Use):
                found = imports.get(id(node))
                if found is not None:
                    self._import(node, found)
                else:
                    for _, local in node.names:
                        self._enter(local, Entity("broken", local.text, node, module, False, local.span))
            elif isinstance(node, ast.GrammarImport):
                imported = self.import_name(node)
                if imported is not None:
                    qualified = module.qualify(imported.text)
                    self._enter(imported, Entity("type", qualified, node, module, False, imported.span))
            elif not isinstance(node, ast.TestDeclaration):
                kind = KIND_OF[node.__class__]
                name = module.qualify(node.name.text)
                if node.name.text in BUILTIN_TYPES and kind == "type":
                    self.program.report(
                        "E0204",
                        f"`{node.name.text}` is a built-in type",
                        node.name.span,
                        label="cannot be declared again",
                    )
                    continue
                entity = Entity(kind, name, node, module, node.public, node.name.span)
                if not self._enter(node.name, entity):
                    continue
                if isinstance(node, ast.EnumDeclaration):
                    for member in node.members:
                        module.members.setdefault(member.name.text, []).append(name)
                elif isinstance(node, ast.UnionDeclaration):
                    for variant in node.variants:
                        module.variants.setdefault(variant.name.text, []).append(name)

    def _enter(self, name: ast.Name, entity: Entity) -> bool:
        known = self.module.names.get(name.text)
        if known is not None:
            self.program.report(
                "E0203",
                f"`{name.text}` is declared twice",
                name.span,
                label="declared again",
                secondary=(Label(known.span, "first declared here"),),
                hint="rename one of them",
            )
            return False
        self.module.names[name.text] = entity
        return True

    def _nothing_named(self, node: ast.Use, own: dict[str, Entity]) -> None:
        """`use std.math` takes nothing; what the file writes as `math.floor` is what was meant."""
        source = node.span.source
        short = re.split(r"[./]", node.path)[-1]
        used = [m for m in re.finditer(rf"(?<![\w.]){re.escape(short)}\.(\w+)", source.text) if m[1] in own]
        names = sorted({match[1] for match in used})
        line_end = source.text.find("\n", node.span.start)
        end = node.span.start + len(source.text[node.span.start : line_end].split("#")[0].rstrip())
        edits = [Edit(Span(source, end, end), f" ({', '.join(names)})")]
        edits += [Edit(Span(source, match.start(), match.end()), match[1]) for match in used]
        shared = sorted(name for name, entity in own.items() if entity.public)
        self.program.report(
            "E0222", f"this `use` names nothing of `{node.path}`", Span(source, node.span.start, end),
            label="takes nothing",
            hint=f"write `use {node.path} ({', '.join(names or shared[:3]) or 'name'})`",
            edits=tuple(edits) if names else (),
        )  # fmt: skip
        self.module.names.setdefault(
            short, Entity("broken", short, node, self.module, False, node.span, used=True)
        )

    def _import(self, node: ast.Use, found: ModuleState) -> None:
        own = {name: e for name, e in found.names.items() if not e.imported}
        if not node.names:
            self._nothing_named(node, own)
        for imported, local in node.names:
            entity = own.get(imported.text)
            if entity is None:
                shared = [name for name, e in own.items() if e.public]
                close = nearest(imported.text, shared)
                self.program.report(
                    "E0205",
                    f"`{node.path}` has no `{imported.text}`",
                    imported.span,
                    label="not found there",
                    hint=f"did you mean `{close}`?" if close else _listing(shared),
                )
                self._enter(local, Entity("broken", local.text, node, self.module, False, local.span))
                continue
            if not entity.public:
                self.program.report(
                    "E0206",
                    f"`{imported.text}` is private to `{node.path}`",
                    imported.span,
                    label="not marked `pub`",
                    secondary=(Label(entity.span, "declared here"),),
                    hint=f"write `pub` before its declaration in {found.source.name}",
                )
            entity.used = True
            copy = Entity(
                entity.kind, entity.name, entity.declaration, entity.module, False, local.span, imported=True
            )
            if not self._enter(local, copy):
                continue
            declaration = entity.declaration
            if isinstance(declaration, ast.EnumDeclaration):
                for member in declaration.members:
                    self.module.members.setdefault(member.name.text, []).append(entity.name)
            elif isinstance(declaration, ast.UnionDeclaration):
                for variant in declaration.variants:
                    self.module.variants.setdefault(variant.name.text, []).append(entity.name)

    def look_up(self, name: str) -> Entity | None:
        entity = self.module.names.get(name)
        if entity is not None and entity.kind == "type" and entity.name not in self.table:
            # One with parameters never comes into the table.
            self.program.checkers[id(entity.module)].define(entity)
        return entity

    # -- declared types ----------------------------------------------------------------------------

    def define(self, entity: Entity) -> None:
        """Put a declared type of this module into the table."""
        if entity.name not in self.table and entity.name not in self.program.open_grammars:
            self._define_type(entity)

    def define_contents(self, entity: Entity) -> None:
        """As `define`, of a type that others may know as an empty one."""
        if entity.name not in self.program.broken:
            self._define_type(entity)

    def _define_type(self, entity: Entity) -> None:
        name, node = entity.name, entity.declaration
        match node:
            case ast.EnumDeclaration():
                self.table[name] = self._enum(name, node)
            case ast.RecordDeclaration():
                self.table[name] = RecordType(name, (), node.doc)
                self._no_parameters(node)
                fields = self._fields(name, node.fields)
                self.table[name] = RecordType(name, fields, node.doc)
            case ast.UnionDeclaration():
                self.table[name] = UnionType(name, (), node.doc)
                self._no_parameters(node)
                self.table[name] = self._tagged_union(name, node)
            case ast.GrammarDeclaration() if node.parameters:
                self.open_grammar(name, node)
            case ast.GrammarDeclaration():
                self._alias(name, self.grammar_block(name, node), node.doc)
            case ast.GrammarImport():
                self._alias(name, self.imported_grammar(name, node), "")
            case ast.TypeDeclaration(type=ast.TypeSource()):
                self._no_parameters(node)
                if not declare_source(self.program, self.module, node, name):
                    self._alias(name, UNKNOWN, node.doc)  # type: ignore[arg-type]
            case ast.TypeDeclaration():
                self._no_parameters(node)
                type = self.resolve(node.type)
                self._alias(name, type, node.doc)

    def _alias(self, name: str, type: Type, doc: str) -> None:
        if name not in self.table:
            self.table[name] = AliasType(name, type, doc)
        if isinstance(type, Unknown):
            self.program.broken.add(name)

    def _no_parameters(self, node: Any) -> None:
        if node.parameters:
            span = node.parameters[0].span.to(node.parameters[-1].span)
            self._unavailable("E0906", "type parameters", span, "declare the type without parameters")
            self.program.broken.add(self.module.qualify(node.name.text))

    def _enum(self, name: str, node: ast.EnumDeclaration) -> EnumType:
        seen: dict[str, Span] = {}
        for member in node.members:
            first = seen.setdefault(member.name.text, member.name.span)
            if first is not member.name.span:
                self.program.report(
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
                self.program.report(
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
                    self.program.report(
                        "E0310",
                        f"a variant cannot have a field named `{TAG}`",
                        field.name.span,
                        label="taken",
                        reason=f"`{TAG}` is the key that names the variant in the written text",
                        hint="rename the field, for instance to `kind`",
                    )
                    self.program.broken.add(name)
            variants.append(RecordType(label, self._fields(name, variant.fields), variant.doc))
        return UnionType(name, tuple(variants), node.doc)

    def _fields(self, owner: str, nodes: Sequence[ast.Field], *, json: bool = True) -> tuple[FieldType, ...]:
        fields: list[FieldType] = []
        seen: dict[str, Span] = {}
        for node in nodes:
            label = node.name.text
            if label in seen:
                self.program.report(
                    "E0203",
                    f"field `{label}` is declared twice",
                    node.name.span,
                    label="again",
                    secondary=(Label(seen[label], "first declared here"),),
                )
                continue
            seen[label] = node.name.span
            type = self.resolve(node.type)
            if isinstance(type, Unknown) or (json and not self.fits_json(type, node.type.span)):
                self.program.broken.add(owner)
            default = None if node.default is None else self.default(node.default, type, f"field `{label}`")
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

    def default(self, node: ast.Expression, type: ExpressionType, what: str) -> DefaultArgument | None:
        """The value of a default; reported and None where it is none of the type. See `Constants`."""
        raise KeyError(what)

    # -- errors, functions -------------------------------------------------------------------------

    def define_all(self) -> None:
        """Define types, errors and signatures of this module."""
        for entity in self.own("type"):
            self.define(entity)
        for entity in self.own("error"):
            node: ast.ErrorDeclaration = entity.declaration
            if node.name.text in ERRORS:
                self.program.report(
                    "E0204",
                    f"`{node.name.text}` is a built-in error",
                    node.name.span,
                    label="cannot be declared again",
                )
            fields = tuple(
                (field.name, _optional(field), DefaultArgument(field.default) if field.has_default else None)
                for field in self._fields(entity.name, node.fields, json=False)
            )
            self.program.errors[entity.name] = ErrorFields(entity.name, fields)
        for entity in self.own("function"):
            self._signature(entity)

    def own(self, kind: str) -> list[Entity]:
        return [e for e in self.module.names.values() if e.kind == kind and not e.imported]

    def _signature(self, entity: Entity) -> None:
        node = entity.declaration
        parameters: list[tuple[str, ExpressionType, DefaultArgument | None]] = []
        seen: dict[str, Span] = {}
        for parameter in node.parameters:
            label = parameter.name.text
            if label in seen:
                self.program.report(
                    "E0203",
                    f"parameter `{label}` is declared twice",
                    parameter.name.span,
                    label="again",
                    secondary=(Label(seen[label], "first declared here"),),
                )
                continue
            seen[label] = parameter.name.span
            type = self.resolve(parameter.type)
            default = None
            if parameter.default is not None:
                default = self.default(parameter.default, type, f"parameter `{label}`")
            elif parameters and parameters[-1][2] is not None:
                self.program.report(
                    "E0311",
                    f"parameter `{label}` needs a default too",
                    parameter.name.span,
                    label="stands after a parameter with a default",
                    hint="move it to the front, or give it a default",
                )
            parameters.append((label, type, default))
        result = self.resolve(node.result) if node.result is not None else BUILTIN_TYPES["null"]
        raises: list[str] = []
        for error in getattr(node, "raises", ()):
            found = self.error_named(error)
            if found is not None and found not in raises:
                raises.append(found)
        available = True
        if isinstance(node, ast.ExternDeclaration):
            available = False
            self._unavailable("E0915", "`extern py`", node.name.span, "write the helper as a `pure fn`")
        elif node.kind == "aside":
            available = False
            self._unavailable(
                "E0907", "`aside`", node.name.span, "use a `fn`, which has its own conversation"
            )
        kind = getattr(node, "kind", "pure")
        signature = Signature(
            entity.name, kind, tuple(parameters), result, tuple(raises), node, self.module, available
        )
        self.program.signatures[entity.name] = signature

    def error_named(self, name: ast.Name) -> str | None:
        """Qualified name of an error; reported and None if there is none."""
        if name.text in ERRORS:
            return name.text
        entity = self.module.names.get(name.text)
        if entity is not None and entity.kind == "error":
            entity.used = True
            return entity.name
        if entity is not None and entity.kind == "broken":
            return None
        known = [*ERRORS, *(n for n, e in self.module.names.items() if e.kind == "error")]
        close = nearest(name.text, known)
        self.program.report(
            "E0207",
            f"there is no error `{name.text}`",
            name.span,
            label="unknown error" if entity is None else f"is {WORDS[entity.kind]}",
            hint=f"did you mean `{close}`?"
            if close
            else "leave the name out: `except:` catches every error"
            if name.text in ("Exception", "BaseException", "Error")
            else f"declare it at the left margin: `error {name.text}`, with its fields in parentheses",
        )
        return None

    def error_fields(self, name: str) -> ErrorFields:
        """Fields of an error by its qualified name; built-in ones have a message."""
        if name in ERRORS:
            return ErrorFields(name, (("message", STR, DefaultArgument("")),))
        known = self.program.errors.get(name)
        if known is None:
            known = ErrorFields(name, ())
        return known

    def callable_names(self) -> list[str]:
        names = [n for n, e in self.module.names.items() if e.kind in ("function", "type")]
        return [*names, *self.module.variants, *FUNCTIONS]


def _optional(field: FieldType) -> Type:
    return Optional(field.type) if field.optional and not isinstance(field.type, Optional) else field.type


def _listing(names: list[str]) -> str:
    if not names:
        return "that module shares nothing"
    return "it shares " + ", ".join(f"`{name}`" for name in sorted(names)[:8])
