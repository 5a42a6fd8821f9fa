"""Values, types and the small classes of programs as JSON, exactly and in one spelling.

Scalars stand for themselves; everything else is a list whose first item is a tag: `["d", "1.50"]` a decimal,
`["f", "0x1.8p+0"]` a float, `["l", …]` a list, `["t", …]` a tuple, `["m", k, v, …]` a map,
`["e", enum, name]`, `["r", type, variant, name, value, …]`, and `["Str", …]` a class of the closed list below
with all of its fields in order. Reading trusts nothing: every field is checked against its annotation.
"""

from __future__ import annotations

import types as python_types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from sglc.bytecode.code import Code, ErrorSpec, HoleSpec, ParameterSpec, Prefix, PrefixMessage, RetryPoint
from sglc.callables.extern_spec import ExternSpec
from sglc.types import condition
from sglc.types import type as t
from sglc.types.decoding import Decoding
from sglc.types.model_use import ModelUse, ModelView
from sglc.types.values import MAX_DEPTH, EnumValue, RecordValue, Value

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData

MAX_NESTING = MAX_DEPTH + 10
"""Deepest nesting of values and types in an artefact: as deep as both may be, and what is around them."""
MAX_DIGITS = 4000
"""Most digits of one number."""

_CLASSES: tuple[type, ...] = (
    t.Str,
    t.Int,
    t.Dec,
    t.Float,
    t.Bool,
    t.Null,
    t.Constant,
    t.ListOf,
    t.MapOf,
    t.TupleOf,
    t.Optional,
    t.Alternatives,
    t.Named,
    t.OneOf,
    t.SpanOf,
    t.Applied,
    t.Json,
    t.InForm,
    t.FieldType,
    t.RecordType,
    t.EnumType,
    t.UnionType,
    t.AliasType,
    t.Predicate,
    t.Source,
    t.OpenType,
    ParameterSpec,
    HoleSpec,
    ErrorSpec,
    PrefixMessage,
    Prefix,
    RetryPoint,
    Decoding,
    ModelUse,
    ModelView,
    ExternSpec,
    *condition.CLASSES,
)
CLASSES: dict[str, type] = {cls.__name__: cls for cls in _CLASSES}
TYPES = (
    t.Str,
    t.Int,
    t.Dec,
    t.Float,
    t.Bool,
    t.Null,
    t.Constant,
    t.ListOf,
    t.MapOf,
    t.TupleOf,
    t.Optional,
    t.Alternatives,
    t.Named,
    t.OneOf,
    t.SpanOf,
    t.Applied,
    t.Json,
    t.InForm,
)


class EncodingError(Exception):
    """What was read is no program. Carries a sentence."""


def encode(value: object) -> JsonData:
    """A value, type or small class as JSON data."""
    if value is None or isinstance(value, bool | int | str):
        return value
    match value:
        case float():
            return ["f", value.hex()]
        case Decimal():
            return ["d", str(value)]
        case list():
            return ["l", *map(encode, value)]
        case tuple():
            return ["t", *map(encode, value)]
        case EnumValue(enum=enum, name=name):
            return ["e", enum, name]
        case RecordValue(type=type_, fields=parts, variant=variant):
            return ["r", type_, variant, *(x for k, v in parts.items() for x in (k, encode(v)))]
        case Mapping():
            return ["m", *(encode(x) for k, v in value.items() for x in (k, v))]
    if type(value).__name__ not in CLASSES or not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} has no encoding")
    return [type(value).__name__, *(encode(getattr(value, f.name)) for f in fields(value))]


def decode(
    data: JsonData, depth: int = 0, classes: Mapping[str, type] = CLASSES, is_field: bool = False
) -> Any:
    """The value that JSON data stands for, types and such only of `classes`; raises EncodingError.

    A tuple that is the field of a type (`is_field`) is no level of its own.
    """
    if data is None or isinstance(data, bool | str):
        return data
    if isinstance(data, int):
        return data
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise EncodingError("a value without a tag")
    if depth > MAX_NESTING:
        raise EncodingError("values are nested too deeply")
    tag, *rest = data
    match tag:
        case "f":
            return _float(rest)
        case "d":
            return _decimal(rest)
        case "l":
            return [decode(item, depth + 1, classes) for item in rest]
        case "t":
            return tuple(decode(item, depth + (not is_field), classes) for item in rest)
        case "e":
            if len(rest) != 2 or not all(isinstance(part, str) for part in rest):
                raise EncodingError("an enum member is two names")
            return EnumValue(rest[0], rest[1])
        case "m":
            items = [decode(item, depth + 1, classes) for item in rest]
            if len(items) % 2 or not all(isinstance(key, str) for key in items[::2]):
                raise EncodingError("a map is keys and values")
            return dict(zip(items[::2], items[1::2], strict=True))
        case "r":
            return _record(rest, depth)
    cls = classes.get(tag)
    if cls is None:
        raise EncodingError(f"unknown tag {tag[:40]!r}")
    kinds = _kinds(cls)
    if len(rest) != len(kinds):
        raise EncodingError(f"{tag} has {len(kinds)} fields")
    values = [
        decode(item, depth + 1, {} if kind is Value else CLASSES, True)
        for item, (_, kind) in zip(rest, kinds, strict=True)
    ]
    for value, (name, kind) in zip(values, kinds, strict=True):
        if not _is(value, kind):
            raise EncodingError(f"field {name} of {tag} is of another kind")
    return cls(*values)


