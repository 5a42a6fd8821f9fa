"""The fourth artefact of a type: the text of a value, in the one spelling its language has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, assert_never

from sglc.types.json_text import json_text
from sglc.types.json_values import json_value_text
from sglc.types.language.membership import arm_of
from sglc.types.language.scalars import Surface, constant_text
from sglc.types.text.scalar_printer import PrintError, print_scalar
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    EnumType,
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
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    declared_type,
    without_form,
)
from sglc.types.values import EnumValue, RecordValue


def print_value(value: object, type: Type, table: TypeTable, *, surface: Surface = "hole") -> str:
    """The canonical text of a value.

    It reads back as the value (`decode`). Values of the right kind that are not members (a text that is too
    long) still print: text is inserted into prompts far more often than it is checked. Optional fields that
    are None are left out.
    """
    match type:
        case Str() | OneOf() | SpanOf():
            text = _expect(value, str, type)
            return text if surface == "hole" else json_text(text)
        case Json():
            try:
                return json_value_text(value)
            except ValueError as fault:
                raise PrintError(str(fault)) from None
        case Int() | Dec() | Float() | Bool():
            return print_scalar(value, type)
        case Null():
            _expect(value, NoneType, type)
            return "null"
        case Constant():
            return constant_text(type.value, surface)
        case Optional():
            item = without_form(type.item, table)
            return "null" if value is None else print_value(value, item, table, surface=surface)
        case Alternatives():
            arm = without_form(arm_of(value, type, table), table)
            return print_value(value, arm, table, surface=surface)
        case InForm(item=item, form=form):
            if surface == "json" or form == "json":
                return print_value(value, item, table, surface="json")
            from sglc.types.text.form_printer import print_in_form  # loads all forms

            return print_in_form(value, type, table)
        case ListOf():
            items = _expect(value, list, type)
            return f"[{', '.join(print_value(item, type.item, table, surface='json') for item in items)}]"
        case TupleOf():
            every = _expect(value, tuple, type)
            if len(every) != len(type.items):
                raise PrintError(f"{len(every)} items for a tuple of {len(type.items)}")
            parts = [
                print_value(item, each, table, surface="json")
                for item, each in zip(every, type.items, strict=True)
            ]
            return f"[{', '.join(parts)}]"
        case MapOf():
            if not isinstance(value, Mapping):
                raise _misfit(value, type)
            parts = [
                f"{json_text(str(key))}: {print_value(item, type.value, table, surface='json')}"
                for key, item in value.items()
            ]
            return "{" + ", ".join(parts) + "}"
        case Applied(name):
            return print_value(value, Named(name), table, surface=surface)
        case Named(name):
            declared = declared_type(name, table)
            match declared:
                case AliasType():
                    return print_value(value, declared.type, table, surface=surface)
                case EnumType():
                    member = str(_expect(value, EnumValue, type))
                    return member if surface == "hole" else json_text(member)
                case RecordType():
                    return _print_fields(_expect(value, RecordValue, type), declared, table, [])
                case UnionType():
                    record = _expect(value, RecordValue, type)
                    variant = declared.variant(record.variant)
                    if variant is not None:
                        tag = f"{json_text(TAG)}: {json_text(variant.name)}"
                        return _print_fields(record, variant, table, [tag])
                    raise PrintError(f"{name} has no variant {record.variant}")
                case _:
                    assert_never(declared)
        case _:
            assert_never(type)


NoneType = type(None)
_Kind = TypeVar("_Kind")


def _print_fields(value: RecordValue, record: RecordType, table: TypeTable, parts: list[str]) -> str:
    for field in record.fields:
        if field.name not in value.fields:
            if field.optional or field.has_default:
                continue
            raise PrintError(f"the field {field.name} of {record.name} is missing")
        item = value.fields[field.name]
        if item is None and field.optional:
            continue
        parts.append(f"{json_text(field.name)}: {print_value(item, field.type, table, surface='json')}")
    return "{" + ", ".join(parts) + "}"


def _expect(value: object, kind: type[_Kind], of: Type) -> _Kind:
    if not isinstance(value, kind):
        raise _misfit(value, of)
    return value


def _misfit(value: object, of: Type) -> PrintError:
    return PrintError(f"{type(value).__name__} where a value of {type(of).__name__} belongs")
