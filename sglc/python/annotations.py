"""Types of the language as Python annotations, for signatures, fields and the tools that read them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal, Union, assert_never

from sglc.types.type import (
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    SpanOf,
    Str,
    TupleOf,
    Type,
)

PLAIN: dict[type, Any] = {
    Str: str,
    OneOf: str,
    SpanOf: str,
    Int: int,
    Dec: Decimal,
    Float: float,
    Bool: bool,
    Null: None,
    Json: Any,
}
"""Types that have one Python type whatever narrows them."""


def annotation(type: Type, declared: Callable[[str], Any]) -> Any:
    """The annotation of a type; `declared` gives that of a declared type by its qualified name.

    Refinements are left out: a checker of Python types knows no `int in 18..70`.
    """
    match type:
        case Named(name=name) | Applied(name=name):
            return declared(name)
        case Constant(value=value):
            return Decimal if isinstance(value, Decimal) else Literal[value]
        case ListOf(item=item):
            return list[annotation(item, declared)]  # type: ignore[misc]
        case MapOf(key=key, value=item):
            return dict[annotation(key, declared), annotation(item, declared)]  # type: ignore[misc]
        case TupleOf(items=items):
            return tuple[tuple(annotation(item, declared) for item in items)]  # type: ignore[misc]
        case InForm(item=item):
            return annotation(item, declared)
        case Optional(item=item):
            return _union((annotation(item, declared), None))
        case Alternatives(arms=arms):
            return _union(tuple(annotation(arm, declared) for arm in arms))
        case Str() | OneOf() | SpanOf() | Int() | Dec() | Float() | Bool() | Null() | Json():
            return PLAIN[type.__class__]
        case _:
            assert_never(type)


def _union(arms: tuple[object, ...]) -> Any:
    return Union[arms]  # noqa: UP007
