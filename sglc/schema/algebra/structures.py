"""Objects and arrays as `sglc.schema.algebra.algebra` sees them: one set of operations on forms for each.

The algebra goes by these operations alone, so that its rules stand once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sglc.schema.algebra import forms as f
from sglc.schema.algebra.forms import ArrayForm, ObjectForm
from sglc.schema.algebra.presence import any_presence
from sglc.schema.core import graph as g
from sglc.schema.core.graph import Part

PLAIN, MARKED, EXACT = 0, 1, 2
"""What forms say of evaluated keys and items: nothing; at least those of one way to satisfy the schema (more
being evaluated only allows more, so a union over all ways is exact); exactly those."""

Form = TypeVar("Form", bound=ObjectForm | ArrayForm)


@dataclass(frozen=True, slots=True)
class Structure(Generic[Form]):
    """Objects or arrays, with the operations on their forms."""

    bit: int
    every: Form
    meet: Callable[[Form, Form], Form | None]
    negated: Callable[[Form, f.Negation], Iterable[Form]]
    part: Callable[[Part, bool], list[Form] | None]
    is_void: Callable[[Form, Form, Form], bool]
    """Whether what two forms have in common, given too, plainly has no values."""
    rest: Callable[[Form, Part], Form]
    """What a part about the unevaluated asks of a form."""
    minus: Callable[[Form, Form], list[Form]]
    """Forms that hold the values of the first that are not of the second, and maybe values of neither."""
    size: Callable[[Form], int] | None = None
    """What a form counts for the limit on parts."""
    asks: Callable[[Iterable[f.Clause]], list[Form]] = lambda clauses: []
    """The form of clauses on names; none if they contradict each other."""
    merged: Callable[[Iterable[Form]], list[Form]] = list
    """The same union in fewer forms, for many of them."""
    absorbed: Callable[[Iterable[Form]], list[Form]] = lambda forms: list(dict.fromkeys(forms))
    """The same union without the forms that others contain."""
    any_of: Callable[[Iterable[Form], int], Iterable[Form]] = lambda forms, limit: forms
    """The same union with those forms that speak of presence alone put together, up to a limit of clauses."""
    one_of: Callable[[list[list[Form]], int], list[Form] | None] = lambda lists, limit: None
    """The values of exactly one list, where the kind has a way of its own to find them."""

    def is_unevaluated(self, part: Part) -> bool:
        """Whether a part speaks of the keys or items that no other part of its node has evaluated."""
        if self.bit == g.OBJECT:
            return isinstance(part, g.UnevaluatedProperties)
        return isinstance(part, g.UnevaluatedItems)


def asking(clauses: Iterable[f.Clause]) -> list[ObjectForm]:
    """The form of the objects whose names satisfy all clauses; none if they contradict each other."""
    form = f.clauses_form(clauses)
    return [] if form is None else [form]


def any_object(forms: Iterable[ObjectForm], limit: int) -> Iterable[ObjectForm]:
    """The same union with the forms that speak of presence alone put together, within `limit` clauses."""
    forms = list(forms)
    alike = [form for form in forms if form.is_presence() and form.seen == ()]
    if len(alike) < 2:
        return forms
    return [*any_presence(alike, limit), *(form for form in forms if form not in alike)]
