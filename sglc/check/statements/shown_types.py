"""Which types the model has been shown before it is asked for them."""

from __future__ import annotations

from sglc.check.core.function_state import FunctionState
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import expand, item_of
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.types.type import Alternatives, InForm, Named, Optional, RecordType, Type, UnionType


def note_unshown(facts: TypeFacts, function: FunctionState) -> None:
    """Report, as notes, the records and unions that a function generates before it shows them to the model,
    or without."""
    shown = _shown(facts, function)
    told: set[str] = set()
    for type, span in function.generated:
        plain = expand(type, facts.table)
        inner = item_of(plain, facts.table)
        plain = expand(inner, facts.table) if inner is not None else plain
        if not isinstance(plain, Named) or plain.name in told:
            continue
        if not isinstance(facts.table.get(plain.name), RecordType | UnionType):
            continue
        first = shown.get(plain.name)
        told.add(plain.name)
        if first is not None and first.start < span.start:
            continue
        short = plain.name.rsplit(".", 1)[-1]
        written = span.text if isinstance(type, InForm) else short
        facts.program.report(
            "W0207",
            f"the model is never shown what `{short}` looks like"
            if first is None
            else f"the model is shown what `{short}` looks like only after it is asked for one",
            span,
            severity="note",
            label="generated here",
            secondary=() if first is None else (Label(first, "shown here"),),
            hint=f"write `${{schema({written})}}` in the text before",
        )


def _shown(facts: TypeFacts, function: FunctionState) -> dict[str, Span]:
    """Declared types that `schema` shows, on their own or inside of others, each with the first place."""
    shown: dict[str, Span] = {}
    for root, span in sorted(function.schemas, key=lambda each: each[1].start):
        queue: list[Type] = [root]
        while queue:
            part = queue.pop()
            match part:
                case Named(name):
                    if name not in shown and name in facts.table:
                        shown[name] = span
                        queue.extend(facts.parts(name))
                case Optional(item):
                    queue.append(item)
                case _ if hasattr(part, "item"):
                    queue.append(part.item)
                case _ if hasattr(part, "items"):
                    queue.extend(part.items)
                case Alternatives(arms):
                    queue.extend(arms)
    return shown
