"""What patterns match, told apart from how they are written: the rows of the search for missing cases."""

from __future__ import annotations

from decimal import Decimal

from sglc.immutable import value


@value
class Wild:
    """Any value."""


@value
class Constructed:
    """A constructor with patterns for its parts. `key` is a member, variant, literal or type."""

    key: object
    parts: tuple[Form, ...] = ()


@value
class NumberRange:
    """Numbers from `low` to `high`, both included, or `below` the upper one; None where there is no end."""

    low: int | Decimal | None
    high: int | Decimal | None
    below: bool = False


@value
class AnyOf:
    forms: tuple[Form, ...]


@value
class OfType:
    """Every value of one arm of `A | B`; `kind` as in Constructor."""

    kind: object


Form = Wild | Constructed | NumberRange | AnyOf | OfType
WILD = Wild()


def plain_forms(form: Form) -> list[Form]:
    """The forms of which one matches wherever this one does, none of them an AnyOf; only WILD if one is."""
    if not isinstance(form, AnyOf):
        return [form]
    found: dict[Form, None] = {}
    waiting: list[Form] = [form]
    while waiting:
        part = waiting.pop()
        if isinstance(part, AnyOf):
            waiting.extend(reversed(part.forms))
        elif isinstance(part, Wild):
            return [WILD]
        else:
            found[part] = None
    return list(found)
