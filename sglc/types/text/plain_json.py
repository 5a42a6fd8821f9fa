"""Values from and to plain JSON data: arguments on the way in, results on the way out.

On the way in numbers and enum members are coerced to what the type says, and an error names the path, what
was expected, what was found, and the nearest right name. On the way out decimals stay exact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import NoReturn, assert_never

from sglc.types.arithmetic import Number, is_number
from sglc.types.equality import equal
from sglc.types.json_text import json_text
from sglc.types.language.membership import (
    MemberError,
    arm_of,
    check_member,
    constant_notation,
    describe,
    is_kind,
)
from sglc.types.language.scalars import constant_text
from sglc.types.number_text import number_text
from sglc.types.text.printer import print_value
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
)
from sglc.types.values import MAX_DEPTH, TOO_DEEP, EnumValue, RecordValue, Value, is_too_deep

MAX_DECIMAL_TEXT = 1000
"""Most characters of a decimal that is given as a text, as many as of one on the command line."""


def from_json(data: Value, type: Type, table: TypeTable, path: str = "") -> Value:
    """The value of the type that JSON data stands for. Raises MemberError.

    Numbers may come as int, float or Decimal; values that are typed already are taken as they are.
    """
    if is_too_deep(data):
        raise MemberError(path, TOO_DEEP)
    value = _convert(data, type, table, path, 0)
    check_member(value, type, table, path)
    return value


def from_text(text: str, type: Type, table: TypeTable) -> Value:
    """The value written on a command line: raw for scalars, JSON for everything else. Raises MemberError."""
    match type:
        case Str() | OneOf() | SpanOf():
            return from_json(text, type, table)
        case Int() | Dec() | Float():
            return from_json(_number(text.strip(), type), type, table)
        case Bool():
            if text.strip() not in ("true", "false"):
                raise MemberError("", f"expected true or false, found {describe(text)}")
            return text.strip() == "true"
        case Constant(value):
            if text != constant_text(value, "hole"):
                raise MemberError("", f"expected {constant_notation(value)}, found {describe(text)}")
            return value
        case InForm(item):
            return from_text(text, item, table)
        case Optional(item):
            return None if text == "null" else from_text(text, item, table)
        case Alternatives(arms):
            faults = []
            for arm in arms:
                try:
                    return from_text(text, arm, table)
                except MemberError as fault:
                    faults.append(fault)
            raise _best_fault(faults, text, "")
        case Applied(name) if isinstance(declared_type(name, table), AliasType):
            found = from_text(text, Named(name), table)
            check_member(found, type, table)
            return found
        case Named(name):
            declared = declared_type(name, table)
            if isinstance(declared, AliasType):
                found = from_text(text, declared.type, table)
                check_member(found, type, table)
                return found
            if isinstance(declared, EnumType):
                return from_json(text, type, table)
    return from_json(parse_json(text), type, table)


def parse_json(text: str) -> Value:
    """JSON with exact decimals; a key that stands twice is refused. Raises MemberError."""
    try:
        data: Value = json.loads(
            text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_distinct
        )
        return data
    except json.JSONDecodeError as error:
        raise MemberError("", f"no JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError, InvalidOperation) as error:
        if isinstance(error, MemberError):
            raise
        raise MemberError("", "no JSON: a number or the nesting is too large") from None


def _no_constant(name: str) -> NoReturn:
    raise MemberError("", f"no JSON: {name} is no number")


def _distinct(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    out: dict[str, Value] = {}
    for key, value in pairs:
        if key in out:
            raise MemberError("", f"no JSON: the key {json_text(key)} stands twice in an object")
        out[key] = value
    return out


def _number(text: str, type: Int | Dec | Float) -> int | Decimal:
    kind = "an integer" if isinstance(type, Int) else "a number"
    if len(text) <= MAX_DECIMAL_TEXT and re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    if (
        not isinstance(type, Int)
        and len(text) <= MAX_DECIMAL_TEXT
        and re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", text)
    ):
        try:
            return Decimal(text)
        except InvalidOperation:
            pass
    raise MemberError("", f"expected {kind}, found {describe(text)}")


# --- in -----------------------------------------------------------------------------------------------------


def _wrong(path: str, expected: str, data: Value) -> MemberError:
    return MemberError(path, f"expected {expected}, found {describe(data)}")


def _unknown(path: str, what: str, name: str, known: Iterable[str]) -> MemberError:
    """An unknown name, with the nearest of the known ones and the first few of them."""
    known = list(known)
    close = get_close_matches(name, known, 1, 0.6)
    listed = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    hint = f"; did you mean {close[0]}?" if close else ""
    return MemberError(path, f"{json_text(name)} is no {what} (there are {listed or 'none'}){hint}")


def _exact(data: Number) -> Decimal:
    return Decimal(repr(data)) if isinstance(data, float) else Decimal(data)


def _convert(data: Value, type: Type, table: TypeTable, path: str, depth: int) -> Value:
    if depth > MAX_DEPTH:
        raise MemberError(path, f"nested deeper than {MAX_DEPTH}")
    match type:
        case Json():
            from sglc.types.language.json_membership import ordered_json  # loads all of JSON Schema

            return ordered_json(data, type)
        case Str() | OneOf() | SpanOf():
            if not isinstance(data, str):
                raise _wrong(path, "text", data)
            return data
        case Int():
            if not isinstance(data, int) or isinstance(data, bool):
                raise _wrong(path, "an integer", data)
            return data
        case Dec() if isinstance(data, str):
            return decimal_of_text(data, path)
        case Dec() | Float():
            if not is_number(data):
                raise _wrong(path, "a number", data)
            if isinstance(type, Dec):
                return _exact(data)
            try:
                return float(data) + 0.0
            except OverflowError:
                raise MemberError(path, "the number is too large for a float") from None
        case Bool():
            if not isinstance(data, bool):
                raise _wrong(path, "true or false", data)
            return data
        case Null():
            if data is not None:
                raise _wrong(path, "null", data)
            return None
        case Constant(value):
            if not equal(_exact(data) if isinstance(data, float) else data, value):
                raise _wrong(path, constant_notation(value), data)
            return value
        case InForm(item):
            return _convert(data, item, table, path, depth)
        case Optional(item):
            return None if data is None else _convert(data, item, table, path, depth)
        case Alternatives(arms):
            return _convert_arm(data, arms, table, path, depth)
        case ListOf(item):
            if not isinstance(data, list | tuple):
                raise _wrong(path, "a list", data)
            return [_convert(each, item, table, f"{path}[{i}]", depth + 1) for i, each in enumerate(data)]
        case TupleOf(items):
            if not isinstance(data, list | tuple) or len(data) != len(items):
                raise _wrong(path, f"a list of {len(items)}", data)
            return tuple(
                _convert(each, item, table, f"{path}[{i}]", depth + 1)
                for i, (each, item) in enumerate(zip(data, items, strict=True))
            )
        case MapOf(key, item):
            if not isinstance(data, Mapping):
                raise _wrong(path, "an object", data)
            keyed: dict[str, Value] = {}
            for name, each in data.items():
                text = _convert(name, key, table, path, depth)
                assert isinstance(text, str), "keys of a map are texts"
                keyed[text] = _convert(each, item, table, f"{path}[{json_text(str(name))}]", depth + 1)
            return keyed
        case Applied(name) | Named(name):
            return _convert_named(data, name, table, path, depth)
        case _:
            assert_never(type)


def decimal_of_text(text: str, path: str) -> Decimal:
    """A decimal that was written as a text because a number there would not hold all its digits. Raises
    MemberError."""
    if len(text) > MAX_DECIMAL_TEXT or not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        raise _wrong(path, "a number", text)
    return Decimal(text)


def _convert_named(data: Value, name: str, table: TypeTable, path: str, depth: int) -> Value:
    declared = declared_type(name, table)
    match declared:
        case AliasType():
            return _convert(data, declared.type, table, path, depth)
        case EnumType():
            if isinstance(data, EnumValue):
                return data
            if not isinstance(data, str):
                raise _wrong(path, f"a member of {name}", data)
            if data not in declared.members:
                raise _unknown(path, f"member of {name}", data, declared.members)
            return EnumValue(name, data)
        case RecordType():
            if isinstance(data, RecordValue):
                return data
            return RecordValue(name, _convert_fields(data, declared, (), table, path, depth))
        case UnionType():
            if isinstance(data, RecordValue):
                return data
            if not isinstance(data, Mapping):
                raise _wrong(path, f"an object of {name}", data)
            tag = data.get(TAG)
            if not isinstance(tag, str):
                raise MemberError(path, f"the key {json_text(TAG)} must name the variant of {name}")
            variant = declared.variant(tag)
            if variant is not None:
                return RecordValue(name, _convert_fields(data, variant, (TAG,), table, path, depth), tag)
            raise _unknown(path, f"variant of {name}", tag, [variant.name for variant in declared.variants])
        case _:
            assert_never(declared)


def _convert_fields(
    data: Value, record: RecordType, besides: tuple[str, ...], table: TypeTable, path: str, depth: int
) -> dict[str, Value]:
    if not isinstance(data, Mapping):
        raise _wrong(path, f"an object of {record.name}", data)
    names = [field.name for field in record.fields]
    for key in data:
        if key not in names and key not in besides:
            raise _unknown(path, f"field of {record.name}", str(key), names)
    values: dict[str, Value] = {}
    for field in record.fields:
        here = f"{path}.{field.name}" if path else field.name
        if field.name not in data:
            if not (field.optional or field.has_default):
                raise MemberError(here, "the field is missing")
            values[field.name] = field.default if field.has_default else None
        elif data[field.name] is None and field.optional:
            values[field.name] = None
        else:
            values[field.name] = _convert(data[field.name], field.type, table, here, depth + 1)
    return values


def _convert_arm(data: Value, arms: tuple[Type, ...], table: TypeTable, path: str, depth: int) -> Value:
    faults = []
    for arm in arms:
        try:
            value = _convert(data, arm, table, path, depth)
            check_member(value, arm, table, path)
            return value
        except MemberError as fault:
            faults.append(fault)
    raise _best_fault(faults, data, path)


def _best_fault(faults: list[MemberError], data: Value, path: str) -> MemberError:
    """The fault that lies deepest, if only one does; else that no arm fits."""
    deepest = max((len(fault.path) for fault in faults), default=0)
    deep = [fault for fault in faults if len(fault.path) == deepest]
    if len(deep) == 1 and (deepest > len(path) or len(faults) == 1):
        return deep[0]
    wants = list(dict.fromkeys(f.reason.split(", found")[0].removeprefix("expected ") for f in deep))
    return MemberError(path, f"expected {' or '.join(wants)}, found {describe(data)}")


# --- out ----------------------------------------------------------------------------------------------------


def to_json(value: object, type: Type, table: TypeTable) -> object:
    """Plain data: dicts, lists, text, numbers (decimals as Decimal), booleans, None."""
    match type:
        case InForm(item):
            return to_json(value, item, table)
        case Optional(item):
            return None if value is None else to_json(value, item, table)
        case Alternatives():
            return to_json(value, arm_of(value, type, table), table)
        case ListOf(item):
            return [to_json(each, item, table) for each in value] if isinstance(value, list) else value
        case TupleOf(items):
            if not isinstance(value, tuple):
                return value
            return [to_json(each, item, table) for each, item in zip(value, items, strict=True)]
        case MapOf(_, item):
            if not isinstance(value, Mapping):
                return value
            return {str(key): to_json(each, item, table) for key, each in value.items()}
        case Applied(name):
            return to_json(value, Named(name), table)
        case Named(name):
            declared = declared_type(name, table)
            if isinstance(declared, AliasType):
                return to_json(value, declared.type, table)
            if isinstance(value, EnumValue):
                return value.name
            if isinstance(value, RecordValue) and is_kind(value, type, table):
                assert isinstance(declared, RecordType | UnionType)
                return _fields_out(value, declared, table)
            return value
        case _:
            return value


def _fields_out(value: RecordValue, declared: RecordType | UnionType, table: TypeTable) -> dict[str, object]:
    out: dict[str, object] = {}
    if isinstance(declared, UnionType):
        out[TAG] = value.variant
        record = declared.variant(value.variant)
        assert record is not None, "the value is of this kind"
    else:
        record = declared
    for field in record.fields:
        item = value.fields.get(field.name)
        if item is not None or not field.optional:
            out[field.name] = to_json(item, field.type, table)
    return out


def dumps(value: Value, type: Type, table: TypeTable, *, indent: int | None = None) -> str:
    """JSON text with exact decimals: the canonical spelling, or one item a line if `indent` is given."""
    if indent is None:
        return print_value(value, type, table, surface="json")
    return write_json(to_json(value, type, table), indent)


def write_json(data: object, indent: int | None = None) -> str:
    """Plain data, decimals exact: one item a line, or all on one line if `indent` is None. Halves of pairs of
    surrogates, which have no UTF-8, are escaped.

    Raises ValueError for numbers that are not finite.
    """
    return _encodable(_plain_text(data, indent, 0))


def _encodable(text: str) -> str:
    """JSON text with lone surrogates as escapes, which is how they came."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _plain_text(data: object, indent: int | None, level: int) -> str:
    if isinstance(data, str):
        return json_text(data)
    if isinstance(data, Decimal | float) or (isinstance(data, int) and not isinstance(data, bool)):
        return number_text(data)
    if isinstance(data, Mapping) and data:
        entries = [
            f"{json_text(str(key))}: {_plain_text(each, indent, level + 1)}" for key, each in data.items()
        ]
        return _block("{", entries, "}", indent, level)
    if isinstance(data, list | tuple) and data:
        return _block("[", [_plain_text(each, indent, level + 1) for each in data], "]", indent, level)
    return json.dumps(data, ensure_ascii=False)


def _block(left: str, entries: list[str], right: str, indent: int | None, level: int) -> str:
    if indent is None:
        return left + ", ".join(entries) + right
    pad = "\n" + " " * (indent * (level + 1))
    return left + pad + f",{pad}".join(entries) + "\n" + " " * (indent * level) + right
