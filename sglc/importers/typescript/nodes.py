"""Nodes of TypeScript's grammar, as its readers look at them."""

from __future__ import annotations

from decimal import Decimal

from sglc.importers.core.fault import SourceFault
from sglc.importers.typescript.tokens import string_of
from sglc.lalr.parse import ParseNode, Part, Token

Value = str | int | Decimal | bool


def only(part: Part) -> ParseNode:
    """A type without parentheses, and without the nodes of unions and intersections of one arm."""
    assert isinstance(part, ParseNode)
    while (part.kind in ("union", "intersection") and len(part.parts) == 1) or part.kind == "group":
        inner = part.parts[0]
        assert isinstance(inner, ParseNode)
        part = inner
    return part


def is_node(part: Part, kind: str) -> bool:
    """Whether a part is a node of a kind."""
    return isinstance(part, ParseNode) and part.kind == kind


def reference_of(node: ParseNode) -> tuple[str, list[ParseNode]]:
    """The name, with points, and the type arguments."""
    names = [part.text for part in node.parts if isinstance(part, Token)]
    return ".".join(names), [part for part in node.parts if isinstance(part, ParseNode)]


def value_of(node: ParseNode) -> Value:
    """The value of a literal, numbers exact. Raises SourceFault for one of more than 15 digits."""
    token = node.parts[0]
    assert isinstance(token, Token)
    if node.kind == "string":
        return string_of(token)
    number = Decimal(token.text.replace("_", ""))
    if node.kind == "negative":
        number = -number
    if abs(number.adjusted()) > 15:
        raise SourceFault(node.start, node.end, "a number has at most 15 digits before and behind the point")
    return int(number) if number == number.to_integral_value() else number
