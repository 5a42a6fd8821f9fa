"""Patterns of `match` as conditions, which bind names on their way."""

from __future__ import annotations

from collections.abc import Iterator

from sglc.check.core.result import ConstantSymbol, LocalSymbol, RecordSymbol, TypeSymbol, VariantSymbol
from sglc.syntax.tree import ast
from sglc.targets.python.context import Context
from sglc.types.json_text import json_text
from sglc.types.type import Named


class Patterns:
    """Writes the patterns of one function."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.checked = context.checked
        self.types = context.program.types

    def test(self, node: ast.Pattern, subject: str) -> str:
        """The condition that a value meets a pattern."""
        return " and ".join(self.parts(node, subject)) or "True"

    def parts(self, node: ast.Pattern, subject: str) -> Iterator[str]:
        """The conditions that the value must meet together, in the order in which they are tested."""
        match node:
            case ast.LiteralPattern(value=value):
                yield f"same({subject}, {self.types.literal(value)})"
            case ast.RangePattern():
                yield f"isinstance({subject}, int | float | Decimal)"
                for operator, bound in ((">=", node.minimum), ("<" if node.below else "<=", node.maximum)):
                    if bound is not None:
                        yield f"compare({json_text(operator)}, {subject}, {self.types.literal(bound)})"
            case ast.NamePattern():
                yield from self.name(node, subject)
            case ast.ConstructorPattern():
                yield from self.name(node, subject)
                for field in node.fields:
                    yield from self.parts(
                        field.pattern, f"attribute({subject}, {json_text(field.name.text)})"
                    )
            case ast.AlternativesPattern(patterns=patterns):
                yield f"({' or '.join(self.test(part, subject) for part in patterns)})"
            case ast.SequencePattern(items=items):
                yield f"isinstance({subject}, tuple)"
                for index, item in enumerate(items):
                    yield from self.parts(item, f"item({subject}, {index})")

    def name(self, node: ast.NamePattern | ast.ConstructorPattern, subject: str) -> Iterator[str]:
        """The condition that a name stands for: of a constant, variant, type or record, or one that binds."""
        match self.checked.symbols.get(id(node)):
            case ConstantSymbol(value=value):
                yield f"same({subject}, {self.types.literal(value)})"
            case VariantSymbol(union=union, variant=variant):
                yield f"isinstance({subject}, {self.types.classes[union, variant]})"
            case TypeSymbol(type=type):
                yield f"fault({subject}, {self.types.shown(type)}) is None"
            case RecordSymbol(type=name):
                yield f"fault({subject}, {self.types.shown(Named(name))}) is None"
            case LocalSymbol(slot=slot):
                yield f"bound({self.context.variable(slot, None)} := {subject})"
