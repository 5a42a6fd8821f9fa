"""Expressions of Python as expressions of the language."""

from __future__ import annotations

import ast as python
import enum
from decimal import Decimal
from typing import TYPE_CHECKING

from sglc.frontend.body import refusals
from sglc.frontend.body.context import Context
from sglc.frontend.core.outside import MISSING
from sglc.frontend.types.classes import members_of
from sglc.frontend.types.constraints import NoType
from sglc.source import Span
from sglc.syntax.tree import ast

if TYPE_CHECKING:
    from sglc.frontend.body.calls import Calls
    from sglc.frontend.body.holes import Holes

_BINARY: dict[type[python.operator], ast.BinaryOperator] = {
    python.Add: "+",
    python.Sub: "-",
    python.Mult: "*",
    python.Div: "/",
    python.FloorDiv: "//",
    python.Mod: "%",
    python.Pow: "**",
}
_COMPARED: dict[type[python.cmpop], ast.BinaryOperator] = {
    python.Eq: "==",
    python.NotEq: "!=",
    python.Lt: "<",
    python.LtE: "<=",
    python.Gt: ">",
    python.GtE: ">=",
    python.In: "in",
    python.NotIn: "not in",
    python.Is: "==",
    python.IsNot: "!=",
}
FIGURES = ("top", "p", "logprob", "margin")
"""What the value of `select` has beside its best option."""


