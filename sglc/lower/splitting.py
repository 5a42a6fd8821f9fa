"""Which expressions open new blocks when they are lowered.

Temporaries live in one block. Where a later operand opens new blocks, the earlier ones are kept in slots
meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator

from sglc.check.core.elements import of_element
from sglc.check.core.result import CheckedModule, ConstantSymbol, DefaultArgument, LocalSymbol
from sglc.syntax.tree import ast

Operand = ast.Expression | DefaultArgument | LocalSymbol | ConstantSymbol
"""What becomes one temporary: an expression, a known value, or what a name stands for."""

Part = ast.Expression | ast.TypeExpression | None


class Splitting:
    """Remembers the answers about the expressions of one module."""

    def __init__(self, checked: CheckedModule) -> None:
        self.checked = checked
        self._known: dict[int, bool] = {}

    def splits(self, node: Operand | Part) -> bool:
        """Whether lowering the expression opens new blocks."""
        if node is None or isinstance(node, DefaultArgument | LocalSymbol | ConstantSymbol):
            return False
        if id(node) in self.checked.constants:
            return False
        known = self._known.get(id(node))
        if known is None:
            match node:
                case (
                    ast.Binary(operator="and" | "or") | ast.Conditional() | ast.OrElse() | ast.Comprehension()
                ):
                    known = True
                case ast.Call() if of_element(self.checked, node) is not None:
                    known = True
                case _:
                    known = any(self.splits(child) for child in _children(node))
            self._known[id(node)] = known
        return known


def _children(node: ast.Expression | ast.TypeExpression) -> Iterator[Part]:
    """Expressions directly inside an expression, fork bodies and types left out."""
    match node:
        case ast.String(parts=parts):
            yield from (part for part in parts if not isinstance(part, str))
        case ast.Attribute(value=value):
            yield value
        case ast.Index(value=value, index=index):
            yield from (value, index)
        case ast.Slice(value=value, start=start, stop=stop):
            yield from (value, start, stop)
        case ast.Call(function=function, arguments=arguments):
            if isinstance(function, ast.Attribute):
                yield function.value
            yield from (argument.value for argument in arguments)
        case ast.Unary(operand=operand):
            yield operand
        case ast.Binary(left=left, right=right):
            yield from (left, right)
        case ast.ListDisplay(items=items) | ast.TupleDisplay(items=items):
            yield from items
        case ast.MapDisplay(entries=entries):
            yield from (item for entry in entries for item in entry)
        case ast.Range(start=start, stop=stop):
            yield from (start, stop)
        case ast.Gen(options=options):
            yield from (option.value for option in options)
        case ast.Choose(choices=choices, options=options) | ast.Select(choices=choices, options=options):
            yield choices
            yield from (option.value for option in options)
        case ast.Fork(iterable=iterable):
            yield iterable
