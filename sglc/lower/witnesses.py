"""Which parts of an expectation are shown where it does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.format.quoted import quoted
from sglc.source import Span
from sglc.syntax.tree import ast

_CHARS = 60
_PLAIN = (ast.Number, ast.Boolean, ast.Null, ast.Regex, ast.Range, ast.SchemaOf)
"""What the source shows anyway."""


def witnesses(condition: ast.Expression) -> Iterator[ast.Expression]:
    """Both sides of comparisons, and the calls in them; of other conditions what they are made of."""
    match condition:
        case ast.Binary(operator="and" | "or", left=left, right=right):
            yield from witnesses(left)
            yield from witnesses(right)
        case ast.Unary(operator="not", operand=operand):
            yield from witnesses(operand)
        case ast.Binary(left=left, right=right):
            yield from _whole(left)
            yield from _whole(right)
        case ast.Call():
            yield from _parts(condition)
        case _:
            yield from _whole(condition)


def _whole(node: ast.Expression) -> Iterator[ast.Expression]:
    """An expression and the calls in it, innermost first."""
    if isinstance(node, _PLAIN) or (
        isinstance(node, ast.String)
        and all(isinstance(p, str) for p in node.parts)
        and len(node.span.text) <= _CHARS
    ):
        return
    yield from _parts(node)
    yield node


def _parts(node: ast.Expression) -> Iterator[ast.Expression]:
    """The calls in an expression, but for those that are made for each item of a list."""
    match node:
        case ast.Attribute(value=value):
            yield from _calls(value)
        case ast.Index(value=value, index=index):
            yield from _calls(value)
            yield from _calls(index)
        case ast.Binary(operator=operator, left=left, right=right) if operator not in ("and", "or"):
            yield from _calls(left)
            yield from _calls(right)
        case ast.Unary(operand=operand):
            yield from _calls(operand)
        case ast.Call(function=function, arguments=arguments):
            if isinstance(function, ast.Attribute):
                yield from _whole(function.value)  # what a method is called on
            if not any(argument.name is not None and argument.name.text == "by" for argument in arguments):
                for argument in arguments:
                    yield from _calls(argument.value)


def _calls(node: ast.Expression) -> Iterator[ast.Expression]:
    yield from _parts(node)
    if isinstance(node, ast.Call):
        yield node


def shown_text(span: Span) -> str:
    """The source of an expression, on one line and cut short."""
    text = quoted(span)
    return text if len(text) <= _CHARS else text[: _CHARS - 1] + "…"