def _float(rest: Sequence[JsonData]) -> float:
    if len(rest) != 1 or not isinstance(rest[0], str):
        raise EncodingError("no float")
    try:
        number = float.fromhex(rest[0])
    except (ValueError, OverflowError):
        raise EncodingError("no float") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise EncodingError("no finite float")
    return number


def _decimal(rest: Sequence[JsonData]) -> Decimal:
    if len(rest) != 1 or not isinstance(rest[0], str) or len(rest[0]) > MAX_DIGITS:
        raise EncodingError("no decimal")
    try:
        number = Decimal(rest[0])
    except InvalidOperation:
        raise EncodingError("no decimal") from None
    if not number.is_finite() or abs(number.adjusted()) > MAX_DIGITS:
        raise EncodingError("no finite decimal of sensible size")
    return number


def _record(rest: Sequence[JsonData], depth: int) -> RecordValue:
    if len(rest) < 2 or len(rest) % 2 or not isinstance(rest[0], str):
        raise EncodingError("a record has a type, a variant and fields")
    if rest[1] is not None and not isinstance(rest[1], str):
        raise EncodingError("a variant is a name")
    names = [name for name in rest[2::2] if isinstance(name, str)]
    if 2 * len(names) != len(rest) - 2 or len(set(names)) != len(names):
        raise EncodingError("fields of a record are names, each once")
    values = [decode(item, depth + 1, {}) for item in rest[3::2]]
    return RecordValue(rest[0], dict(zip(names, values, strict=True)), rest[1])


_KINDS: dict[type, tuple[tuple[str, object], ...]] = {}


def _kinds(cls: type) -> tuple[tuple[str, object], ...]:
    """Field names and resolved annotations of a class; `Value` stands for itself, because it is recursive."""
    kinds = _KINDS.get(cls)
    if kinds is None:
        hints = get_type_hints(cls, localns={"Condition": condition.Condition})
        kinds = _KINDS[cls] = tuple(
            (f.name, Value if f.type == "Value" else hints[f.name]) for f in fields(cls)
        )
    return kinds


def _is(value: object, kind: object) -> bool:
    """Whether what was decoded is of an annotation of this package: unions, tuples, literals, classes."""
    if kind is Value:
        return True  # it was decoded without any class
    origin = get_origin(kind)
    if origin in (Union, python_types.UnionType):
        return any(_is(value, arm) for arm in get_args(kind))
    if origin is tuple:
        item, *more = get_args(kind)
        if more != [...]:
            raise TypeError(f"{kind} is not used in artefacts")
        return isinstance(value, tuple) and all(_is(each, item) for each in value)
    if origin is frozenset:
        return False  # values that a run puts into a type are in no artefact
    if origin is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if origin in (list, dict):
        return isinstance(value, origin)
    if kind is None or kind is type(None):
        return value is None
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(kind, type) and isinstance(value, kind)


class CodeHead(NamedTuple):
    """The plain fields of a code object, in the order of its encoding."""

    name: str
    kind: str
    parameters: tuple[ParameterSpec, ...]
    result: int | None
    slots: tuple[str, ...]
    retries: tuple[RetryPoint, ...]
    within: int | None
    public: bool
    doc: str
    raises: tuple[str, ...]
    fork_slot: int
    stack_depth: int
    tags: tuple[str, ...]
    copy_of: str
    extern: ExternSpec | None


_HEAD_KINDS = get_type_hints(CodeHead)
_CODE_KINDS = ("fn", "part", "pure", "extern", "fork", "test")


def encode_head(code: Code) -> list[JsonData]:
    """The plain fields of a code object as JSON data, in the order of `CodeHead`."""
    return [encode(getattr(code, name)) for name in CodeHead._fields]


def decode_head(data: JsonData) -> CodeHead:
    """The plain fields of a code object; raises EncodingError."""
    if not isinstance(data, list) or len(data) != len(CodeHead._fields):
        raise EncodingError("a function is described by other fields")
    head = CodeHead(*[decode(item, 1) for item in data])
    for name, value in zip(CodeHead._fields, head, strict=True):
        if not _is(value, _HEAD_KINDS[name]):
            raise EncodingError(f"field {name} of a function is of another kind")
    if head.kind not in _CODE_KINDS:
        raise EncodingError("a function of an unknown kind")
    return head
