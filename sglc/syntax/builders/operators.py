"""Building operators: a flat chain of operands becomes a tree by precedence."""

from __future__ import annotations

from typing import cast

from sglc.immutable import value
from sglc.syntax.builders.context import Context
from sglc.syntax.builders.literals import Operator
from sglc.syntax.tree import ast

MAX_TERMS = 200
"""Operands of one chain of operators; a chain becomes a tree as deep as it is long."""

_PRECEDENCE: dict[str, int] = {
    "or": 1,
    "and": 2,
    "==": 4,
    "!=": 4,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "in": 4,
    "not in": 4,
    "matches": 4,
    "contains": 4,
    "..": 5,
    "..=": 5,
    "..<": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "//": 7,
    "%": 7,
    "**": 9,
}
_NOT, _COMPARISON, _RANGE, _MINUS, _POWER = 3, 4, 5, 8, 9
_REPLACED = {"&&": "and", "&": "and", "|": "or", "^": "**", "=": "==", "is": "=="}


@value
class Prefixed:
    """`-x` or `not x` before it is known what the operator reaches over."""

    operator: ast.UnaryOperator
    operand: Operand
    start: int
    end: int


Operand = ast.Expression | Prefixed


def prefix_minus(context: Context, start: int, end: int, operand: Operand) -> Prefixed:
    """`-OPERAND`, before precedence is known."""
    return Prefixed("-", operand, start, end)


def prefix_not(context: Context, start: int, end: int, operand: Operand) -> Prefixed:
    """`not OPERAND`, before precedence is known."""
    return Prefixed("not", operand, start, end)


def prefix_only(context: Context, start: int, end: int, operand: Prefixed) -> ast.Expression:
    """A prefixed operand that stands without infix operators."""
    return chain(context, start, end, operand)


def chain(
    context: Context, start: int, end: int, first: Operand, *rest: Operator | Operand
) -> ast.Expression:
    """`a + b * c …`: the first operand, then operators and operands in turn."""
    operators = cast("tuple[Operator, ...]", rest[::2])
    operands = cast("tuple[Operand, ...]", rest[1::2])
    if len(rest) == 2 and not isinstance(first, Prefixed) and not isinstance(operands[0], Prefixed):
        return _joined(context, operators[0], first, operands[0], start, end)
    if len(rest) > 2 * MAX_TERMS:
        context.reporter.error(
            "E0131",
            f"more than {MAX_TERMS} operands in one expression",
            start,
            end,
            hint="give parts of it names with `let`, or use a list and `sum` or `join`",
        )
        return ast.Null(context.span(start, end))
    stack = _OperatorStack(context, start, end, first, operands[-1] if operands else first)
    for operator, operand in zip(operators, operands, strict=True):
        stack.push(operator, operand)
    return stack.result()


@value
class _Waiting:
    """An operator whose right operand is not whole yet; `unary` tells `-x` from `a - x`."""

    text: str
    start: int
    end: int
    level: int
    unary: bool


class _OperatorStack:
    """The operands and operators of one chain, from `start` to `end`, that are not joined yet."""

    def __init__(self, context: Context, start: int, end: int, first: Operand, last: Operand) -> None:
        self.context = context
        self.start, self.end = start, end
        while isinstance(last, Prefixed):
            last = last.operand
        self.last_end = last.span.end
        self.prefixed = isinstance(first, Prefixed)
        self.operands: list[ast.Expression] = []
        self.operators: list[_Waiting] = []
        self._push_operand(first)

    def push(self, operator: Operator, operand: Operand) -> None:
        """Add an operator and its right operand; what binds more tightly before them is joined."""
        text, start, end = operator
        level = _PRECEDENCE.get(_REPLACED.get(text, text), 1)
        self._reduce_to(level + 1 if level == _POWER else level)
        self.operators.append(_Waiting(text, start, end, level, False))
        self._push_operand(operand)

    def result(self) -> ast.Expression:
        """The tree of the whole chain."""
        self._reduce_to(0)
        return self.operands[0]

    def _push_operand(self, operand: Operand) -> None:
        depth = 0
        while isinstance(operand, Prefixed):
            level = _MINUS if operand.operator == "-" else _NOT
            self.operators.append(_Waiting(operand.operator, operand.start, operand.end, level, True))
            operand = operand.operand
            depth += 1
            if depth > MAX_TERMS:
                self.context.reporter.error(
                    "E0131", f"more than {MAX_TERMS} signs before a value", self.start, self.end
                )
                self.operators.clear()
                self.operands.clear()
                operand = ast.Null(self.context.span(self.start, self.end))
        self.operands.append(operand)

    def _reduce_to(self, level: int) -> None:
        """Join the operators that bind at least as tightly as `level`."""
        while self.operators and self.operators[-1].level >= level:
            operator = self.operators.pop()
            right = self.operands.pop()
            if operator.unary:
                span = self.context.span(operator.start, max(operator.end, self._end_of(right)))
                kind: ast.UnaryOperator = "-" if operator.text == "-" else "not"
                self.operands.append(ast.Unary(kind, right, span))
                continue
            left = self.operands.pop()
            place = left.span.start if self.operands or self.prefixed else self.start
            infix = operator.text, operator.start, operator.end
            joined = _joined(self.context, infix, left, right, place, self._end_of(right))
            self.operands.append(joined)

    def _end_of(self, node: ast.Expression) -> int:
        """Where a node ends; the last one with the brackets around it."""
        return self.end if node.span.end == self.last_end else node.span.end


def _joined(
    context: Context, operator: Operator, left: ast.Expression, right: ast.Expression, begin: int, end: int
) -> ast.Expression:
    """The node of an infix operator between `begin` and `end`."""
    written, start, stop = operator
    text = cast("ast.BinaryOperator", _REPLACED.get(written, written))
    level = _PRECEDENCE.get(text, 1)
    span = context.span(begin, end)
    if level == _RANGE:
        return ast.Range(left, right, written != "..<", context.span(start, stop), span)
    if (
        level == _COMPARISON
        and isinstance(left, ast.Binary)
        and _PRECEDENCE[left.operator] == _COMPARISON
        and not context.source.text[left.span.end : start].strip()
    ):
        middle = context.source.text[left.right.span.start : left.right.span.end]
        context.reporter.error(
            "E0125",
            "comparisons do not chain",
            begin,
            end,
            hint=f"write `{left.span.text} and {middle} {text} {right.span.text}`",
            edits=((left.span.end, left.span.end, f" and {middle}"),),
        )
        return ast.Binary("and", left, ast.Binary(text, left.right, right, span), span)
    return ast.Binary(text, left, right, span)
