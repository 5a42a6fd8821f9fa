"""Objects of one form that are not of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sglc.schema.algebra import forms as f
from sglc.schema.algebra.forms import Literals, ObjectForm, both


def ways_out(
    form: ObjectForm, other: ObjectForm, is_empty: Callable[[Literals], bool], negate: f.Negation
) -> list[ObjectForm]:
    """Forms that hold the objects of `form` that are not of `other`, and maybe objects of neither."""
    closed = form.closed_names()
    names = dict.fromkeys(name for part in other.parts for name in part.named)
    if closed is not None:
        names = dict.fromkeys(sorted(closed))
    required = set(other.required())
    absent: set[tuple[str, bool]] = {(name, False) for name in required}
    out: list[ObjectForm] = []
    wrong: list[ObjectForm] = []
    for name in names:
        mine, value = form.value(name), other.value(name)
        if value <= mine or is_empty(both(mine, negate(value))):
            continue
        if is_empty(both(mine, value)):
            absent.discard((name, False))
            absent.add((name, True))
            if name in required:
                return [f.ANY_OBJECT]
        elif name in required:
            # Absent, or there with a wrong value: one requirement on its value.
            absent.discard((name, False))
            out.append(ObjectForm(parts=f.wrong_value(name, negate(value)).parts))
        else:
            wrong.append(f.wrong_value(name, negate(value)))
    if closed is None:
        for part in other.parts:
            wrong += f.wrong_others(part)
    if len(wrong) > f.FEW_WRONG:
        wrong = [ObjectForm(counts=(f.EntryCount(other.parts, 1, None),))]
    out += wrong
    if absent:
        out.append(ObjectForm(clauses=frozenset({frozenset(absent)})))
    kept = frozenset(clause for clause in other.clauses if len(clause) > 1 or not _only(clause)[1])
    rest = replace(other, parts=(), clauses=kept)
    if rest != f.ANY_OBJECT:
        out += f.negated_object(rest, negate)
    return out


def _only(clause: f.Clause) -> tuple[str, bool]:
    (one,) = clause
    return one
