"""Questions about one type: what stands behind aliases, whether it is text or a number, how it is shown."""

from __future__ import annotations

from collections.abc import Mapping

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
    Applied,
    Bool,
    Constant,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    Float,
    InForm,
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

OPAQUE = "[]."
"""What stands between the names of a function and of its type parameter, in no name that is declared."""


def expand(type: ExpressionType, table: Table) -> ExpressionType:
    """The type behind aliases and forms; records, unions and enums stay `Named`."""
    seen = 0
    while type.__class__ in (Named, InForm):
        if type.__class__ is InForm:
            type = type.item
            continue
        declared = table.get(type.name)  # type: ignore[union-attr]
        if declared is None:
            return UNKNOWN
        if declared.__class__ is not AliasType:
            return type
        type = declared.type
        seen += 1
        if seen > 200:
            return UNKNOWN
    return type


def conditions(type: ExpressionType, table: Table) -> list[AliasType]:
    """The aliases with conditions that a type is known by, the outermost first."""
    found: list[AliasType] = []
    while isinstance(type, Named) and isinstance(declared := table.get(type.name), AliasType):
        if declared.where is not None or declared.predicates:
            found.append(declared)
        type = declared.type
        if len(found) > 200:
            break
    return found


def as_written(type: ExpressionType, table: Table) -> ExpressionType:
    """What a hole of the type writes: the type with its form, where it has one, else what stands behind
    aliases."""
    here = type
    while isinstance(here, Named | Applied) and isinstance(declared := table.get(here.name), AliasType):
        here = declared.type
    return here if here.__class__ is InForm else expand(type, table)


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


RANKS = {Int: 0, Dec: 1, Float: 2}
"""Ranks of the types of numbers: values of a lower one may stand where a higher one is due."""


def numeric_rank(type: ExpressionType, table: Table) -> int | None:
    """0 for integers, 1 for decimals, 2 for floats, None for what is no number.

    A union of numbers has the rank of its widest arm.
    """
    plain = expand(type, table)
    rank = RANKS.get(plain.__class__)
    if rank is not None:
        return rank
    if plain.__class__ is Constant:
        return RANKS.get(base_of_constant(plain).__class__)
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
        case InForm(item, form):
            return f"{show(item)} as {form}"
        case TupleOf(items):
            return "(" + ", ".join(show(item) for item in items) + ")"
        case MapOf(key, value):
            return f"{{{show(key)}: {show(value)}}}"
        case Alternatives(arms):
            return " | ".join(show(arm) for arm in arms)
        case Named(name) if OPAQUE in name:
            return name.rpartition(".")[2]
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
