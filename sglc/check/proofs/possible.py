"""Which values an expression may have: a superset of them, kept small.

A set is a union of a few atoms: values that are listed, numbers of an interval, texts, lists and maps of some
lengths. It is never too small, so that what holds for all of it holds in every run (Cousot and Cousot, 1977:
abstract interpretation over intervals and finite sets). Answers have three values; None is "not known".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from itertools import product
from operator import ge, gt, le, lt
from typing import Any

from sglc.check.core.result import ExpressionType
from sglc.check.types.kinds import Table, expand
from sglc.immutable import value
from sglc.types import type as t
from sglc.types.equality import key_of
from sglc.types.language.membership import is_member
from sglc.types.values import EnumValue

MOST_LISTED = 64
"""Integers of a range up to this many are listed, so that single ones can be left out; a product of two such
sets still takes no more than some thousand comparisons."""

DEEPEST = 20
"""Unions inside of unions that are opened: an alias that is faulty may contain itself."""

Number = int | Decimal | float
Answer = bool | None


@value
class Few:
    """Values that are listed, by what equal ones have in common (`key_of`)."""

    keys: frozenset[Hashable]


@value
class Numbers:
    """Numbers from `low` to `high`, both included, None where there is no end; only integers if `whole`."""

    low: Number | None = None
    high: Number | None = None
    whole: bool = False


@value
class Sized:
    """Texts, lists or maps (`kind`) by their length. `type` says more of texts."""

    kind: str
    low: int = 0
    high: int | None = None
    type: t.Str | None = None


@value
class Structured:
    """Records, variants and tuples: never null, and nothing that is compared by order."""


Atom = Few | Numbers | Sized | Structured
Possible = tuple[Atom, ...] | None
"""None for a set of which nothing is known. The empty tuple: no run comes here."""

TRUE, FALSE = key_of(True), key_of(False)
_COMPARED: dict[str, Callable[[Any, Number], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
NOTHING: Possible = ()


def listed(values: Iterable[object]) -> Possible:
    """The set of exactly these values."""
    return (Few(frozenset(map(key_of, values))),)


def values_of_type(type: ExpressionType, table: Table, depth: int = 0) -> Possible:
    """The values of a type."""
    if depth > DEEPEST:
        return None
    plain = expand(type, table)
    match plain:
        case t.Bool():
            return listed((True, False))
        case t.Null():
            return listed((None,))
        case t.Constant(value):
            return listed((value,))
        case t.Int(low, high, step):
            return _integers(low, high, step or 1)
        case t.Dec(low, high) | t.Float(low, high):
            return (Numbers(low, high),)
        case t.Str(low, high):
            return (Sized("text", low, high, None if plain.grammar or plain.given else plain),)
        case t.SpanOf(_, low, high):
            return (Sized("text", low, high),)
        case t.OneOf():
            return (Sized("text"),)
        case t.ListOf(_, low, high):
            return (Sized("list", low, high),)
        case t.MapOf(_, _, low, high):
            return (Sized("map", low, high),)
        case t.TupleOf():
            return (Structured(),)
        case t.Optional(item):
            return _united([values_of_type(item, table, depth + 1), listed((None,))])
        case t.Alternatives(arms):
            return _united([values_of_type(arm, table, depth + 1) for arm in arms])
        case t.Named(name):
            declared = table.get(name)
            if isinstance(declared, t.EnumType):
                return listed(EnumValue(name, member) for member in declared.members)
            return None if declared is None else (Structured(),)
    return None


@lru_cache(maxsize=256)
def _integers(low: int | None, high: int | None, step: int) -> Possible:
    if low is None or high is None:
        return (Numbers(low, high, True),)
    first, last = -(-low // step) * step, high // step * step
    if (last - first) // step < MOST_LISTED:
        return listed(range(first, last + 1, step))
    return (Numbers(first, last, True),)


def _united(parts: list[Possible]) -> Possible:
    found: list[Atom] = []
    for part in parts:
        if part is None:
            return None
        found.extend(part)
    return tuple(found)


# -- numbers and lengths of sets -------------------------------------------------------------------


def is_number(key: object) -> bool:
    """Whether a listed value is a number; keys of booleans are none."""
    return isinstance(key, int | Decimal | float)


def numbers(these: Possible) -> Numbers | None:
    """An interval around a set of numbers; None where other values may be in it, or it is empty."""
    if not these:
        return None
    found: Numbers | None = None
    for atom in these:
        if isinstance(atom, Few):
            if not atom.keys or not all(map(is_number, atom.keys)):
                return None
            keys: list[Number] = sorted(atom.keys)  # type: ignore[arg-type]
            atom = Numbers(keys[0], keys[-1], all(isinstance(key, int) for key in keys))
        if not isinstance(atom, Numbers):
            return None
        found = atom if found is None else _around(found, atom)
    return found


def _around(a: Numbers, b: Numbers) -> Numbers:
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    return Numbers(low, high, a.whole and b.whole)


def lengths(these: Possible) -> Possible:
    """The lengths of the texts, lists and maps of a set."""
    found: list[Possible] = []
    for atom in these or ():
        match atom:
            case Sized(_, low, high):
                found.append(_integers(low, high, 1))
            case Few(keys) if all(isinstance(key, str) for key in keys):
                found.append(listed(len(key) for key in keys))  # type: ignore[arg-type]
            case _:
                return None
    return _united(found) if found else None


# -- comparisons -----------------------------------------------------------------------------------


def compared(left: Possible, operator: str, right: Possible, table: Table) -> Answer:
    """Whether `left operator right` holds for all pairs of values (True), for none (False); else None."""
    if not left or not right:
        return None
    if operator in ("==", "!="):
        answers = {_equal(a, b, table) for a, b in product(left, right)}
        answer = answers.pop() if len(answers) == 1 else None
        return answer if operator == "==" or answer is None else not answer
    a, b = numbers(left), numbers(right)
    if a is None or b is None:
        return None
    if operator in (">", ">="):
        a, b, operator = b, a, {">": "<", ">=": "<="}[operator]
    if operator == "<":
        return True if _below(a.high, b.low) else False if _at_most(b.high, a.low) else None
    return True if _at_most(a.high, b.low) else False if _below(b.high, a.low) else None


def _below(a: Number | None, b: Number | None) -> bool:
    return a is not None and b is not None and a < b


def _at_most(a: Number | None, b: Number | None) -> bool:
    return a is not None and b is not None and a <= b


def _equal(a: Atom, b: Atom, table: Table) -> Answer:
    """Whether two values of these atoms are equal: always, never, or not known."""
    match a, b:
        case Few(one), Few(other):
            if not one & other:
                return False
            return True if len(one) == len(other) == 1 else None
        case Few(keys), _:
            return None if any(_may_be(key, b, table) for key in keys) else False
        case _, Few():
            return _equal(b, a, table)
        case Numbers(), Numbers():
            return False if _below(a.high, b.low) or _below(b.high, a.low) else None
        case Sized(kind, low, high), Sized(other, least, most):
            apart = kind != other or _below(high, least) or _below(most, low)
            return False if apart else None
        case Structured(), Structured():
            return None
    return False


def _may_be(key: object, atom: Atom, table: Table) -> bool:
    """Whether a listed value may be one of an atom's."""
    match atom:
        case Few(keys):
            return key in keys
        case Numbers(low, high, whole):
            if not is_number(key) or _below(key, low) or _below(high, key):  # type: ignore[arg-type]
                return False
            return not whole or key == int(key)  # type: ignore[call-overload]
        case Sized("text", low, high, type) if isinstance(key, str):
            if len(key) < low or (high is not None and len(key) > high):
                return False
            return type is None or is_member(str(key), type, table)
        case Sized("list") | Sized("map") | Structured():
            return isinstance(key, tuple) and key[:1] != ("bool",)
    return False


