"""Ranges, comprehensions, what may be gone over, and what is done with each element of a list."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.range_slips import Rounds, slip
from sglc.check.core.result import ExpressionType, Never, RangeOf, Unknown
from sglc.check.expressions.builtin_results import BuiltinResults
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.names.builtins import FUNCTIONS
from sglc.check.names.scopes import Scopes
from sglc.check.types.kinds import (
    INT,
    RANGE,
    STR,
    UNKNOWN,
    allows_null,
    expand,
    is_text,
    item_of,
    list_of,
    numeric_rank,
    said,
    without_null,
)
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import MapOf, TupleOf


@node
class Iteration:
    """Ranges, and what is gone over."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference

    def range_display(self, node: ast.Range) -> ExpressionType:
        """The type of `a..b`."""
        self.inference.expect(node.start, INT, "the start of a range")
        self.inference.expect(node.stop, INT, "the end of a range")
        self._may_slip(node, slip(node, None))
        first, low = fold(self.module, node.start)
        last, high = fold(self.module, node.stop)
        if first and last and isinstance(low, int) and isinstance(high, int):
            if low > high or (low == high and not node.inclusive):
                self.module.report(
                    "W0204",
                    "this range is empty",
                    node.span,
                    label="no number lies in it",
                    hint="`a..b` includes b, `a..<b` leaves it out" if low == high else "swap its ends",
                )
        return RANGE

    def _may_slip(self, node: ast.Range, reason: str) -> None:
        """Report a range whose end is likely not meant, if there is a reason to think so."""
        if reason:
            start, stop = node.start.span.text, node.stop.span.text
            self.module.report(
                "W0217",
                f"this range goes up to {stop} and includes it",
                node.span,
                label="may go one too far",
                reason=reason,
                hint=f"write `{start}..<{stop}`, or `{start}..={stop}` where the end is meant",
                edits=(Edit(node.operator, "..<"),),
            )

    def comprehension(self, node: ast.Comprehension, expected: ExpressionType | None) -> ExpressionType:
        """The type of the list that a comprehension makes."""
        item = self.iterated(node.iterable, Rounds(node.variable.text, (node.element, node.condition)))
        due = (
            None
            if expected is None
            else item_of(without_null(expected, self.module.table), self.module.table)
        )
        self.scopes.open()
        self.scopes.bind(node, node.variable, item, "loop")
        if node.condition is not None:
            self.inference.told_condition(node.condition, "if")
            self.scopes.assume(node.condition)
        element = self.inference.infer(node.element, due)
        self.scopes.close()
        return UNKNOWN if isinstance(element, Unknown) else list_of(element)

    def iterated(self, node: ast.Expression, rounds: Rounds) -> ExpressionType:
        """Type of the items of what `rounds` goes over."""
        found = self.inference.infer(node)
        if isinstance(node, ast.Range) and not slip(node, None):
            self._may_slip(node, slip(node, rounds))
        plain = expand(found, self.module.table)
        if isinstance(plain, Unknown | Never):
            return UNKNOWN
        if isinstance(plain, RangeOf):
            return INT
        if isinstance(plain, MapOf):
            return STR
        item = item_of(plain, self.module.table)
        if item is not None:
            return UNKNOWN if isinstance(item, Never) else item
        hint = ""
        if is_text(plain, self.module.table):
            hint = "go over `.lines()`, `.words()` or `.split(…)` of it"
        elif isinstance(plain, TupleOf):
            hint = "take its items by place: `x[0]`"
        elif allows_null(plain, self.module.table):
            hint = "it may be null: test it first"
        elif numeric_rank(plain, self.module.table) == 0:
            hint = "write a range: `1..n`, or `0..<n`"
        self.module.report(
            "E0323", f"{said(found)} cannot be gone over", node.span, label="no list, map or range", hint=hint
        )
        return UNKNOWN


NAMED = ("by",)
"""Kinds of parameters that are given by name only."""
ELEMENT = ("each", "test", "group", *NAMED)
"""Kinds of parameters that say what is done with each element of a list."""


@node
class Elements:
    """What a method of lists does with each element: `it * 2`, `x => x * 2`, or `double`."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    results: BuiltinResults

    def found(self, node: ast.Expression, kind: str, owner: ExpressionType, what: str) -> ExpressionType:
        """The type of what is given for an element of `owner`; of a test, that of elements that pass it."""
        item = item_of(owner, self.module.table) or UNKNOWN
        item = UNKNOWN if isinstance(item, Never) else item
        if isinstance(node, ast.Lambda):
            self.scopes.open()
            self.scopes.bind(node, node.parameter, item, "loop")
            found = self._given(node.body, node.parameter.text, item, kind, what)
            self.scopes.close()
            self.module.types[id(node)] = found
            return found
        function = self.scopes.function
        outer, fields = function.element, self.results.element_fields(item)
        body = self._applied(node, fields)
        self.scopes.open()
        function.scope.element = frozenset({"it", *fields})
        function.element = (item, fields)
        found = self._given(body, "it", item, kind, what)
        function.element = outer
        self.scopes.close()
        self.module.types[id(node)] = found
        return found

    def _given(
        self, node: ast.Expression, name: str, item: ExpressionType, kind: str, what: str
    ) -> ExpressionType:
        if kind == "test":
            self.inference.condition(node)
            return self.scopes.narrowings(node, True).types.get(name, item)
        found = self.inference.infer(node)
        if kind == "by":
            self.results.ordered(node, found, what)
        return found

    def _applied(self, node: ast.Expression, fields: dict[str, ExpressionType]) -> ast.Expression:
        """The call that the name of a function stands for (`double`, `ask[Mail]`); else the node itself."""
        name = node.value if isinstance(node, ast.Index) else node
        if not isinstance(name, ast.Reference) or name.name == "it" or name.name in fields:
            return node
        if self.scopes.function.scope.find(name.name) is not None:
            return node
        entity = self.module.look_up(name.name)
        if entity is None:
            known = name.name in FUNCTIONS or name.name in self.module.variants
            if not known or name.name in self.module.members:
                return node
        elif entity.kind not in ("function", "type"):
            return node
        argument = ast.Argument(None, ast.Reference("it", node.span), node.span)
        call = self.module.applied[id(node)] = ast.Call(node, (argument,), node.span)
        return call

    def example(self, method: str, label: str, kind: str) -> str:
        """How a method that does something with each element is called."""
        if kind not in ELEMENT:
            return ""
        name = f"{label} = " if label == "by" else ""
        return (
            f"say what is done with each item, `it`: `.{method}({name}it{' > 0' if kind == 'test' else ''})`"
        )