class Expressions:
    """Translates the expressions of one function."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.calls: Calls
        self.holes: Holes

    def of(self, node: python.expr) -> ast.Expression:
        """The expression of the language that means the same. Raises Untranslatable."""
        span = self.context.span(node)
        match node:
            case python.Constant():
                return self._constant(node, span)
            case python.JoinedStr():
                return self._text(node, span)
            case python.Name():
                return self._name(node, span)
            case python.Attribute():
                return self._attribute(node, span)
            case python.Subscript():
                return self._subscript(node, span)
            case python.Call():
                return self.calls.of(node)
            case python.BoolOp(op=op, values=values):
                return self._chain("and" if isinstance(op, python.And) else "or", values, span)
            case python.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, operand, span)
            case python.BinOp(left=left, op=op, right=right):
                symbol = _BINARY.get(type(op))
                if symbol is None:
                    raise refusals.operator(self.context, node, op)
                return ast.Binary(symbol, self.of(left), self.of(right), span)
            case python.Compare():
                return self._compared(node, span)
            case python.IfExp(test=test, body=body, orelse=orelse):
                return ast.Conditional(self.of(body), self.of(test), self.of(orelse), span)
            case python.List(elts=items):
                return ast.ListDisplay(tuple(self.of(item) for item in items), span)
            case python.Tuple(elts=items) if items:
                return ast.TupleDisplay(tuple(self.of(item) for item in items), span)
            case python.Dict(keys=keys, values=values) if all(keys):
                pairs = zip(keys, values, strict=True)
                entries = tuple((self.of(key), self.of(value)) for key, value in pairs if key)
                return ast.MapDisplay(entries, span)
            case python.ListComp(elt=element, generators=generators):
                return self.comprehension(node, element, generators)
        raise refusals.expression(self.context, node)

    def _constant(self, node: python.Constant, span: Span) -> ast.Expression:
        match node.value:
            case None:
                return ast.Null(span)
            case bool():
                return ast.Boolean(node.value, span)
            case str():
                return ast.String((node.value,) if node.value else (), span)
            case int():
                return ast.Number(node.value, span)
            case float():
                return ast.Number(Decimal(span.text.replace("_", "")), span)
        raise self.context.refuse(
            "E0502", f"`{span.text}` is no value of the language", node, label="not translated"
        )

    def _text(self, node: python.JoinedStr, span: Span) -> ast.Expression:
        parts: list[str | ast.Expression] = []
        for part in node.values:
            if isinstance(part, python.Constant):
                parts.append(str(part.value))
            elif isinstance(part, python.FormattedValue):
                parts.append(self.of(self.inserted(part)))
        return ast.String(tuple(parts), span)

    def inserted(self, part: python.FormattedValue) -> python.expr:
        """The value in braces of an f-string, which is put in as it is."""
        if part.conversion not in (-1, ord("s")) or part.format_spec is not None:
            raise self.context.refuse(
                "E0502",
                "a format in braces has no counterpart in the language",
                part.value,
                label="put in with a format",
                hint="write the value alone, or `round(x, 2)` for digits behind the point",
            )
        return part.value

    # -- names ---------------------------------------------------------------------------------------

    def _name(self, node: python.Name, span: Span) -> ast.Expression:
        context = self.context
        if context.is_state(node):
            raise context.refuse(
                "E0508",
                f"`{node.id}` stands for the conversation and is no value",
                node,
                label="used as a value",
                hint=f'write `{node.id}["name"]` for the value of a hole',
            )
        if node.id == context.fields_of:
            raise context.refuse(
                "E0502",
                "a key is made of the fields of an item",
                node,
                label="the item itself",
                hint=f"write a field of it: `{node.id}.name`; without `key=` items are compared themselves",
            )
        if node.id in context.local:
            return ast.Reference(context.renamed.get(node.id, node.id), span)
        return self._outside(node, node.id, span)

    def _outside(self, node: python.expr, name: str, span: Span) -> ast.Expression:
        """A name of the module: a constant, or a member of an enum."""
        context = self.context
        value = context.meaning(node)
        if value is MISSING:
            # An unknown name is reported by the checker, which knows all others.
            return ast.Reference(name, span)
        if isinstance(value, enum.Enum):
            return self._constant_of(value, name, node, span)
        if isinstance(value, type) or callable(value):
            raise context.refuse(
                "E0504",
                f"`{name}` is a class or function, and no value",
                node,
                label="no value of the language",
                hint="call it, or write a type where a type is due",
            )
        return self._constant_of(value, name, node, span)

    def _constant_of(self, value: object, name: str, node: python.expr, span: Span) -> ast.Expression:
        try:
            if isinstance(value, enum.Enum):
                return self.context.declared.expression(value, span)
            self.context.declared.declare_classes(value, self.context.annotations, span)
            return ast.Reference(self.context.declared.constant(value, name.rpartition(".")[2], span), span)
        except NoType as fault:
            raise self.context.refuse(
                "E0504",
                f"`{name}` of the module is no constant of the language",
                node,
                label=fault.what,
                hint="constants are numbers, texts, and lists, tuples, dicts, enums and dataclasses of them; "
                "pass anything else as an argument",
            ) from None

    def _attribute(self, node: python.Attribute, span: Span) -> ast.Expression:
        context = self.context
        if isinstance(node.value, python.Name) and node.value.id == context.fields_of:
            return ast.Reference(node.attr, span)
        name = ast.Name(node.attr, Span(span.source, max(span.start, span.end - len(node.attr)), span.end))
        if context.is_state(node.value):
            raise context.refuse(
                "E0508", f"`{node.attr}` of the conversation is no value", node, label="used as a value"
            )
        owner = context.meaning(node.value)
        if isinstance(owner, type) and issubclass(owner, enum.Enum) and node.attr in owner.__members__:
            try:
                type_name = context.declared.enumeration(owner, span)
            except NoType as fault:
                raise context.refuse("E0506", fault.what, node, label="no type", hint=fault.hint) from None
            written = next(text for text, member in members_of(owner).items() if member is owner[node.attr])
            if all(text.isidentifier() for text in members_of(owner)):
                return ast.Attribute(ast.Reference(type_name, span), ast.Name(written, name.span), span)
            return ast.String((written,), span)
        if owner is not MISSING:
            return self._outside(node, python.unparse(node), span)
        value = self._scored(node.value) if node.attr in FIGURES else self.of(node.value)
        return ast.Attribute(value, name, span)

    # -- parts ---------------------------------------------------------------------------------------

    def _scored(self, node: python.expr) -> ast.Expression:
        """The value of a `select` with all that it has; any other value as it is."""
        if isinstance(node, python.Subscript) and self.context.is_state(node.value):
            return self.holes.value(node, scored=True)
        return self.of(node)

    def method(self, node: python.Attribute) -> ast.Attribute:
        """The function of a method call."""
        span = self.context.span(node)
        value = self._scored(node.value) if node.attr in FIGURES else self.of(node.value)
        return ast.Attribute(value, ast.Name(node.attr, span), span)

    def _subscript(self, node: python.Subscript, span: Span) -> ast.Expression:
        if self.context.is_state(node.value):
            return self.holes.value(node)
        if isinstance(node.slice, python.Slice):
            part = node.slice
            if part.step is not None:
                raise self.context.refuse(
                    "E0502",
                    "a step has no counterpart in the language",
                    part.step,
                    label="not translated",
                    hint="write `reversed(xs)`, or a comprehension over the places",
                )
            start = None if part.lower is None else self.of(part.lower)
            stop = None if part.upper is None else self.of(part.upper)
            return ast.Slice(self.of(node.value), start, stop, span)
        return ast.Index(self.of(node.value), self.of(node.slice), span)

    # -- operators -----------------------------------------------------------------------------------

    def _unary(
        self, node: python.expr, op: python.unaryop, operand: python.expr, span: Span
    ) -> ast.Expression:
        match op:
            case python.Not():
                return ast.Unary("not", self.of(operand), span)
            case python.USub():
                return ast.Unary("-", self.of(operand), span)
            case python.UAdd():
                return self.of(operand)
        raise refusals.operator(self.context, node, op)

    def _chain(self, word: ast.BinaryOperator, values: list[python.expr], span: Span) -> ast.Expression:
        made = self.of(values[0])
        for value in values[1:]:
            right = self.of(value)
            made = ast.Binary(word, made, right, made.span.to(right.span))
        return made

    def _compared(self, node: python.Compare, span: Span) -> ast.Expression:
        items = [node.left, *node.comparators]
        if len(items) > 2 and any(
            isinstance(each, python.Call) for item in items for each in python.walk(item)
        ):
            raise self.context.refuse(
                "E0502",
                "a chain of comparisons with a call in it would make the call twice",
                node,
                label="not translated",
                hint="keep the value in a variable, or join two comparisons by `and`",
            )
        made: ast.Expression | None = None
        for place, op in enumerate(node.ops):
            left, right = self.of(items[place]), self.of(items[place + 1])
            one = ast.Binary(_COMPARED[type(op)], left, right, left.span.to(right.span))
            made = one if made is None else ast.Binary("and", made, one, span)
        assert made is not None
        return made

    def comprehension(
        self, node: python.expr, element: python.expr, generators: list[python.comprehension]
    ) -> ast.Expression:
        """`[element for variable in iterable if condition]`, of one variable and one `for`."""
        context = self.context
        first = generators[0]
        if len(generators) > 1 or first.is_async or not isinstance(first.target, python.Name):
            raise context.refuse(
                "E0502",
                "a comprehension goes over one variable here",
                node,
                label="not translated",
                hint="write loops that add to a list",
            )
        if first.target.id in context.local:
            raise context.refuse(
                "E0502",
                f"`{first.target.id}` is a variable of the function already",
                first.target,
                label="hides it",
                hint="choose another name: no value hides another one",
            )
        iterable = self.of(first.iter)
        name = first.target.id
        context.local.add(name)
        try:
            condition = self._chain("and", first.ifs, context.span(first.ifs[0])) if first.ifs else None
            variable = ast.Name(name, context.span(first.target))
            return ast.Comprehension(self.of(element), variable, iterable, condition, context.span(node))
        finally:
            context.local.discard(name)