def among(these: Possible, keys: frozenset[Hashable], table: Table) -> Answer:
    """Whether all values of a set are listed, or none is."""
    if not these:
        return None
    answers: set[Answer] = set()
    for atom in these:
        if isinstance(atom, Few):
            answers.add(True if atom.keys <= keys else False if not atom.keys & keys else None)
        else:
            answers.add(None if any(_may_be(key, atom, table) for key in keys) else False)
    return answers.pop() if len(answers) == 1 else None


# -- what is left of a set -------------------------------------------------------------------------


def kept(these: Possible, keep: Callable[[object], bool]) -> Possible:
    """The set without the listed values that are not kept."""
    if these is None:
        return None
    left = (Few(frozenset(filter(keep, atom.keys))) if isinstance(atom, Few) else atom for atom in these)
    return tuple(atom for atom in left if not isinstance(atom, Few) or atom.keys)


def only(these: Possible, keys: frozenset[Hashable], table: Table) -> Possible:
    """Those values of a set that are listed."""
    if these is None:
        return (Few(keys),)
    found = frozenset(key for key in keys if any(_may_be(key, atom, table) for atom in these))
    return (Few(found),) if found else NOTHING


def bounded(these: Possible, operator: str, by: Numbers) -> Possible:
    """Those values of a set of numbers that may stand so (`<`, `<=`, `>`, `>=`) to some number of `by`."""
    upper = operator in ("<", "<=")
    bound = by.high if upper else by.low
    if these is None or bound is None:
        return these
    strict = operator in ("<", ">")
    found: list[Atom] = []
    for atom in kept(these, lambda key: not is_number(key) or _stands(key, operator, bound)) or ():
        if isinstance(atom, Numbers):
            edge = _edge(bound, upper, strict) if atom.whole else bound
            low, high = atom.low, atom.high
            if upper:
                high = edge if high is None else min(high, edge)
            else:
                low = edge if low is None else max(low, edge)
            if _below(high, low):
                continue
            atom = Numbers(low, high, atom.whole)
        found.append(atom)
    return tuple(found)


