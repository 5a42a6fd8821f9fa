"""Objects of which only the presence of properties is asked: unions of them as one conjunction of clauses."""

from __future__ import annotations

from sglc.schema.algebra import forms as f
from sglc.schema.algebra.forms import ObjectForm


def any_presence(found: list[ObjectForm], limit: int) -> list[ObjectForm]:
    """A union as one conjunction of clauses, if that is not too large."""
    clauses: set[f.Clause] = set(found[0].clauses)
    for form in found[1:]:
        clauses = {a | b for a in clauses for b in form.clauses}
        clauses = {
            clause for clause in clauses if not any((name, not present) in clause for name, present in clause)
        }
        if len(clauses) > limit:
            return found
        clauses = {clause for clause in clauses if not any(other < clause for other in clauses)}
    if not clauses:
        return [f.ANY_OBJECT]
    one = f.clauses_form(clauses)
    return [] if one is None else [one]


def one_presence(lists: list[list[ObjectForm]], limit: int) -> list[ObjectForm] | None:
    """The objects of exactly one list, if all are conjunctions of present and absent; else None."""
    found = []
    for forms in lists:
        if len(forms) != 1 or not forms[0].is_presence():
            return None
        if any(len(clause) != 1 for clause in forms[0].clauses):
            return None
        found.append(forms[0])
    if not found:
        return []
    some = any_presence(found, limit)
    if len(some) != 1:
        return None
    clauses = set(some[0].clauses)
    units = [frozenset(one for clause in form.clauses for one in clause) for form in found]
    for index, a in enumerate(units):
        for b in units[:index]:
            clauses.add(frozenset((name, not present) for name, present in a | b))
    one = f.clauses_form(clauses)
    return [] if one is None else [one]
