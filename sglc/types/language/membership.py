"""Which values belong to a type, said with the path to the part that does not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TypeGuard, assert_never

from sglc.automata.dfa.operations import accepts
from sglc.automata.number.decimal import FLOAT_PLACES, whole_digits
from sglc.types.arithmetic import Number, number_fault
from sglc.types.dependent import one_of_fault, span_fault
from sglc.types.equality import equal
from sglc.types.json_text import json_text, surrogate_fault
from sglc.types.language.scalars import str_dfa
from sglc.types.number_text import float_text
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    DeclaredType,
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
)
from sglc.types.values import EnumValue, RecordValue


class MemberError(ValueError):
    """`path` leads to the part at fault (`crew.skills[2]`), empty for the value itself."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


def is_member(value: object, type: Type, table: TypeTable) -> bool:
    """Whether a value is one of the type, refinements included."""
    try:
        check_member(value, type, table)
    except MemberError:
        return False
    return True


def check_member(value: object, type: Type, table: TypeTable, path: str = "") -> None:
    """Raises MemberError unless the value is one of the type, refinements included."""
    match type:
        case Str():
            _fail_if(path, str_fault(value, type) if isinstance(value, str) else _kind("text", value))
        case Json():
            fault = _json_fault(value, type)
            if fault is not None:
                raise MemberError(path + fault[0], fault[1])
        case OneOf():
            _fail_if(path, one_of_fault(value, type) if isinstance(value, str) else _kind("text", value))
        case SpanOf():
            _fail_if(path, span_fault(value, type) if isinstance(value, str) else _kind("text", value))
        case Int():
            _fail_if(path, int_fault(value, type) if _is_int(value) else _kind("an integer", value))
        case Dec():
            if not isinstance(value, Decimal) or not value.is_finite():
                raise MemberError(path, _kind("a decimal", value))
            _fail_if(path, decimal_fault(value, type))
        case Float():
            _fail_if(path, float_fault(value, type) if isinstance(value, float) else _kind("a float", value))
        case Bool():
            _fail_if(path, None if isinstance(value, bool) else _kind("true or false", value))
        case Null():
            _fail_if(path, None if value is None else _kind("null", value))
        case Constant():
            _fail_if(path, None if is_constant(value, type) else _kind(constant_notation(type.value), value))
        case Optional():
            if value is not None:
                check_member(value, type.item, table, path)
        case InForm(item=item):
            check_member(value, item, table, path)
            _fail_if(path, _form_fault(value, type))
        case Alternatives():
            if not any(is_member(value, arm, table) for arm in type.arms):
                kinds = [arm for arm in type.arms if is_kind(value, arm, table)]
                if len(kinds) == 1:
                    check_member(value, kinds[0], table, path)
                raise MemberError(path, f"{describe(value)} fits none of the {len(type.arms)} alternatives")
        case ListOf():
            if not isinstance(value, list):
                raise MemberError(path, _kind("a list", value))
            _fail_if(path, size_fault(len(value), type, "items"))
            for index, item in enumerate(value):
                check_member(item, type.item, table, f"{path}[{index}]")
        case TupleOf():
            if not isinstance(value, tuple) or len(value) != len(type.items):
                raise MemberError(path, _kind(f"a tuple of {len(type.items)}", value))
            for index, (item, each) in enumerate(zip(value, type.items, strict=True)):
                check_member(item, each, table, f"{path}[{index}]")
        case MapOf():
            if not isinstance(value, Mapping):
                raise MemberError(path, _kind("a map", value))
            _fail_if(path, size_fault(len(value), type, "entries"))
            for key, item in value.items():
                check_member(key, type.key, table, f"{path}[{json_text(str(key))}]")
                check_member(item, type.value, table, f"{path}[{json_text(str(key))}]")
        case Applied(name):
            if type.instance is None:
                check_member(value, Named(name), table, path)
            else:
                _check_declared(value, name, type.instance.declared, table, path)
        case Named(name):
            declared = declared_type(name, table)
            _check_declared(value, declared.name, declared, table, path)
        case _:
            assert_never(type)


def _check_declared(value: object, name: str, declared: DeclaredType, table: TypeTable, path: str) -> None:
    match declared:
        case AliasType():
            check_member(value, declared.type, table, path)
            _fail_if(path, where_fault(value, declared))
        case EnumType():
            if not (isinstance(value, EnumValue) and value.enum == name and value.name in declared.members):
                raise MemberError(path, _kind(f"a member of {name}", value))
        case RecordType():
            if not isinstance(value, RecordValue) or value.type != name or value.variant:
                raise MemberError(path, _kind(f"a {name}", value))
            _check_fields(value, declared, table, path)
        case UnionType():
            if not isinstance(value, RecordValue) or value.type != name:
                raise MemberError(path, _kind(f"a {name}", value))
            variant = declared.variant(value.variant)
            if variant is None:
                raise MemberError(path, f"{name} has no variant {value.variant}")
            _check_fields(value, variant, table, path)
        case _:
            assert_never(declared)