def _stands(key: object, operator: str, bound: Number) -> bool:
    return _COMPARED[operator](key, bound)


def _edge(bound: Number, upper: bool, strict: bool) -> int:
    """The last integer that a bound lets through."""
    down = int(bound // 1)
    if upper:
        return down - 1 if strict and down == bound else down
    up = down if down == bound else down + 1
    return up + 1 if strict and down == bound else up


def without(these: Possible, key: Hashable) -> Possible:
    """The set without one value, where that can be said."""
    left = kept(these, lambda other: other != key)
    if left is None or not is_number(key):
        return left
    found: list[Atom] = []
    for atom in left:
        if isinstance(atom, Numbers) and atom.whole:
            if atom.low == key:
                atom = replace(atom, low=atom.low + 1)  # type: ignore[operator]
            elif atom.high == key:
                atom = replace(atom, high=atom.high - 1)  # type: ignore[operator]
            if _below(atom.high, atom.low):
                continue
        found.append(atom)
    return tuple(found)


def of_length(these: Possible, operator: str, by: Numbers) -> Possible:
    """Those texts, lists and maps of a set whose length may stand so to some number of `by`."""
    if these is None:
        return None
    found: list[Atom] = []
    for atom in these:
        if isinstance(atom, Sized):
            left = numbers(bounded((Numbers(atom.low, atom.high, True),), operator, by))
            if left is None:
                continue
            low, high = left.low or 0, left.high
            found.append(replace(atom, low=int(low), high=None if high is None else int(high)))
        elif isinstance(atom, Few):
            keys = frozenset(
                key
                for key in atom.keys
                if not isinstance(key, str) or bounded(listed((len(key),)), operator, by)
            )
            if keys:
                found.append(Few(keys))
        else:
            found.append(atom)
    return tuple(found)


def meet(one: Possible, other: Possible, table: Table) -> Possible:
    """The values of both sets."""
    if one is None or other is None:
        return other if one is None else one
    found: list[Atom] = []
    for a, b in product(one, other):
        if _equal(a, b, table) is False:
            continue
        match a, b:
            case Few(), _:
                found.extend(only((b,), a.keys, table) or ())
            case _, Few():
                found.extend(only((a,), b.keys, table) or ())
            case Numbers(), Numbers():
                low = a.low if b.low is None else b.low if a.low is None else max(a.low, b.low)
                high = a.high if b.high is None else b.high if a.high is None else min(a.high, b.high)
                found.append(Numbers(low, high, a.whole or b.whole))
            case Sized(kind, least, most, type), Sized():
                most = b.high if most is None else most if b.high is None else min(most, b.high)
                found.append(Sized(kind, max(least, b.low), most, type or b.type))
            case _:
                found.append(a)
    return tuple(dict.fromkeys(found))


# -- in words --------------------------------------------------------------------------------------


def said(these: Possible) -> str:
    """A set in the words of a message; empty where it is not worth telling."""
    if not these or len(these) > 3:
        return ""
    words = [_said_atom(atom) for atom in these]
    return " or ".join(words) if all(words) else ""


def _said_atom(atom: Atom) -> str:
    match atom:
        case Few(keys):
            run = sorted(key for key in keys if isinstance(key, int))
            if len(run) == len(keys) > 2 and run[-1] - run[0] == len(run) - 1:
                return f"{run[0]} to {run[-1]}"
            words = sorted(map(_written, keys))
            return ", ".join(words[:6]) + (", …" if len(words) > 6 else "")
        case Numbers(low, high):
            if low is None and high is None:
                return ""
            return (
                f"at least {low}"
                if high is None
                else f"at most {high}"
                if low is None
                else f"{low} to {high}"
            )
        case Sized(kind, low, high):
            unit = {"text": "characters", "list": "items", "map": "entries"}[kind]
            size = f"at least {low}" if high is None else str(low) if low == high else f"{low} to {high}"
            return f"a {kind} of {size} {unit}"
    return ""


def _written(key: object) -> str:
    if isinstance(key, tuple):
        return str(key[1]).lower() if key[:1] == ("bool",) else "…"
    if isinstance(key, str):
        return f'"{key}"'
    return "null" if key is None else key.name if isinstance(key, EnumValue) else str(key)
