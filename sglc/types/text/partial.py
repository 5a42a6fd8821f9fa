"""What is known of a value whose text is not complete."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.types.values import Value


@dataclass(frozen=True, slots=True)
class Growing:
    """The text of a `str` that is not complete, or the items of a list, tuple or map that is not."""

    value: str | list[Partial] | dict[str, Partial]


@dataclass(frozen=True, slots=True)
class PartialFields:
    """A record or variant that is not complete: finished fields, perhaps one growing one, not the rest."""

    type: str
    fields: dict[str, Partial]
    variant: str | None = None


class _Missing:
    """The one value of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()
"""Nothing can be said yet."""

Partial = Value | Growing | PartialFields | _Missing
"""A value, or what is known of one whose text is not complete."""


class Stop(Exception):
    """The text ran out; carries what was read of the part."""

    def __init__(self, value: Partial = MISSING) -> None:
        self.value = value
