"""Types of expressions: literals, displays, comprehensions, and the table of all forms.

Every answer is kept in the module's `types` table. An unknown part has been reported and agrees with
everything.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sglc.check.core.result import ExpressionType, ListValue, Never, RangeOf, Unknown
from sglc.check.expressions.operators import Operators
from sglc.check.expressions.range_slips import Rounds, slip
from sglc.check.types.assignability import (
    BOOL,
    DEC,
    INT,
    JSON,
    NEVER,
    NULL,
    RANGE,
    STR,
    UNKNOWN,
    allows_null,
    expand,
    fit,
    is_text,
    item_of,
    join,
    list_of,
    numeric_rank,
    said,
    without_null,
)
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.diagnostics.suggest import nearest
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.schema import MAX_MENTIONS, mentions, schema_text
from sglc.types.type import Json, ListOf, MapOf, TupleOf


class Expressions(Operators):
    """All forms of expressions by class; calls, holes and forks are typed further on."""

    def _number(self, node: ast.Number, expected: ExpressionType | None) -> ExpressionType:
        return DEC if isinstance(node.value, Decimal) else INT

    def _string(self, node: ast.String, expected: ExpressionType | None) -> ExpressionType:
        self.look_at_text(node.span, in_string=True)
        for part in node.parts:
            if not isinstance(part, str):
                self.displayable(part, self.infer(part))
        return STR

    def _boolean(self, node: ast.Boolean, expected: ExpressionType | None) -> ExpressionType:
        return BOOL

    def _null(self, node: ast.Null, expected: ExpressionType | None) -> ExpressionType:
        return NULL

    def _list(self, node: ast.ListDisplay, expected: ExpressionType | None) -> ExpressionType:
        due = None if expected is None else item_of(self._list_arm(expected), self.table)
        if due == JSON or self._is_json(expected):
            for item in node.items:
                self.expect(item, JSON, "a part of a JSON value")
            return ListOf(JSON, len(node.items), len(node.items))
        if not node.items:
            return ListValue(NEVER)
        whole: ExpressionType = NEVER
        for item in node.items:
            found = self.infer(item, due)
            merged = join(whole, found, self.table)
            if merged is None and due is not None and fit(found, due, self.table).value:
                merged = due
            if merged is None:
                self.program.report(
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

    def _list_arm(self, expected: ExpressionType) -> ExpressionType:
        return without_null(expected, self.table)

    def _tuple(self, node: ast.TupleDisplay, expected: ExpressionType | None) -> ExpressionType:
        due: tuple[ExpressionType | None, ...] = (None,) * len(node.items)
        if expected is not None:
            plain = expand(without_null(expected, self.table), self.table)
            if isinstance(plain, TupleOf) and len(plain.items) == len(node.items):
                due = plain.items
        items = tuple(self.infer(item, want) for item, want in zip(node.items, due, strict=True))
        return UNKNOWN if UNKNOWN in items else TupleOf(items)  # type: ignore[arg-type]

    def _is_json(self, expected: ExpressionType | None) -> bool:
        return (
            expected is not None and expand(without_null(expected, self.table), self.table).__class__ is Json
        )

    def _map(self, node: ast.MapDisplay, expected: ExpressionType | None) -> ExpressionType:
        due = None
        if expected is not None:
            plain = expand(without_null(expected, self.table), self.table)
            due = plain.value if isinstance(plain, MapOf) else None
        if self._is_json(expected):
            due = JSON
        whole: ExpressionType = NEVER
        seen: dict[str, Span] = {}
        bare = [
            key for key, _ in node.entries if isinstance(key, ast.Reference) and self.is_unknown(key.name)
        ]
        if bare:
            self.program.report(
                "E0201", f"there is no `{bare[0].name}` here", bare[0].span, label="a key is a value: a text",
                hint=f'write `"{bare[0].name}"`',
                edits=tuple(Edit(key.span, f'"{key.name}"') for key in bare),
            )  # fmt: skip
        for key, value in node.entries:
            if key not in bare:
                self.expect(key, STR, "a key of a map")
            known, constant = self.fold(key)
            if known and isinstance(constant, str):
                if constant in seen:
                    self.program.report(
                        "E0203",
                        f"key {constant!r} is written twice",
                        key.span,
                        label="again",
                        secondary=(Label(seen[constant], "first written here"),),
                    )
                seen.setdefault(constant, key.span)
            found = (
                self.expect(value, JSON, "a part of a JSON value") if due == JSON else self.infer(value, due)
            )
            merged = JSON if due == JSON else join(whole, found, self.table)
            if merged is None and due is not None and fit(found, due, self.table).value:
                merged = due
            if merged is None:
                self.program.report(
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

    def _range(self, node: ast.Range, expected: ExpressionType | None) -> ExpressionType:
        self.expect(node.start, INT, "the start of a range")
        self.expect(node.stop, INT, "the end of a range")
        self._may_slip(node, slip(node, None))
        first, low = self.fold(node.start)
        last, high = self.fold(node.stop)
        if first and last and isinstance(low, int) and isinstance(high, int):
            if low > high or (low == high and not node.inclusive):
                self.program.report(
                    "W0204", "this range is empty", node.span, label="no number lies in it",
                    hint="`a..b` includes b, `a..<b` leaves it out" if low == high else "swap its ends",
                )  # fmt: skip
        return RANGE

    def _may_slip(self, node: ast.Range, reason: str) -> None:
        """Report a range whose end is likely not meant, if there is a reason to think so."""
        if reason:
            start, stop = node.start.span.text, node.stop.span.text
            self.program.report(
                "W0217", f"this range goes up to {stop} and includes it", node.span,
                label="may go one too far", reason=reason,
                hint=f"write `{start}..<{stop}`, or `{start}..={stop}` where the end is meant",
                edits=(Edit(node.operator, "..<"),),
            )  # fmt: skip

    def _regex(self, node: ast.Regex, expected: ExpressionType | None) -> ExpressionType:
        self.program.report(
            "E0314", "a pattern is not a value", node.span, label="stands only after `matches`"
        )
        return UNKNOWN

    def _comprehension(self, node: ast.Comprehension, expected: ExpressionType | None) -> ExpressionType:
        item = self.iterated(node.iterable, Rounds(node.variable.text, (node.element, node.condition)))
        due = None if expected is None else item_of(without_null(expected, self.table), self.table)
        self.open()
        self.bind(node, node.variable, item, "loop")
        if node.condition is not None:
            self.condition(node.condition)
            self.function.scope.narrowed.update(self.narrowings(node.condition, True))
        element = self.infer(node.element, due)
        self.close()
        return UNKNOWN if isinstance(element, Unknown) else list_of(element)

    def iterated(self, node: ast.Expression, rounds: Rounds) -> ExpressionType:
        """Type of the items of what `rounds` goes over."""
        found = self.infer(node)
        if isinstance(node, ast.Range) and not slip(node, None):
            self._may_slip(node, slip(node, rounds))
        plain = expand(found, self.table)
        if isinstance(plain, Unknown | Never):
            return UNKNOWN
        if isinstance(plain, RangeOf):
            return INT
        if isinstance(plain, MapOf):
            return STR
        item = item_of(plain, self.table)
        if item is not None:
            return UNKNOWN if isinstance(item, Never) else item
        hint = ""
        if is_text(plain, self.table):
            hint = "go over `.lines()`, `.words()` or `.split(…)` of it"
        elif isinstance(plain, TupleOf):
            hint = "take its items by place: `x[0]`"
        elif allows_null(plain, self.table):
            hint = "it may be null: test it first"
        elif numeric_rank(plain, self.table) == 0:
            hint = "write a range: `1..n`, or `0..<n`"
        self.program.report(
            "E0323", f"{said(found)} cannot be gone over", node.span, label="no list, map or range", hint=hint
        )
        return UNKNOWN

    def _schema(self, node: ast.SchemaOf, expected: ExpressionType | None) -> ExpressionType:
        outer, self.showing = self.showing, True
        type = self.resolve(node.type)
        self.showing = outer
        if node.style not in (None, "json", "typescript", "prose"):
            close = nearest(node.style, ["json", "typescript", "prose"])
            self.program.report(
                "E0324", f"there is no schema style `{node.style}`", node.span, label="unknown style",
                hint=f"did you mean `{close}`?" if close else "there are json, typescript and prose",
            )  # fmt: skip
            return STR
        self.function.schemas.append(type)
        if not isinstance(type, Unknown) and self.facts.sound(type):
            key = ("schema", type, node.style)
            if node.style in (None, "prose") and mentions(type, self.table) > MAX_MENTIONS:
                self.program.report(
                    "E0420", "this schema text would be too long", node.span,
                    label=f"spells out more than {MAX_MENTIONS:,} types",
                    reason="a type is spelled out wherever it is used, inside others too",
                    hint='write `as = "json"` or `as = "typescript"`: they name what is used twice',
                )  # fmt: skip
                return STR
            if key not in self.program.memo:
                self.program.memo[key] = schema_text(type, self.table, node.style)
            self.module.constants[id(node)] = self.program.memo[key]
        return STR

    def _call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        return self.call(node, expected)

    def call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        raise KeyError(node)

    def _or_else(self, node: ast.OrElse, expected: ExpressionType | None) -> ExpressionType:
        return self.or_else(node, expected)

    def or_else(self, node: ast.OrElse, expected: ExpressionType | None) -> ExpressionType:
        raise KeyError(node)

    def _hole(self, node: Any, expected: ExpressionType | None) -> ExpressionType:
        return self.hole_expression(node)

    def hole_expression(self, node: Any) -> ExpressionType:
        raise KeyError(node)

    def _fork(self, node: ast.Fork, expected: ExpressionType | None) -> ExpressionType:
        return self.fork(node)

    def fork(self, node: ast.Fork) -> ExpressionType:
        raise KeyError(node)


Expressions.FORMS = {
    ast.Number: Expressions._number,
    ast.String: Expressions._string,
    ast.Boolean: Expressions._boolean,
    ast.Null: Expressions._null,
    ast.Reference: Expressions._reference,
    ast.Attribute: Expressions._attribute,
    ast.Index: Expressions._index,
    ast.Slice: Expressions._slice,
    ast.Call: Expressions._call,
    ast.Unary: Expressions._unary,
    ast.Binary: Expressions._binary,
    ast.Conditional: Expressions._conditional,
    ast.ListDisplay: Expressions._list,
    ast.TupleDisplay: Expressions._tuple,
    ast.MapDisplay: Expressions._map,
    ast.Comprehension: Expressions._comprehension,
    ast.Range: Expressions._range,
    ast.Regex: Expressions._regex,
    ast.OrElse: Expressions._or_else,
    ast.SchemaOf: Expressions._schema,
    ast.Gen: Expressions._hole,
    ast.Choose: Expressions._hole,
    ast.Select: Expressions._hole,
    ast.Fork: Expressions._fork,
}
