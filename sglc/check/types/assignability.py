"""Relations between types: which values may stand where, and what two types have in common.

`fit` has three answers, because refinements are checked at run time where the types alone do not decide:
`int` may stand where `int in 0..5` is due, `int in 7..9` may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any

from sglc.check.core.result import (
    BranchOf,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.types.notation.sgl import show_type
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    Float,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    Str,
    TupleOf,
    Type,
)

UNKNOWN = Unknown()
STR = Str()
INT = Int()
DEC = Dec()
FLOAT = Float()
BOOL = Bool()
JSON = Json()
NULL = Null()
NEVER = Never()
RANGE = RangeOf()

Table = Mapping[str, DeclaredType]


class Fit(Enum):
    """How a type stands to one that is expected."""

    ALWAYS = 2
    """Every value is a member."""
    CHECK = 1
    """Some are, or become members by widening: a check or conversion at run time decides."""
    NEVER = 0


def expand(type: ExpressionType, table: Table) -> ExpressionType:
    """The type behind aliases; records, unions and enums stay `Named`."""
    seen = 0
    while type.__class__ is Named:
        declared = table.get(type.name)
        if declared is None:
            return UNKNOWN
        if declared.__class__ is not AliasType:
            return type
        type = declared.type
        seen += 1
        if seen > 200:
            return UNKNOWN
    return type


def base_of_constant(type: Constant) -> Type:
    """The type that a literal type is a case of."""
    value = type.value
    if isinstance(value, str):
        return STR
    if isinstance(value, bool):
        return BOOL
    return INT if isinstance(value, int) else DEC


def widen(type: ExpressionType, table: Table) -> ExpressionType:
    """The type without refinements and bounds: what a `var` that starts with such a value may hold."""
    plain = expand(type, table)
    match plain:
        case Str():
            return STR
        case Int():
            return INT
        case Dec():
            return DEC
        case Float():
            return FLOAT
        case Constant():
            return base_of_constant(plain)
        case ListOf(item):
            return ListOf(widen(item, table))  # type: ignore[arg-type]
        case MapOf(_, value):
            return MapOf(STR, widen(value, table))  # type: ignore[arg-type]
        case TupleOf(items):
            return TupleOf(tuple(widen(item, table) for item in items))  # type: ignore[misc]
        case Optional(item):
            return Optional(widen(item, table))  # type: ignore[arg-type]
        case Alternatives(arms):
            wide = {widen(arm, table) for arm in arms}
            return wide.pop() if len(wide) == 1 else type
    return type


_RANKS = {Int: 0, Dec: 1, Float: 2}


def numeric_rank(type: ExpressionType, table: Table) -> int | None:
    """0 for integers, 1 for decimals, 2 for floats, None for what is no number.

    A union of numbers has the rank of its widest arm.
    """
    plain = expand(type, table)
    rank = _RANKS.get(plain.__class__)
    if rank is not None:
        return rank
    if plain.__class__ is Constant:
        return _RANKS.get(base_of_constant(plain).__class__)
    if plain.__class__ is Alternatives:
        ranks = [numeric_rank(arm, table) for arm in plain.arms]
        return None if None in ranks else max(rank for rank in ranks if rank is not None)
    return None


def numeric(rank: int) -> Type:
    """The type of numbers of a rank: int, decimal, float."""
    return (INT, DEC, FLOAT)[rank]


def is_text(type: ExpressionType, table: Table) -> bool:
    """Whether every value is a string."""
    plain = expand(type, table)
    match plain:
        case Str():
            return True
        case Constant(value):
            return isinstance(value, str)
        case Alternatives(arms):
            return all(is_text(arm, table) for arm in arms)
    return False


def is_bool(type: ExpressionType, table: Table) -> bool:
    """Whether all values of a type are booleans."""
    plain = expand(type, table)
    if plain.__class__ is Constant:
        return isinstance(plain.value, bool)
    if plain.__class__ is Alternatives:
        return all(is_bool(arm, table) for arm in plain.arms)
    return plain.__class__ is Bool


def allows_null(type: ExpressionType, table: Table) -> bool:
    """Whether null is a value of a type."""
    plain = expand(type, table)
    if plain.__class__ is Alternatives:
        return any(allows_null(arm, table) for arm in plain.arms)
    return plain.__class__ in (Null, Optional) or plain == JSON


def without_null(type: ExpressionType, table: Table) -> ExpressionType:
    """The type behind `?`; itself if there is none."""
    plain = expand(type, table)
    return without_null(plain.item, table) if plain.__class__ is Optional else type


def item_of(type: ExpressionType, table: Table) -> ExpressionType | None:
    """Item type of a list, None for what is no list."""
    plain = expand(type, table)
    if plain.__class__ in (ListOf, ListValue):
        return plain.item
    return None


def list_of(item: ExpressionType) -> ExpressionType:
    """The list type of an item, plain where the item is."""
    if isinstance(item, (RangeOf, BranchOf, ScoredOf, ListValue, ErrorOf, Never)):
        return ListValue(item)
    return ListOf(item)  # type: ignore[arg-type]


def fit(source: ExpressionType, target: ExpressionType, table: Table) -> Fit:
    """Whether values of `source` may stand where `target` is due."""
    if source is target or source == target:
        return Fit.ALWAYS
    if source.__class__ in (Unknown, Never) or target.__class__ is Unknown:
        return Fit.ALWAYS
    target = expand(target, table)
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
    goal = _RANKS[target.__class__]
    if rank is None or rank > goal:
        return Fit.NEVER
    low: Any
    high: Any
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


def is_enum(type: ExpressionType, table: Table) -> EnumType | None:
    """The declaration of an enum type, aliases followed; None for other types."""
    plain = expand(type, table)
    if plain.__class__ is Named:
        declared = table.get(plain.name)
        if declared.__class__ is EnumType:
            return declared
    return None


def show(type: ExpressionType) -> str:
    """The type in the language's own notation, for messages."""
    match type:
        case Unknown():
            return "unknown"
        case Never():
            return "never"
        case RangeOf():
            return "a range"
        case BranchOf():
            return "a branch"
        case ScoredOf(option):
            return f"Scored<{show(option)}>"
        case ListValue(item):
            return f"[{show(item)}]" if not isinstance(item, Never) else "[]"
        case ErrorOf(name):
            return f"error {name}" if name else "an error"
        case ListOf(item, minimum, maximum):
            bounds = ""
            if minimum or maximum is not None:
                bounds = f"; {minimum or ''}..{'' if maximum is None else maximum}"
            return f"[{show(item)}{bounds}]"
        case Optional(item):
            return f"{show(item)}?"
        case TupleOf(items):
            return "(" + ", ".join(show(item) for item in items) + ")"
        case MapOf(key, value):
            return f"{{{show(key)}: {show(value)}}}"
        case Alternatives(arms):
            return " | ".join(show(arm) for arm in arms)
    return show_type(type)


def said(type: ExpressionType) -> str:
    """The type as a part of a sentence: notation in backquotes, words as they are."""
    if isinstance(type, Unknown | RangeOf | BranchOf | ErrorOf | Never):
        return show(type)
    return f"`{show(type)}`"


def field_type(field: FieldType) -> Type:
    """Type of a field when it is read: null where it may be absent."""
    if field.optional and not field.has_default and not isinstance(field.type, Optional | Null):
        return Optional(field.type)
    return field.type
