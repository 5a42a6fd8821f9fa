"""Relations between types: which values may stand where, and what two types have in common.

`fit` has three answers, because refinements are checked at run time where the types alone do not decide:
`int` may stand where `int in 0..5` is due, `int in 7..9` may not.
"""

from __future__ import annotations

from decimal import Decimal
from enum import Enum

from sglc.check.core.result import (
    ExpressionType,
    ListValue,
    Never,
    Unknown,
)
from sglc.check.types.kinds import (
    BOOL,
    JSON,
    NULL,
    RANKS,
    STR,
    Table,
    allows_null,
    base_of_constant,
    conditions,
    expand,
    is_bool,
    is_text,
    item_of,
    list_of,
    numeric,
    numeric_rank,
    without_null,
)
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    Float,
    Int,
    Json,
    ListOf,
    MapOf,
    Null,
    Optional,
    Str,
    TupleOf,
)


class Fit(Enum):
    """How a type stands to one that is expected."""

    ALWAYS = 2
    """Every value is a member."""
    CHECK = 1
    """Some are, or become members by widening: a check or conversion at run time decides."""
    NEVER = 0


def fit(source: ExpressionType, target: ExpressionType, table: Table) -> Fit:
    """Whether values of `source` may stand where `target` is due."""
    if source is target or source == target:
        return Fit.ALWAYS
    if source.__class__ in (Unknown, Never) or target.__class__ is Unknown:
        return Fit.ALWAYS
    due = conditions(target, table)
    target = expand(target, table)
    if due:
        known = conditions(source, table)
        found = fit(source, target, table)
        return min(found, Fit.CHECK, key=lambda f: f.value) if set(due) - set(known) else found
    source = expand(source, table)
    if source == target or source.__class__ is Unknown or target.__class__ is Unknown:
        return Fit.ALWAYS
    if source.__class__ is Json:
        # What is in it is known only at run time, where it is checked and converted.
        return Fit.ALWAYS if target == JSON else Fit.CHECK
    if source.__class__ is Alternatives:
        fits = [fit(arm, target, table) for arm in source.arms]
        if Fit.NEVER in fits:
            # Some arms may fit: only values of one kind that a check can tell apart are let through.
            return (
                Fit.NEVER
                if all(f is Fit.NEVER for f in fits) or not _same_base(source, target, table)
                else Fit.CHECK
            )
        return min(fits, key=lambda f: f.value)
    match target:
        case Json():
            found = _fit_json(source, table)
            return Fit.CHECK if found is Fit.ALWAYS and target.schema else found
        case Str():
            if not is_text(source, table):
                return Fit.NEVER
            return _fit_text(source, target)
        case Int() | Dec() | Float():
            return _fit_number(source, target, table)
        case Constant(value):
            if source.__class__ is Constant:
                return Fit.NEVER
            base = base_of_constant(target)
            return Fit.CHECK if _same_base(source, base, table) else Fit.NEVER
        case Bool():
            return Fit.ALWAYS if is_bool(source, table) else Fit.NEVER
        case Optional(item):
            if source.__class__ is Null:
                return Fit.ALWAYS
            if source.__class__ is Optional:
                return fit(source.item, item, table)
            return fit(source, item, table)
        case Alternatives(arms):
            best = Fit.NEVER
            for arm in arms:
                found = fit(source, arm, table)
                if found is Fit.ALWAYS:
                    return found
                if found is Fit.CHECK:
                    best = found
            return best
        case ListOf(item, minimum, maximum):
            if source.__class__ is ListValue:
                if source.item.__class__ is not Never:
                    return Fit.NEVER
                return Fit.ALWAYS if minimum == 0 else Fit.NEVER
            if source.__class__ is not ListOf:
                return Fit.NEVER
            inner = fit(source.item, item, table)
            return _with_counts(inner, source, minimum, maximum)
        case MapOf(key, value, minimum, maximum):
            if source.__class__ is not MapOf:
                return Fit.NEVER
            inner = min(
                fit(source.key, key, table),
                fit(source.value, value, table),
                key=lambda f: f.value,
            )
            return _with_counts(inner, source, minimum, maximum)
        case TupleOf(items):
            if source.__class__ is not TupleOf or len(source.items) != len(items):
                return Fit.NEVER
            fits = [fit(a, b, table) for a, b in zip(source.items, items, strict=True)]
            return min(fits, key=lambda f: f.value, default=Fit.ALWAYS)
        case ListValue(item):
            got = item_of(source, table)
            if got is None:
                return Fit.NEVER
            return fit(got, item, table)
    return Fit.NEVER


def _fit_json(source: ExpressionType, table: Table) -> Fit:
    """Plain values are JSON values; floats become decimals. Records, enum members and tuples are none."""
    plain = expand(source, table)
    match plain:
        case Str() | Int() | Dec() | Bool() | Null() | Constant() | Json() | Never():
            return Fit.ALWAYS
        case Float():
            return Fit.CHECK
        case ListOf(item) | ListValue(item) | Optional(item):
            return _fit_json(item, table)
        case MapOf(key, value):
            return _fit_json(value, table) if is_text(key, table) else Fit.NEVER
        case Alternatives(arms):
            return min((_fit_json(arm, table) for arm in arms), key=lambda f: f.value)
    return Fit.NEVER


def _with_counts(inner: Fit, source: ListOf | MapOf, minimum: int, maximum: int | None) -> Fit:
    if inner is Fit.NEVER:
        return inner
    if source.maximum is not None and source.maximum < minimum:
        return Fit.NEVER
    if maximum is not None and source.minimum > maximum:
        return Fit.NEVER
    enough = source.minimum >= minimum
    few = maximum is None or (source.maximum is not None and source.maximum <= maximum)
    return inner if enough and few else Fit.CHECK


