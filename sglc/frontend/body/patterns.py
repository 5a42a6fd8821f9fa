"""Patterns of `match`."""

from __future__ import annotations

import ast as python
import enum
from decimal import Decimal

from sglc.frontend.body.context import Context
from sglc.frontend.core.outside import MISSING
from sglc.frontend.types.classes import members_of
from sglc.source import Span
from sglc.syntax.tree import ast


class Patterns:
    """Translates the patterns of one function."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def of(self, node: python.pattern) -> ast.Pattern:
        """The pattern of the language that takes the same values. Raises Untranslatable."""
        context, span = self.context, self.context.span(node)
        match node:
            case python.MatchValue(value=value):
                return self._value(value, span)
            case python.MatchSingleton(value=value):
                return ast.LiteralPattern(value, span)
            case python.MatchAs(pattern=None, name=None):
                return ast.WildcardPattern(span)
            case python.MatchAs(pattern=None, name=str(name)):
                context.local.add(name)
                return ast.NamePattern(ast.Name(name, span), span)
            case python.MatchOr(patterns=patterns):
                return ast.AlternativesPattern(tuple(self.of(each) for each in patterns), span)
            case python.MatchSequence(patterns=patterns) if not any(
                isinstance(each, python.MatchStar) for each in patterns
            ):
                return ast.SequencePattern(tuple(self.of(each) for each in patterns), span)
            case python.MatchClass(cls=cls, patterns=[], kwd_attrs=names, kwd_patterns=patterns):
                found = context.type(cls)
                if isinstance(found, ast.TypeName):
                    fields = tuple(
                        ast.FieldPattern(ast.Name(name, span), self.of(each))
                        for name, each in zip(names, patterns, strict=True)
                    )
                    return ast.ConstructorPattern(ast.Name(found.name, context.span(cls)), fields, span)
        raise context.refuse(
            "E0501",
            "this pattern has no counterpart in the language",
            node,
            label="not translated",
            hint="patterns are literals, members of enums, classes with named fields, tuples, names, `|` "
            "and `_`",
        )

    def _value(self, node: python.expr, span: Span) -> ast.Pattern:
        context = self.context
        negative = isinstance(node, python.UnaryOp) and isinstance(node.op, python.USub)
        inner = node.operand if isinstance(node, python.UnaryOp) else node
        if isinstance(inner, python.Constant):
            literal: object = inner.value
            if isinstance(literal, float):
                literal = Decimal(context.span(inner).text.replace("_", ""))
            if isinstance(literal, int | Decimal):
                return ast.LiteralPattern(-literal if negative else literal, span)
            if isinstance(literal, str):
                return ast.LiteralPattern(literal, span)
        value = context.meaning(inner)
        if isinstance(value, enum.Enum):
            context.type(inner.value if isinstance(inner, python.Attribute) else inner)
            members = members_of(type(value))
            written = next(text for text, member in members.items() if member is value)
            if all(text.isidentifier() for text in members):
                return ast.NamePattern(ast.Name(written, span), span)
            return ast.LiteralPattern(written, span)
        if value is not MISSING and isinstance(value, str | int | Decimal):
            return ast.LiteralPattern(value, span)
        raise context.refuse(
            "E0501", "this pattern is no literal", node, label="not translated", hint="write the value out"
        )
