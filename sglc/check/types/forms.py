"""What JSON and other forms (`T as yaml`) cannot express, reported where it is asked for."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import as_written, expand, said
from sglc.source import Span
from sglc.types import type as t
from sglc.types.type import InForm, Type

NAMES = {"json": "JSON", "yaml": "YAML", "xml": "XML", "csv": "CSV", "lines": "lines"}
"""Forms as sentences call them."""


def form_is_known(facts: TypeFacts, type: InForm, span: Span) -> None:
    """Report a type that cannot be written in its form."""
    if not facts.sound(type.item):
        return
    fault = facts.form_fault(type)
    if fault is not None:
        part = f"`{fault.path}` is {fault.reason}" if fault.path else fault.reason
        facts.program.report(
            "E0377",
            f"{said(type.item)} cannot be written as {NAMES[type.form]}",
            span,
            label="has a part that the form has no place for",
            reason=part,
            hint=fault.hint,
        )


def form_shows(facts: TypeFacts, type: Type, span: Span) -> None:
    """Warn of a part with a form of its own: inside another value it is written as that value is."""
    written = as_written(type, facts.table)
    if isinstance(written, InForm):
        facts.program.report(
            "W0248",
            f"{said(type)} inside another type is not written as {NAMES[written.form]}",
            span,
            label="the value around it says how it is written",
            reason="a form is that of a whole text: of a hole, of `${…}`, of `schema(…)`",
            hint=f"give the form to the whole, `… as {written.form}`, or leave it out here",
        )


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
        case t.Optional(item=item) | t.InForm(item=item):
            return fits_json(module, item, span)
        case t.Alternatives(arms=arms):
            return all(fits_json(module, arm, span) for arm in arms)
    return True