def _same_base(source: ExpressionType, target: ExpressionType, table: Table) -> bool:
    if is_text(target, table):
        return is_text(source, table)
    if is_bool(target, table):
        return is_bool(source, table)
    rank = numeric_rank(target, table)
    if rank is not None:
        own = numeric_rank(source, table)
        return own is not None and own <= rank
    return False


def _fit_text(source: ExpressionType, target: Str) -> Fit:
    if target in (STR, Str(layout="lines")):
        return Fit.ALWAYS
    if target.grammar:
        return Fit.ALWAYS if source == target else Fit.CHECK
    if source.__class__ is Constant:
        length = len(str(source.value))
        if length < target.min_chars or (target.max_chars is not None and length > target.max_chars):
            return Fit.NEVER
        if target.patterns or target.until or target.excludes or target.layout == "line":
            return Fit.CHECK
        return Fit.ALWAYS
    assert isinstance(source, Str)
    if target.max_chars is not None and source.min_chars > target.max_chars:
        return Fit.NEVER
    if source.max_chars is not None and source.max_chars < target.min_chars:
        return Fit.NEVER
    shorter = target.max_chars is None or (
        source.max_chars is not None and source.max_chars <= target.max_chars
    )
    stops = set(source.until) | set(source.excludes)
    if (
        shorter
        and target.layout in (source.layout, "", "free", "lines")
        and source.min_chars >= target.min_chars
        and set(target.patterns) <= set(source.patterns)
        and set(target.until) | set(target.excludes) <= stops
    ):
        return Fit.ALWAYS
    return Fit.CHECK


def _fit_number(source: ExpressionType, target: Int | Dec | Float, table: Table) -> Fit:
    rank = numeric_rank(source, table)
    goal = RANKS[target.__class__]
    if rank is None or rank > goal:
        return Fit.NEVER
    low: Decimal | int | None
    high: Decimal | int | None
    if source.__class__ is Constant:
        low = high = Decimal(source.value)
        step, fixed = None, True
    else:
        low, high = getattr(source, "minimum", None), getattr(source, "maximum", None)
        step = getattr(source, "multiple_of", None)
        fixed = low is not None and low == high
    if target.minimum is not None and high is not None and high < target.minimum:
        return Fit.NEVER
    if target.maximum is not None and low is not None and low > target.maximum:
        return Fit.NEVER
    above = target.minimum is None or (low is not None and low >= target.minimum)
    below = target.maximum is None or (high is not None and high <= target.maximum)
    due = getattr(target, "multiple_of", None)
    if due is not None and fixed and low is not None:
        divides = low % due == 0
        if not divides:
            return Fit.NEVER
    else:
        divides = due is None or (step is not None and step % due == 0)
    if not (above and below and divides):
        return Fit.CHECK
    return Fit.ALWAYS if rank == goal else Fit.CHECK


def join(left: ExpressionType, right: ExpressionType, table: Table) -> ExpressionType | None:
    """The narrowest type that holds both and can be named; None if there is none."""
    if left == right or right.__class__ in (Never, Unknown):
        return left
    if left.__class__ in (Never, Unknown):
        return right
    a, b = expand(left, table), expand(right, table)
    if a.__class__ is Null and b.__class__ is Null:
        return NULL
    if a.__class__ is Null or b.__class__ is Null:
        other = right if a.__class__ is Null else left
        return other if allows_null(other, table) else Optional(other)  # type: ignore[arg-type]
    if a.__class__ is Optional or b.__class__ is Optional:
        inner = join(without_null(left, table), without_null(right, table), table)
        return None if inner is None else Optional(inner)  # type: ignore[arg-type]
    for one, other in ((left, right), (right, left)):
        if fit(one, other, table) is Fit.ALWAYS:
            return other
    if (a.__class__ is Json or b.__class__ is Json) and Fit.NEVER not in (
        _fit_json(a, table),
        _fit_json(b, table),
    ):
        return JSON
    if is_text(a, table) and is_text(b, table):
        return STR
    if is_bool(a, table) and is_bool(b, table):
        return BOOL
    ranks = numeric_rank(a, table), numeric_rank(b, table)
    if ranks[0] is not None and ranks[1] is not None:
        return numeric(max(ranks[0], ranks[1]))
    items = item_of(a, table), item_of(b, table)
    if items[0] is not None and items[1] is not None:
        item = join(items[0], items[1], table)
        return None if item is None else list_of(item)
    if isinstance(a, MapOf) and isinstance(b, MapOf):
        value = join(a.value, b.value, table)
        return None if value is None else MapOf(STR, value)  # type: ignore[arg-type]
    if isinstance(a, TupleOf) and isinstance(b, TupleOf) and len(a.items) == len(b.items):
        parts = [join(x, y, table) for x, y in zip(a.items, b.items, strict=True)]
        return None if None in parts else TupleOf(tuple(parts))  # type: ignore[arg-type]
    return None


def comparable(left: ExpressionType, right: ExpressionType, table: Table) -> bool:
    """Whether `==` between the two can ever be true by type."""
    if join(left, right, table) is not None:
        return True
    for one, other in ((left, right), (right, left)):
        plain = expand(one, table)
        if plain.__class__ is Optional:
            return comparable(plain.item, other, table)
        if plain.__class__ is Alternatives:
            return any(comparable(arm, other, table) for arm in plain.arms)
    return False
