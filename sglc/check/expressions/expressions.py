"""All expressions by their form."""

from __future__ import annotations

from decimal import Decimal

from sglc.check.core.callbacks import Callbacks
from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType
from sglc.check.expressions.attributes import Attributes
from sglc.check.expressions.calls import Calls
from sglc.check.expressions.displays import Displays
from sglc.check.expressions.items import Items
from sglc.check.expressions.iteration import Iteration
from sglc.check.expressions.operators import Operators
from sglc.check.expressions.raising import Raising
from sglc.check.expressions.references import References
from sglc.check.types.kinds import BOOL, DEC, INT, NULL, UNKNOWN
from sglc.immutable import node
from sglc.syntax.tree import ast


@node
class Expressions:
    """Each expression goes to the checker of its concern. Only `Inference` asks here: it keeps the answer."""

    module: ModuleContext
    callbacks: Callbacks
    references: References
    attributes: Attributes
    items: Items
    operators: Operators
    displays: Displays
    iteration: Iteration
    calls: Calls
    raising: Raising

    def form(self, node: ast.Expression, expected: ExpressionType | None) -> ExpressionType:
        """The type of an expression; `expected` is a hint, not a demand."""
        match node:
            case ast.Reference():
                return self.references.reference(node, expected)
            case ast.Number():
                return DEC if isinstance(node.value, Decimal) else INT
            case ast.String():
                return self.displays.string(node)
            case ast.Attribute():
                return self.attributes.attribute(node)
            case ast.Call():
                return self.calls.call(node, expected)
            case ast.Binary():
                return self.operators.binary(node, expected)
            case ast.Boolean():
                return BOOL
            case ast.Null():
                return NULL
            case ast.Index():
                return self.items.index(node)
            case ast.Slice():
                return self.items.slice(node)
            case ast.Unary():
                return self.operators.unary(node, expected)
            case ast.Conditional():
                return self.operators.conditional(node, expected)
            case ast.ListDisplay():
                return self.displays.list_display(node, expected)
            case ast.TupleDisplay():
                return self.displays.tuple_display(node, expected)
            case ast.MapDisplay():
                return self.displays.map_display(node, expected)
            case ast.Comprehension():
                return self.iteration.comprehension(node, expected)
            case ast.Range():
                return self.iteration.range_display(node)
            case ast.Regex():
                return self._regex(node)
            case ast.Lambda():
                return self._lambda(node)
            case ast.OrElse():
                return self.raising.or_else(node, expected)
            case ast.SchemaOf():
                return self.displays.schema(node)
            case ast.Gen() | ast.Choose() | ast.Select():
                return self.callbacks.hole(node)
            case ast.Fork():
                return self.callbacks.fork(node)
            case ast.ModelClause():
                return UNKNOWN  # names of models: an option of `think`, which does not run yet

    def _lambda(self, node: ast.Lambda) -> ExpressionType:
        self.module.report(
            "E0433",
            "functions are no values",
            node.span,
            label="stands only in a method of a list that goes over its items",
            hint=f"write it there: `xs.map({node.parameter.text} => …)`, or declare a `pure fn` and call it",
        )
        return UNKNOWN

    def _regex(self, node: ast.Regex) -> ExpressionType:
        self.module.report(
            "E0314", "a pattern is not a value", node.span, label="stands only after `matches`"
        )
        return UNKNOWN
