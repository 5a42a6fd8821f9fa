"""Plain JSON values: the types `json` and `json schema`, their language, their reading and their spelling.

The spelling is that of `json.dumps(value, ensure_ascii=False)`. Numbers are the one thing that the mask lets
be written in several ways (`1.5`, `1.50`, `1.5e+00`): a number of digits alone is read as an integer, any
other as a decimal that keeps its digits, so that what is read prints as a number that the mask accepts too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Any

from sglc.automata.term import (
    Arm,
    Array,
    Bytes,
    Choice,
    Except,
    Family,
    Language,
    Nothing,
    Object,
    Property,
    Repeat,
    Rule,
    Sequence,
    Term,
    Text,
    UniqueKeys,
    Words,
)
from sglc.schema.compile import compile_schema
from sglc.schema.errors import SchemaFault
from sglc.schema.options import SchemaOptions
from sglc.types.json_text import json_text
from sglc.types.type import Json
from sglc.types.values import MAX_DEPTH, is_too_deep

OPTIONS = SchemaOptions(order="declared", spacing="canonical", spelling="canonical", distinct=True)
"""Properties in their order, one spelling, no key twice."""
TERMS = (Sequence, Choice, Repeat, UniqueKeys, Except, Rule, Array, Object, Bytes, Text, Words, Nothing)
INTEGER_DIGITS = 4000
"""Longer numbers are decimals, whatever they look like: Python converts no longer texts to integers."""


class SchemaTextError(ValueError):
    """A text that is no JSON Schema that can be used; `path` is a JSON pointer, empty if it is no JSON."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{reason} (at {path})" if path else reason)
        self.reason = reason
        self.path = path


def schema_text_of(source: str) -> str:
    """The one spelling of a schema's JSON text; properties stay in their order. Raises SchemaTextError."""
    return checked_schema_text(parse_schema(source))


def parse_schema(source: str) -> Any:
    """The parsed schema. Raises SchemaTextError for what is no JSON."""
    try:
        return json.loads(
            source, parse_float=_exact, parse_constant=_no_constant, object_pairs_hook=_distinct
        )
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno}"
        raise SchemaTextError(f"it is no JSON: {fault.msg} at {where}") from None
    except RecursionError:
        raise SchemaTextError("it is nested too deeply") from None
    except ValueError as fault:
        raise SchemaTextError(f"it is no JSON: {fault}") from None


