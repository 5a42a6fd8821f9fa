"""Which types stand where JSON is due."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType
from sglc.check.types.kinds import expand, said
from sglc.source import Span
from sglc.types import type as t


def fits_json(module: ModuleContext, type: ExpressionType, span: Span) -> bool:
    """Whether a part of a record, list, map or tuple can be written as JSON; reports where not."""
    plain = expand(type, module.table)
    match plain:
        case t.Str(grammar=grammar) if grammar:
            from sglc.types.grammar_text import json_fault

            reason = json_fault(grammar)
            if reason is not None:
                module.report(
                    "E0351",
                    f"texts of {said(type)} cannot stand inside JSON",
                    span,
                    label="a part of a record, list, map or tuple is JSON",
                    reason=reason,
                    hint="give the text a hole of its own",
                )
                return False
            return True
        case t.Optional(item=item):
            return fits_json(module, item, span)
        case t.Alternatives(arms=arms):
            return all(fits_json(module, arm, span) for arm in arms)
    return True
