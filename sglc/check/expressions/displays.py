"""Types of what is written out: texts, lists, tuples, maps, and types as texts."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType, ListValue, Never, Unknown
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.names.scopes import Scopes
from sglc.check.names.unknown_names import is_unknown, look_at_text
from sglc.check.types.assignability import fit, join
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import (
    JSON,
    NEVER,
    NULL,
    STR,
    UNKNOWN,
    expand,
    item_of,
    list_of,
    said,
    without_null,
)
from sglc.check.types.resolve import TypeResolver
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Json, ListOf, MapOf, TupleOf


@node
class Displays:
    """What is expected of a whole tells what is expected of its parts."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes
    types: TypeResolver
    inference: Inference

    def string(self, node: ast.String) -> ExpressionType:
        """The type of a text; what is inserted must have one."""
        look_at_text(self.scopes, node.span, in_string=True)
        for part in node.parts:
            if not isinstance(part, str):
                self.inference.inserted(part)
        return STR

    def list_display(self, node: ast.ListDisplay, expected: ExpressionType | None) -> ExpressionType:
        """The type of a list that is written out: its items are of one type."""
        due = (
            None
            if expected is None
            else item_of(without_null(expected, self.module.table), self.module.table)
        )
        if due == JSON or self._is_json(expected):
            for item in node.items:
                self.inference.expect(item, JSON, "a part of a JSON value")
            return ListOf(JSON, len(node.items), len(node.items))
        if not node.items:
            return ListValue(NEVER)
        whole: ExpressionType = NEVER
        for item in node.items:
            found = self.inference.infer(item, due)
            merged = join(whole, found, self.module.table)
            if merged is None and due is not None and fit(found, due, self.module.table).value:
                merged = due
            if merged is None:
                self.module.report(
                    "E0313",
                    f"items of one list are of one type, here {said(whole)} and {said(found)}",
                    item.span,
                    label=f"this is {said(found)}",
                    secondary=(Label(node.items[0].span, f"this is {said(whole)}"),),
                )
                return UNKNOWN
            whole = merged
        if isinstance(whole, Unknown):
            return UNKNOWN
        found = list_of(whole)
        if isinstance(found, ListOf):
            return ListOf(found.item, len(node.items), len(node.items))
        return found

    def tuple_display(self, node: ast.TupleDisplay, expected: ExpressionType | None) -> ExpressionType:
        """The type of a tuple that is written out."""
        due: tuple[ExpressionType | None, ...] = (None,) * len(node.items)
        if expected is not None:
            plain = expand(without_null(expected, self.module.table), self.module.table)
            if isinstance(plain, TupleOf) and len(plain.items) == len(node.items):
                due = plain.items
        items = tuple(self.inference.infer(item, want) for item, want in zip(node.items, due, strict=True))
        return UNKNOWN if UNKNOWN in items else TupleOf(items)  # type: ignore[arg-type]

    def _is_json(self, expected: ExpressionType | None) -> bool:
        return (
            expected is not None
            and expand(without_null(expected, self.module.table), self.module.table).__class__ is Json
        )

    def map_display(self, node: ast.MapDisplay, expected: ExpressionType | None) -> ExpressionType:
        """The type of a map that is written out: its values are of one type."""
        due = None
        if expected is not None:
            plain = expand(without_null(expected, self.module.table), self.module.table)
            due = plain.value if isinstance(plain, MapOf) else None
        if self._is_json(expected):
            due = JSON
        whole: ExpressionType = NEVER
        seen: dict[str, Span] = {}
        bare = [
            key
            for key, _ in node.entries
            if isinstance(key, ast.Reference) and is_unknown(self.scopes, key.name)
        ]
        if bare:
            self.module.report(
                "E0201",
                f"there is no `{bare[0].name}` here",
                bare[0].span,
                label="a key is a value: a text",
                hint=f'write `"{bare[0].name}"`',
                edits=tuple(Edit(key.span, f'"{key.name}"') for key in bare),
            )
        for key, value in node.entries:
            if key not in bare:
                self.inference.expect(key, STR, "a key of a map")
            known, constant = fold(self.module, key)
            if known and isinstance(constant, str):
                if constant in seen:
                    self.module.report(
                        "E0203",
                        f"key {constant!r} is written twice",
                        key.span,
                        label="again",
                        secondary=(Label(seen[constant], "first written here"),),
                    )
                seen.setdefault(constant, key.span)
            found = (
                self.inference.expect(value, JSON, "a part of a JSON value")
                if due == JSON
                else self.inference.infer(value, due)
            )
            merged = JSON if due == JSON else join(whole, found, self.module.table)
            if merged is None and due is not None and fit(found, due, self.module.table).value:
                merged = due
            if merged is None:
                self.module.report(
                    "E0313",
                    f"values of one map are of one type, here {said(whole)} and {said(found)}",
                    value.span,
                    label=f"this is {said(found)}",
                )
                return UNKNOWN
            whole = merged
        if isinstance(whole, Never):
            return expected if due is not None and expected is not None else MapOf(STR, NULL)
        count = len(node.entries)
        return UNKNOWN if isinstance(whole, Unknown) else MapOf(STR, whole, count, count)  # type: ignore[arg-type]

    def schema(self, node: ast.SchemaOf) -> ExpressionType:
        """The type of `schema(T)`; its text is kept as a constant."""
        outer, self.types.showing = self.types.showing, True
        try:
            type = self.types.resolve(node.type)
        finally:
            self.types.showing = outer
        if node.style not in (None, "json", "typescript", "prose"):
            close = self.module.nearest(node.style, ["json", "typescript", "prose"])
            self.module.report(
                "E0324",
                f"there is no schema style `{node.style}`",
                node.span,
                label="unknown style",
                hint=f"did you mean `{close}`?" if close else "there are json, typescript and prose",
            )
            return STR
        self.scopes.function.schemas.append((type, node.span))
        if not isinstance(type, Unknown) and self.facts.sound(type):
            from sglc.types.notation.phrases import mentions
            from sglc.types.notation.prompt_text import MAX_MENTIONS, schema_text

            key = ("schema", type, node.style)
            if node.style in (None, "prose") and mentions(type, self.module.table) > MAX_MENTIONS:
                self.module.report(
                    "E0420",
                    "this schema text would be too long",
                    node.span,
                    label=f"spells out more than {MAX_MENTIONS:,} types",
                    reason="a type is spelled out wherever it is used, inside others too",
                    hint='write `as = "json"` or `as = "typescript"`: they name what is used twice',
                )
                return STR
            if key not in self.module.program.memo:
                self.module.program.memo[key] = schema_text(type, self.module.table, node.style)
            self.module.constants[id(node)] = self.module.program.memo[key]
        return STR
