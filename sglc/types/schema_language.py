"""The types `json` and `json schema`: schemas as they are read, and the language of their texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn

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
    Words,
)
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import SchemaFault
from sglc.schema.core.options import SchemaOptions
from sglc.types.json_text import json_text
from sglc.types.json_values import exact_decimal, schema_data
from sglc.types.values import MAX_DEPTH, is_too_deep

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject

OPTIONS = SchemaOptions(order="declared", spacing="canonical", spelling="canonical", distinct=True)
"""Properties in their order, one spelling, no key twice."""
TERMS = (Sequence, Choice, Repeat, Except, Rule, Array, Object, Bytes, Text, Words, Nothing)


class SchemaTextError(ValueError):
    """A text that is no JSON Schema that can be used; `path` is a JSON pointer, empty if it is no JSON."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{reason} (at {path})" if path else reason)
        self.reason = reason
        self.path = path


def schema_text_of(source: str) -> str:
    """The one spelling of a schema's JSON text; properties stay in their order. Raises SchemaTextError."""
    return checked_schema_text(parse_schema(source))


def parse_schema(source: str) -> JsonData:
    """The parsed schema. Raises SchemaTextError for what is no JSON."""
    try:
        parsed: JsonData = json.loads(
            source, parse_float=exact_decimal, parse_constant=_no_constant, object_pairs_hook=_distinct
        )
        return parsed
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno}"
        raise SchemaTextError(f"it is no JSON: {fault.msg} at {where}") from None
    except RecursionError:
        raise SchemaTextError("it is nested too deeply") from None
    except ValueError as fault:
        raise SchemaTextError(f"it is no JSON: {fault}") from None


def checked_schema_text(parsed: JsonData) -> str:
    """The text of a parsed schema that has a language. Raises SchemaTextError."""
    if is_too_deep(parsed):
        raise SchemaTextError(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        text = _dump(parsed)
    except ValueError as fault:
        raise SchemaTextError(f"it is no JSON: {fault}") from None
    schema_language(text)
    return text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _distinct(pairs: list[tuple[str, JsonData]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return found


def _dump(value: JsonData) -> str:
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


def _with_parts(value: object, known: dict[int, Term]) -> Any:
    """A field of a term, with what was made of the terms in it."""
    if isinstance(value, tuple):
        return tuple(_with_parts(item, known) for item in value)
    if isinstance(value, Arm | Property | Family):
        return replace(value, **{f.name: _with_parts(getattr(value, f.name), known) for f in fields(value)})
    return known[id(value)] if isinstance(value, TERMS) else value
