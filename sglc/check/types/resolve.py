"""From written types to types: names, lists, maps, unions, and what is refined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from sglc.check.core.callbacks import Callbacks
from sglc.check.core.context import Entity, ModuleContext
from sglc.check.core.result import PROGRESS, Conditions, ExpressionType, Unknown
from sglc.check.core.work_limit import within_limit
from sglc.check.types.conditioned import alias_of, held_by, with_conditions
from sglc.check.types.facts import TypeFacts
from sglc.check.types.forms import fits_json
from sglc.check.types.kinds import (
    BOOL,
    DEC,
    FLOAT,
    INT,
    JSON,
    NULL,
    STR,
    UNKNOWN,
    as_written,
    expand,
    said,
)
from sglc.check.types.nesting import MAX_LEVELS, levels_of, names_in
from sglc.check.types.refinements import check_counts, refine
from sglc.check.types.union_refinements import refined_union
from sglc.check.types.unknown_types import report_arguments, report_unknown_type
from sglc.diagnostics.diagnostic import Edit
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.dependent import erased
from sglc.types.language.builder import keys_dfa
from sglc.types.text.partial_types import partial_type
from sglc.types.type import (
    FORMS,
    Alternatives,
    Applied,
    Constant,
    Form,
    InForm,
    LanguageError,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    Str,
    TupleOf,
    Type,
)

BUILTIN_TYPES: dict[str, Type] = {
    "str": STR,
    "int": INT,
    "decimal": DEC,
    "float": FLOAT,
    "bool": BOOL,
    "null": NULL,
    "json": JSON,
}

TEXT_TYPES: dict[str, Type] = {"line": Str(layout="line"), "lines": Str(layout="lines")}
"""Types that a module may declare or import under the same name; its own then counts."""


@dataclass(slots=True, eq=False)
class TypeResolver:
    """Resolves the type expressions of one module; every answer is kept in its `resolved` table."""

    module: ModuleContext
    callbacks: Callbacks
    facts: TypeFacts
    showing: bool = False
    """Whether the type is only shown to the model, by `schema(T)`."""
    declared: tuple[ast.TypeExpression, str, str] | None = None
    """What an alias that is being declared stands for, with its name and documentation."""
    _inside: bool = False
    """Whether the part of a type is being resolved."""

    def resolve(self, node: ast.TypeExpression) -> Type:
        """The type; Unknown (already reported) where there is none."""
        found: Type = UNKNOWN  # type: ignore[assignment]
        outer, self._inside = self._inside, True
        try:
            if outer:
                found = self._form(node)  # type: ignore[assignment]
            elif not self._too_deep(node):
                found = within_limit(self.module.program, node.span, lambda: self._form(node), found)  # type: ignore[assignment]
        finally:  # the work of the hole around it may be spent
            self._inside = outer
        for part in _json_parts(found):
            if not fits_json(self.module, part, node.span):
                found = UNKNOWN  # type: ignore[assignment]
                break
        self.module.resolved[id(node)] = found
        return found

    def _form(self, node: ast.TypeExpression) -> ExpressionType:
        match node:
            case ast.TypeName():
                return self._name(node)
            case ast.TypePartial():
                base = self.resolve(node.base)
                return base if isinstance(base, Unknown) else partial_type(base, self.module.table)
            case ast.TypeLines():
                return TEXT_TYPES["lines"]
            case ast.TypeRefined():
                return self._refined(node)
            case ast.TypeList():
                return self._list(node)
            case ast.TypeOptional():
                return self._optional(node)
            case ast.TypeUnion():
                return self._union(node)
            case ast.TypeLiteral():
                return Constant(node.value)
            case ast.TypeMap():
                return self._map(node)
            case ast.TypeTuple():
                return self._tuple(node)
            case ast.TypeSpanOf() | ast.TypeOneOf():
                return self.callbacks.dependent_type(node)
            case ast.TypeJsonSchema():
                from sglc.check.types.json_schemas import json_schema_type

                return json_schema_type(self.module, node)
            case ast.TypeSource():
                from sglc.check.types.imported_types import source_type

                return source_type(self.module, node)
            case ast.TypeUnreadable():
                return UNKNOWN
            case ast.TypeKnown():
                return cast(Type, node.type)

    def _too_deep(self, node: ast.TypeExpression) -> bool:
        """Report a type that nests too deeply through the names in it."""
        levels = levels_of(self.module, node)
        if levels <= MAX_LEVELS:
            return False
        if not any(name in self.module.program.too_deep for name in names_in(self.module, node)):
            self.module.report(
                "E0342",
                "this type is nested too deeply",
                node.span,
                label=f"{levels} levels, counted through the names in it",
                reason=f"the limit is {MAX_LEVELS} levels",
                hint="leave out levels, or let a record contain itself",
            )
        return True

    def _name(self, node: ast.TypeName) -> ExpressionType:
        builtin = BUILTIN_TYPES.get(node.name)
        if builtin is not None and not node.arguments:
            return builtin
        given = self.module.given.get(node.name)
        if given is not None and not node.arguments:
            return given
        entity = self.module.look_up(node.name)
        if entity is not None and entity.name in self.module.program.open_grammars:
            entity.used = True
            opened = self.module.program.open_grammars[entity.name]
            return UNKNOWN if opened is None else self.callbacks.given_grammar(node, opened)
        if node.arguments and node.name in BUILTIN_TYPES:
            report_arguments(self.module, node)
            return UNKNOWN
        if entity is not None and entity.kind == "type" and self._is_open(entity):
            entity.used = True
            parameters = self.module.program.reader_of(entity).parameters(entity)
            return self.callbacks.applied_type(node, entity.name, parameters)
        if entity is not None and node.arguments and entity.kind == "type":
            report_arguments(self.module, node)
            return UNKNOWN
        if entity is None and node.name in PROGRESS:
            return Constant(node.name)
        if entity is None and node.name in TEXT_TYPES:
            return TEXT_TYPES[node.name]
        if entity is None:
            declared = (n for n, e in self.module.names.items() if e.kind == "type")
            report_unknown_type(self.module, node, chain(BUILTIN_TYPES, TEXT_TYPES, declared))
            return UNKNOWN
        entity.used = True
        if entity.kind == "broken":
            return UNKNOWN
        if entity.kind != "type":
            self.module.report(
                "E0202",
                f"`{node.name}` is a {entity.kind}, not a type",
                node.span,
                label="a type is due here",
            )
            return UNKNOWN
        return Named(entity.name)

    def _is_open(self, entity: Entity) -> bool:
        """Whether a declared type has parameters, or parts that depend on values."""
        if entity.name in self.module.program.open_types:
            return True
        return hasattr(entity.declaration, "parameters") and len(entity.declaration.parameters) > 0

    def _list(self, node: ast.TypeList) -> ExpressionType:
        item = self.resolve(node.item)
        check_counts(self.module, node.minimum, node.maximum, "items", node.span)
        if isinstance(item, Unknown):
            return UNKNOWN
        self.note_inner(item, node.item)
        return ListOf(item, node.minimum or 0, node.maximum)

    def _map(self, node: ast.TypeMap) -> ExpressionType:
        key, value = self.resolve(node.key), self.resolve(node.value)
        check_counts(self.module, node.minimum, node.maximum, "entries", node.span)
        if isinstance(key, Unknown) or isinstance(value, Unknown):
            return UNKNOWN
        plain = expand(erased(key), self.module.table)
        if not isinstance(plain, Str) or plain.grammar:
            self.module.report(
                "E0306",
                f"keys of a map are texts, not {said(key)}"
                if not isinstance(plain, Str)
                else f"keys of a map are plain texts, not {said(key)}",
                node.key.span,
                label="a `str` type is due here",
            )
            return UNKNOWN
            return UNKNOWN
        if plain.min_chars or plain.max_chars is not None:
            try:
                keys_dfa(plain)
            except LanguageError as fault:
                self.module.report("E0306", str(fault), node.key.span, label="smaller bounds are due here")
                return UNKNOWN
        self.note_inner(value, node.value)
        return MapOf(key, value, node.minimum or 0, node.maximum)

    def _tuple(self, node: ast.TypeTuple) -> ExpressionType:
        items = tuple(self.resolve(item) for item in node.items)
        for item, part in zip(items, node.items, strict=True):
            self.note_inner(item, part)
        return UNKNOWN if UNKNOWN in items else TupleOf(items)

    def _optional(self, node: ast.TypeOptional) -> ExpressionType:
        item = self.resolve(node.item)
        if isinstance(item, Unknown):
            return UNKNOWN
        if isinstance(expand(item, self.module.table), Optional | Null) or item == JSON:
            return item
        self.note_inner(item, node.item)
        return Optional(item)

    def note_inner(self, type: ExpressionType, node: ast.TypeExpression) -> None:
        """Note a part of a type: whether it has a form is asked once all types are known."""
        if isinstance(type, InForm | Named | Applied):
            self.module.program.inner.append((type, node.span))

    def _union(self, node: ast.TypeUnion) -> ExpressionType:
        arms = [(self.resolve(arm), arm.span) for arm in node.arms]
        for (type, _), arm in zip(arms, node.arms, strict=True):
            self.note_inner(type, arm)
        return UNKNOWN if any(isinstance(type, Unknown) for type, _ in arms) else self.union(arms)

    def union(self, written: Sequence[tuple[Type, Span]]) -> ExpressionType:
        """The union of arms at their places: unions among them are opened, null becomes `?`."""
        arms: list[Type] = []
        spans: list[Span] = []
        nullable = False
        for found, span in written:
            if isinstance(found, Null):
                nullable = True
                continue
            if isinstance(found, Optional):
                nullable = True
                found = found.item
            inner = found.arms if isinstance(found, Alternatives) else (found,)
            arms.extend(inner)
            spans.extend(span for _ in inner)
        if not arms:
            return NULL
        if len(arms) > 1:
            self.module.program.unions.append((tuple(arms), tuple(spans)))
        whole = arms[0] if len(arms) == 1 else Alternatives(tuple(arms))
        return Optional(whole) if nullable else whole

    def _refined(self, node: ast.TypeRefined) -> ExpressionType:
        held = Conditions()
        form: Form | None = None
        if isinstance(node.base, ast.TypeUnion):
            base = type = refined_union(self, node, node.base)
        else:
            base = self.resolve(node.base)
            written = as_written(base, self.module.table)
            form = written.form if isinstance(written, InForm) else None
            type = expand(base, self.module.table)
            held = held_by(self.module, base)
        if all(isinstance(refinement, ast.Surface) for refinement in node.refinements):
            type, held = base.item if isinstance(base, InForm) else base, Conditions()
        for refinement in node.refinements:
            if isinstance(type, Str) and type.grammar and not isinstance(refinement, ast.Where | ast.Surface):
                self.module.report(
                    "E0306",
                    f"{said(base)} cannot be refined",
                    refinement.span,
                    label="refines plain texts only",
                    reason="the grammar alone says which texts are legal",
                    hint="write the bound into the grammar",
                )
                return UNKNOWN
            if isinstance(refinement, ast.Where):
                type, more = self.callbacks.condition_of_type(type, node, refinement.condition)
                held.add(more)
                continue
            if isinstance(refinement, ast.Surface):
                form = self._known_form(refinement)
                continue
            if isinstance(type, Unknown) or isinstance(node.base, ast.TypeUnion):
                continue
            type = refine(self.module, type, refinement)
        if isinstance(type, Str) and type.max_chars is not None and type.min_chars > type.max_chars:
            self.module.report(
                "E0304",
                f"no text has at least {type.min_chars} and at most {type.max_chars} characters",
                node.span,
                label="the bounds contradict each other",
                hint="swap the bounds",
            )
            return UNKNOWN
        if self.declared is not None and self.declared[0] is node and held and not isinstance(type, Unknown):
            _, name, doc = self.declared
            formed = self._in_form(type, form, node.span)
            self.module.table[name] = alias_of(name, formed, doc, held)  # type: ignore[arg-type]
            return Named(name)
        return with_conditions(self.module, self._in_form(type, form, node.span), held)

    def _known_form(self, node: ast.Surface) -> Form | None:
        """The form of `as yaml`; None, reported, where there is none of that name."""
        found = next((form for form in FORMS if form == node.name), None)
        if found is None:
            close = "yaml" if node.name == "yml" else self.module.nearest(node.name, list(FORMS))
            self.module.report(
                "E0370",
                f"there is no form `{node.name}`",
                node.span,
                label="unknown form",
                reason=f"values are written as {', '.join(FORMS[:-1])} or {FORMS[-1]}",
                hint=f"did you mean `as {close}`?" if close else "",
                edits=(Edit(node.span, f"as {close}"),) if close == node.name.lower() else (),
            )
        return found

    def _in_form(self, type: ExpressionType, form: Form | None, span: Span) -> ExpressionType:
        """The type in a form. Whether it has it is asked once all types are known."""
        if form is None or isinstance(type, Unknown):
            return type
        found = InForm(type, form)  # type: ignore[arg-type]
        self.module.program.forms.append((found, span))
        return found


def _json_parts(type: Type) -> tuple[Type, ...]:
    """The parts of a list, map or tuple that are written as JSON, keys aside."""
    match type:
        case ListOf(item=item):
            return (item,)
        case MapOf(value=value):
            return (value,)
        case TupleOf(items=items):
            return items
    return ()
