"""Which types the model has been shown before it is asked for them."""

from __future__ import annotations

from sglc.check.core.function_state import FunctionState
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import expand, item_of
from sglc.types.type import Alternatives, Named, Optional, RecordType, Type, UnionType


def note_unshown(facts: TypeFacts, function: FunctionState) -> None:
    """Report, as notes, the records and unions that a function generates but never shows to the model."""
    shown: set[str] = set()
    queue: list[Type] = list(function.schemas)
    while queue:
        part = queue.pop()
        match part:
            case Named(name):
                if name not in shown and name in facts.table:
                    shown.add(name)
                    queue.extend(facts.parts(name))
            case Optional(item):
                queue.append(item)
            case _ if hasattr(part, "item"):
                queue.append(part.item)
            case _ if hasattr(part, "items"):
                queue.extend(part.items)
            case Alternatives(arms):
                queue.extend(arms)
    for type, span in function.generated:
        plain = expand(type, facts.table)
        inner = item_of(plain, facts.table)
        plain = expand(inner, facts.table) if inner is not None else plain
        if not isinstance(plain, Named) or plain.name in shown:
            continue
        if not isinstance(facts.table.get(plain.name), RecordType | UnionType):
            continue
        shown.add(plain.name)
        short = plain.name.rsplit(".", 1)[-1]
        facts.program.report(
            "W0207",
            f"the model is never shown what `{short}` looks like",
            span,
            severity="note",
            label="generated here",
            hint=f"write `${{schema({short})}}` in the text before",
        )