def where_fault(value: object, declared: AliasType) -> str | None:
    """Which condition of an alias does not hold of a value of what it stands for, None if all hold.

    Its predicates are not asked.
    """
    if declared.where is None:
        return None
    from sglc.types.condition import holds, show_condition  # loads all of regular expressions

    if holds(declared.where, value):
        return None
    return f"{describe(value)} does not meet `{show_condition(declared.where)}`"


def arm_of(value: object, type: Alternatives, table: TypeTable) -> Type:
    """The arm a value belongs to; if it is a member of none, the first it is of the same kind as."""
    for test in (is_member, is_kind):
        for arm in type.arms:
            if test(value, arm, table):
                return arm
    return type.arms[0]


def is_kind(value: object, type: Type, table: TypeTable) -> bool:
    """Whether a value is of the sort of a type, refinements and items left aside."""
    match type:
        case Str() | OneOf() | SpanOf():
            return isinstance(value, str)
        case Json():
            return _json_fault(value, Json()) is None
        case Int():
            return _is_int(value)
        case Dec():
            return isinstance(value, Decimal)
        case Float():
            return isinstance(value, float)
        case Bool():
            return isinstance(value, bool)
        case Null():
            return value is None
        case Constant():
            return is_constant(value, type)
        case ListOf():
            return isinstance(value, list)
        case MapOf():
            return isinstance(value, Mapping)
        case TupleOf():
            return isinstance(value, tuple) and len(value) == len(type.items)
        case Optional():
            return value is None or is_kind(value, type.item, table)
        case InForm(item=item):
            return is_kind(value, item, table)
        case Alternatives():
            return any(is_kind(value, arm, table) for arm in type.arms)
        case Applied(name):
            return is_kind(value, Named(name), table)
        case Named(name):
            declared = declared_type(name, table)
            if isinstance(declared, AliasType):
                return is_kind(value, declared.type, table)
            if isinstance(declared, EnumType):
                return isinstance(value, EnumValue) and value.enum == name
            return isinstance(value, RecordValue) and value.type == name
        case _:
            assert_never(type)


def _form_fault(value: object, type: InForm) -> str | None:
    """Why a value has no text in a form; None if it has one."""
    if type.form == "json":
        return None
    from sglc.types.forms.forms import unwritable

    return unwritable(value, type.form)


def _check_fields(value: RecordValue, record: RecordType, table: TypeTable, path: str) -> None:
    known = {field.name for field in record.fields}
    for name in value.fields:
        if name not in known:
            raise MemberError(_join(path, name), f"{record.name} has no field {name}")
    for field in record.fields:
        here = _join(path, field.name)
        item = value.fields.get(field.name)
        if item is None and field.optional:
            continue
        if field.name not in value.fields:
            raise MemberError(here, "the field is missing")
        check_member(item, field.type, table, here)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _fail_if(path: str, reason: str | None) -> None:
    if reason is not None:
        raise MemberError(path, reason)


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _kind(expected: str, value: object) -> str:
    return f"expected {expected}, found {describe(value)}"


def describe(value: object) -> str:
    """A value in a few words, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            shown = json_text(value if len(value) <= 40 else value[:37] + "...")
            return shown.encode("utf-8", "backslashreplace").decode()
        case EnumValue():
            return f"{value.enum}.{value.name}"
        case RecordValue():
            return f"a {value.type}"
        case Mapping():
            return "a map"
        case list():
            return f"a list of {len(value)}"
        case tuple():
            return f"a tuple of {len(value)}"
        case int() if value.bit_length() > 4000:
            return f"an integer of {value.bit_length()} bits"
        case int() | float() | Decimal():
            text = str(value)
            return text if len(text) <= 40 else text[:37] + "..."
        case _:
            return f"a {type(value).__name__}"


def constant_notation(value: str | int | Decimal | bool) -> str:
    """A literal as a program writes it, for messages."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json_text(value)
    return str(value)


def is_constant(value: object, type: Constant) -> bool:
    """Equal and of the same kind: 1 is not 1.0."""
    return isinstance(value, type.value.__class__) and equal(value, type.value)


