"""Refinements of `span of x`."""

from __future__ import annotations

from dataclasses import replace

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType
from sglc.check.types.kinds import UNKNOWN
from sglc.syntax.tree import ast
from sglc.types.type import SpanOf


def refined_span(
    module: ModuleContext, type: SpanOf, refinement: ast.MinChars | ast.MaxChars | ast.Until
) -> ExpressionType:
    """The narrower span; what leaves nothing is reported."""
    match refinement:
        case ast.MinChars(count):
            type = replace(type, min_chars=max(type.min_chars, count))
        case ast.MaxChars(count):
            type = replace(type, max_chars=count if type.max_chars is None else min(type.max_chars, count))
        case ast.Until(text):
            if not text:
                module.report(
                    "E0304", "an empty stop text ends every value at once", refinement.span, label="empty"
                )
                return UNKNOWN
            type = replace(type, until=(*type.until, text))
    if type.max_chars is not None and type.min_chars > type.max_chars:
        module.report(
            "E0304",
            f"no span has at least {type.min_chars} and at most {type.max_chars} characters",
            refinement.span,
            label="the bounds contradict each other",
            reason="a span is never empty" if type.max_chars == 0 else "",
        )
        return UNKNOWN
    return type
