"""Types of literal values."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sglc.sources.fault import SourceFault
from sglc.types.type import Alternatives, Constant, Type


def one_of_constants(values: Sequence[str | int | Decimal | bool], start: int, end: int) -> Type:
    """Exactly these values, each once. Raises SourceFault where one cannot be written."""
    kept: list[Constant] = []
    for value in values:
        bad = _control_character(value) if isinstance(value, str) else None
        if bad is not None:
            raise SourceFault(
                start, end, f"a literal text cannot hold the control character {bad}",
                "no value of a text type contains control characters",
            )  # fmt: skip
        if not any(is_same(value, one.value) for one in kept):
            kept.append(Constant(value))
    return kept[0] if len(kept) == 1 else Alternatives(tuple(kept))


def is_same(one: object, other: object) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _control_character(text: str) -> str | None:
    for char in text:
        if char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff":
            return f"U+{ord(char):04X}"
    return None