def _json_fault(value: object, type: Json) -> tuple[str, str] | None:
    from sglc.types.language.json_membership import json_fault

    return json_fault(value, type)


# --- faults of scalars: None, or what is wrong ------------------------------------------------------------


def str_fault(value: str, type: Str) -> str | None:
    """Why a text is none of the type: its length, characters, patterns, stops or grammar."""
    if type.grammar:
        from sglc.types.grammar_text import grammar_fault

        return grammar_fault(value, type.grammar)
    if len(value) < type.min_chars:
        return f"{describe(value)} has {len(value)} characters, at least {type.min_chars} are asked for"
    if type.max_chars is not None and len(value) > type.max_chars:
        return f"{describe(value)} has {len(value)} characters, at most {type.max_chars} are allowed"
    # Without a walk where it can be: arguments may be long, and lists of them longer.
    if (fault := _character_fault(value, type)) is not None:
        return fault
    if not (type.patterns or type.until or type.excludes) or accepts(str_dfa(type), value):
        return None
    for text in (*type.until, *type.excludes):
        if text in value:
            return f"{describe(value)} contains {json_text(text)}"
    for pattern in type.patterns:
        if not accepts(str_dfa(Str(patterns=(pattern,))), value):
            return f"{describe(value)} does not match /{pattern}/"
    stops = " or ".join(json_text(stop) for stop in type.until)
    return f"{describe(value)} runs into its stop {stops}"


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def _character_fault(value: str, type: Str) -> str | None:
    if value.isprintable():
        return None
    if type.layout == "line" and (found := _CONTROL.search(value)) is not None:
        what = (
            "a line break" if found.group() in "\n\r" else f"the control character U+{ord(found.group()):04X}"
        )
        return f"{describe(value)} is not one line: it has {what} at {found.start()}"
    return surrogate_fault(value)


def int_fault(value: int, type: Int) -> str | None:
    """Why an integer is none of the type: its size, bounds or step."""
    if (fault := _size_fault(value) or _bound_fault(value, type.minimum, type.maximum)) is not None:
        return fault
    if type.multiple_of is not None and value % type.multiple_of:
        return f"{describe(value)} is no multiple of {type.multiple_of}"
    return None


def _size_fault(value: int | Decimal | float) -> str | None:
    fault = number_fault(value)
    return None if fault is None else f"{describe(value)} is no number of the language: {fault}"


def _bound_fault(value: Number, minimum: int | Decimal | None, maximum: int | Decimal | None) -> str | None:
    if minimum is not None and value < minimum:
        return f"{describe(value)} is less than {minimum}"
    if maximum is not None and value > maximum:
        return f"{describe(value)} is more than {maximum}"
    return None


def decimal_fault(value: Decimal, type: Dec) -> str | None:
    """Why a decimal is none of the type: its size, bounds or step."""
    if (fault := _size_fault(value) or _bound_fault(value, type.minimum, type.maximum)) is not None:
        return fault
    if type.multiple_of is not None and not is_multiple(value, type.multiple_of):
        return f"{describe(value)} is no multiple of {type.multiple_of}"
    return None


def is_multiple(value: Decimal, step: Decimal) -> bool:
    """Whether a decimal is an exact multiple of a step that is not zero."""
    top, bottom = value.as_integer_ratio()
    over, under = step.as_integer_ratio()
    return (top * under) % (bottom * over) == 0


def float_fault(value: float, type: Float) -> str | None:
    """Why a float is none of the type: it is not finite, out of bounds, or has no text within them."""
    if value != value or value in (float("inf"), float("-inf")):
        return f"{value} is not finite"
    if type.minimum is not None and value < float(type.minimum):
        return f"{value} is less than {type.minimum}"
    if type.maximum is not None and value > float(type.maximum):
        return f"{value} is more than {type.maximum}"
    if type.minimum is None and type.maximum is None:
        return None
    if abs(value) > float(10 ** whole_digits(type.minimum, type.maximum) - 1):
        return f"{value} has more than {whole_digits(type.minimum, type.maximum)} digits"
    if float(float_text(value, type.minimum, type.maximum)) != value:
        return f"{value} has more than {FLOAT_PLACES} digits after the point"
    return None


def size_fault(size: int, type: ListOf | MapOf, what: str) -> str | None:
    """Why a list or map of this size is none of the type; `what` names its parts, in the plural."""
    if size < type.minimum:
        return f"{size} {what}, at least {type.minimum} are asked for"
    if type.maximum is not None and size > type.maximum:
        return f"{size} {what}, at most {type.maximum} are allowed"
    return None