def checked_schema_text(parsed: Any) -> str:
    """The text of a parsed schema that has a language. Raises SchemaTextError."""
    if is_too_deep(parsed):
        raise SchemaTextError(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        text = _dump(parsed)
    except ValueError as fault:
        raise SchemaTextError(f"it is no JSON: {fault}") from None
    schema_language(text)
    return text


def schema_data(text: str) -> Any:
    """The parsed schema; numbers with a point or an exponent are decimals."""
    return json.loads(text, parse_float=_exact)


def _exact(text: str) -> Decimal:
    return Decimal(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return found


def _dump(value: Any) -> str:
    """JSON without blanks, numbers exact."""
    match value:
        case dict():
            return "{" + ",".join(f"{json_text(key)}:{_dump(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_dump, value)) + "]"
        case Decimal():
            return str(value)
    return json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=256)
def schema_language(text: str) -> Language:
    """The JSON texts that satisfy a schema, of any value if the text is empty. Raises SchemaTextError."""
    return _compiled(text, OPTIONS)


@lru_cache(maxsize=64)
def schema_language_any_order(text: str) -> Language:
    """The same with the keys of objects in any order."""
    return _compiled(text, replace(OPTIONS, order="any"))


def _compiled(text: str, options: SchemaOptions) -> Language:
    try:
        return compile_schema(schema_data(text) if text else {}, options)
    except SchemaFault as fault:
        raise SchemaTextError(fault.reason, fault.path) from None
    except (ValueError, RecursionError) as fault:
        raise SchemaTextError(f"it is no JSON: {fault}") from None


@lru_cache(maxsize=256)
def schema_terms(text: str) -> tuple[Term, dict[str, Term]]:
    """Root and rules for use inside another language: rules are named after the schema."""
    found = schema_language(text)
    mark = f"json:{sha256(text.encode()).hexdigest()[:16]}:" if text else "json:"
    known: dict[int, Term] = {}
    rules = {mark + name: _renamed(term, mark, known) for name, term in found.rules.items()}
    return _renamed(found.root, mark, known), rules


def _renamed(root: Term, mark: str, known: dict[int, Term]) -> Term:
    """A term with its rules renamed. `known`: what was made of terms by identity; the caller holds them."""
    waiting = [root]
    while waiting:
        term = waiting[-1]
        parts = list(_terms_in(term))
        below = [part for part in parts if id(part) not in known]
        if below and id(term) not in known:
            waiting += below
            continue
        waiting.pop()
        if isinstance(term, Rule):
            known[id(term)] = Rule(mark + term.name)
        elif id(term) not in known:
            made = {f.name: _with_parts(getattr(term, f.name), known) for f in fields(term)} if parts else {}
            known[id(term)] = replace(term, **made) if made else term
    return known[id(root)]


def _terms_in(term: Term) -> Iterator[Term]:
    """The terms directly inside a term, those in arms, properties and families included."""
    waiting = [getattr(term, field.name) for field in fields(term)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, TERMS):
            yield part
        elif isinstance(part, tuple):
            waiting += part
        elif isinstance(part, Arm | Property | Family):
            waiting += [getattr(part, field.name) for field in fields(part)]


def _with_parts(value: Any, known: dict[int, Term]) -> Any:
    """A field of a term, with what was made of the terms in it."""
    if isinstance(value, tuple):
        return tuple(_with_parts(item, known) for item in value)
    if isinstance(value, Arm | Property | Family):
        return replace(value, **{f.name: _with_parts(getattr(value, f.name), known) for f in fields(value)})
    return known[id(value)] if isinstance(value, TERMS) else value


def is_self_ended(type: Json) -> bool:
    """Whether no text of the type is the beginning of another, by its outermost `type` alone."""
    if not type.schema:
        return False
    data = schema_data(type.schema)
    kinds = data.get("type") if isinstance(data, dict) else None
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return isinstance(kinds, list) and not {"number", "integer"}.intersection(map(str, kinds))


def number_of(text: str) -> int | Decimal:
    """The value of a JSON number."""
    if text.lstrip("-").isdigit() and len(text) <= INTEGER_DIGITS:
        return int(text)
    return Decimal(text)


def json_number_text(value: int | Decimal) -> str:
    """A number in a spelling that reads as the same kind of number: decimals have a point or an exponent."""
    if not isinstance(value, Decimal):
        return str(value)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"{value} is no JSON number")
    if exponent > 0:
        mantissa, _, power = str(value).partition("E")
        return f"{mantissa}e{power[0]}{power[1:]:0>2}"
    text = format(value, "f")
    return text if exponent else f"{text}.0" if len(text) <= INTEGER_DIGITS else text


def json_value_text(value: Any) -> str:
    """The canonical JSON text of a plain value. Raises ValueError for what is none."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return json_number_text(value)
        case str():
            return json_text(value)
        case Mapping():
            return (
                "{"
                + ", ".join(f"{json_text(key)}: {json_value_text(item)}" for key, item in value.items())
                + "}"
            )
        case list():
            return f"[{', '.join(map(json_value_text, value))}]"
    raise ValueError(f"{type(value).__name__} is no JSON value")


def plain_json(value: Any) -> Any:
    """The plain value that a value stands for: floats become decimals, tuples lists. Others stay."""
    match value:
        case float() if value - value == 0:
            return Decimal(repr(value))
        case list() | tuple():
            return [plain_json(item) for item in value]
        case Mapping():
            return {key: plain_json(item) for key, item in value.items()}
    return value


def type_name(value: Any) -> str:
    return getattr(value, "type", None) or getattr(value, "enum", None) or value.__class__.__name__
