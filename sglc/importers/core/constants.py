"""Types of literal values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sglc.importers.core.fault import SourceFault
from sglc.types.equality import equal
from sglc.types.json_text import surrogate_fault
from sglc.types.type import Alternatives, Constant, Type


def one_of_constants(values: Sequence[str | int | Decimal | bool], start: int, end: int) -> Type:
    """Exactly these values, each once. Raises SourceFault where one cannot be written."""
    kept: list[Constant] = []
    for value in values:
        if isinstance(value, str) and (fault := surrogate_fault(value)) is not None:
            raise SourceFault(start, end, fault)
        if not any(equal(value, one.value) for one in kept):
            kept.append(Constant(value))
    return kept[0] if len(kept) == 1 else Alternatives(tuple(kept))
