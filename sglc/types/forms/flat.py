"""Flat values: scalars, and records and tuples of scalars, for forms that have no nesting."""

from __future__ import annotations

from sglc.types.forms.shape import Arms, FormError, Leaf, Shape, held
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    behind_names,
    declared_type,
    unfolded,
)


def is_scalar(type: Type, table: TypeTable) -> bool:
    """Whether the values of a type that stands behind no alias are scalars, unions aside."""
    if isinstance(type, Named):
        return isinstance(declared_type(type.name, table), EnumType)
    return isinstance(type, Str | Int | Dec | Float | Bool | Null | Constant | OneOf | SpanOf)


def scalar(
    type: Type, table: TypeTable, path: str, what: str, *, null: bool = False, spans: bool = False
) -> Shape:
    """The shape of a scalar or a union of scalars; with `null`, null beside it. Raises FormError."""
    arms: list[tuple[Type, Shape]] = [
        (arm, held(leaf(arm, path, spans=spans), aliases)) for arm, aliases in _arms(type, table, path, what)
    ]
    if null:
        arms.append((Null(), Leaf(Null())))
    return arms[0][1] if len(arms) == 1 else Arms(tuple(arms))


def leaf(type: Type, path: str, *, quoted: bool = False, spans: bool = False) -> Leaf:
    """A scalar. Raises FormError for texts whose spelling depends on more than the form knows of them."""
    if isinstance(type, Str) and type.grammar:
        hint = "keep the text in a hole of its own, or write the value `as json`"
        raise FormError(path, "a text in a grammar", hint)
    if isinstance(type, SpanOf) and not spans:
        raise FormError(path, "a `span of` a text", "write it `as lines` or `as json`")
    return Leaf(type, quoted)


_Arm = tuple[Type, tuple[AliasType, ...]]


def _arms(type: Type, table: TypeTable, path: str, what: str) -> list[_Arm]:
    """The scalars of a union, each with the aliases whose conditions its values meet."""
    found, aliases = unfolded(type, table)
    inner: list[_Arm] | None = None
    match found:
        case Optional(item=item):
            inner = [*_arms(item, table, path, what), (Null(), ())]
        case Alternatives(arms=arms):
            inner = [each for arm in arms for each in _arms(arm, table, path, what)]
    if inner is not None:
        return [(arm, (*aliases, *more)) for arm, more in inner]
    if is_scalar(found, table):
        return [(found, aliases)]
    raise FormError(path, f"{described(found)}, where {what} is a scalar", "choose `as yaml` or `as json`")


def described(type: Type) -> str:
    """A type that is no scalar, in a word or two."""
    match type:
        case ListOf():
            return "a list"
        case MapOf():
            return "a map"
        case TupleOf():
            return "a tuple"
        case Json():
            return "any JSON value"
        case Named(name=name):
            return f"the record or union `{name.rsplit('.', 1)[-1]}`"
    return "a value"


def is_nullable(type: Type, table: TypeTable) -> bool:
    """Whether null is a value of the type."""
    found = behind_names(type, table)
    match found:
        case Optional() | Null():
            return True
        case Alternatives(arms=arms):
            return any(is_nullable(arm, table) for arm in arms)
    return False


def columns(type: Type, table: TypeTable) -> tuple[str | None, tuple[FieldType, ...], tuple[AliasType, ...]]:
    """The fields of a row, the qualified name of its record, None for a tuple, and the aliases whose
    conditions it meets. Raises FormError."""
    row, aliases = unfolded(type, table)
    if isinstance(row, TupleOf):
        return None, tuple(FieldType(str(place), item) for place, item in enumerate(row.items, 1)), aliases
    if isinstance(row, Named):
        declared = declared_type(row.name, table)
        if isinstance(declared, RecordType):
            return declared.name, declared.fields, aliases
    shown = "a scalar" if is_scalar(row, table) else described(row)
    raise FormError("[]", f"{shown}, where a row is a record or a tuple", "declare a record of the columns")
